import Glibc
import TestSupport
import Testing

/// The folder in which a program without root looks for its state.
struct StatePathTests {
    private static let nowhere = "/nowhere"

    /// Returns the complaint of `localauthctl` about a missing state directory.
    private static func said(_ environment: [String: String]) throws -> String {
        let somebody = ["/usr/bin/setpriv", "--reuid=5", "--regid=5", "--clear-groups"]
        let words = [
            ChildProcess.folder + "/localauthctl", "keychain", "export-recovery-key",
        ]
        let ended = try ChildProcess.run(
            (getuid() == 0 ? somebody : []) + words,
            environment: environment.merging(["LC_ALL": "C.UTF-8", "HOME": nowhere]) { $1 }
        )
        return ended.errors
    }

    @Test("State is in the environment's folder, else in the home; relative paths are ignored")
    func folders() throws {
        let home = Self.nowhere + "/.local/state/localauth"
        for (value, folder) in [("/else", "/else/localauth"), ("else", home), ("", home)] {
            let said = try Self.said(["XDG_STATE_HOME": value])
            #expect(said.contains("There is no state directory \(folder)."), "\(said)")
        }
        let said = try Self.said(["XDG_STATE_HOME": "/else", "STATE_DIRECTORY": "/first:/second"])
        #expect(said.contains("There is no state directory /first."), "\(said)")
    }
}
