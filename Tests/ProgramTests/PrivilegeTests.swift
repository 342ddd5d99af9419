import Foundation
import Glibc
import TestSupport
import Testing

/// What an installation gives to whoever starts its programs.
@Suite("Privileges of what is installed", .timeLimit(.minutes(10)))
struct PrivilegeTests {
    @Test("Nothing that is installed gives its user rights, or can be written by others")
    func modes() async throws {
        let site = try await Installation("install", "install-simulated")
        let files = try site.files()
        #expect(files.count > 40)
        for file in files {
            let attributes = try FileManager.default
                .attributesOfItem(atPath: "\(site.folder)/\(file)")
            let mode = try #require(attributes[.posixPermissions] as? Int)
            // Set-user, set-group, and writing by the group and others.
            #expect(mode & 0o6022 == 0, "\(file)")
        }
    }

    private static func owner(of path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_uid : nil
    }

    @Test(
        "Other programs of the installed service's own user don't look into its memory",
        .enabled(if: geteuid() == 0, "needs the service's user")
    )
    func memory() async throws {
        let system = try await InstalledSystem()
        let user = try system.uid("localauth")
        let daemon = try await system.startDaemon()
        let other = try system.start(as: "localauth", ["/bin/sleep", "600"])
        // What the kernel keeps from a process's own user, it calls root's.
        for (process, owner) in [(daemon, UInt32(0)), (other, user)] {
            try await eventually("the process to be its user's") {
                Self.owner(of: "/proc/\(process.pid)") == user
            }
            try await eventually("the memory to be \(owner)'s") {
                Self.owner(of: "/proc/\(process.pid)/mem") == owner
            }
        }
    }
}
