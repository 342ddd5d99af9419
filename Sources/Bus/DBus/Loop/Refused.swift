import Glibc
import Linux

/// Ends the process where the kernel refuses what no loop does without.
///
/// A program that can't start ends with one line and status 1; a trap would say nothing in a
/// release build.
func endWithout(_ error: SystemError) -> Never {
    let line = Array("\(error)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    // Other threads may be at work in what libraries tidy up at exit.
    quick_exit(EXIT_FAILURE)
}

/// The same with the number of the error.
func endWithout(_ thing: String, _ number: Int32) -> Never {
    endWithout(SystemError(errno: number, "The kernel refuses \(thing)", path: "event loop"))
}
