import Glibc
import Linux

/// Ends the process when the kernel refuses a resource without which no loop works.
///
/// Prints one line and exits with status 1, because a trap prints no message in a release build.
func exitForLackOf(_ error: SystemError) -> Never {
    let line = Array("\(error)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    // Other threads may still use libraries whose exit handlers would run.
    quick_exit(EXIT_FAILURE)
}

/// Ends the process with the number of the error, as ``exitForLackOf(_:)``.
func exitForLackOf(_ thing: String, _ number: Int32) -> Never {
    exitForLackOf(SystemError(errno: number, "The kernel refuses \(thing)", path: "event loop"))
}
