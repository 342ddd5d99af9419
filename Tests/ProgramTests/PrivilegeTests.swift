import Foundation
import Glibc
import TestSupport
import Testing

/// Privileges that an installation gives to users of its programs.
@Suite("Privileges of installed files", .timeLimit(.minutes(10)))
struct PrivilegeTests {
    @Test("No installed file is set-user-id, set-group-id, or writable by others")
    func modes() async throws {
        let site = try await Installation("install", "install-simulated")
        let files = try site.files()
        #expect(files.count > 40)
        for file in files {
            let attributes = try FileManager.default
                .attributesOfItem(atPath: "\(site.folder)/\(file)")
            let mode = try #require(attributes[.posixPermissions] as? Int)
            // Set-user-id, set-group-id, and write access for group and others.
            #expect(mode & 0o6022 == 0, "\(file)")
        }
    }

    private static func owner(of path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_uid : nil
    }

    @Test(
        "Other programs of the service's user can't read its memory",
        .enabled(if: geteuid() == 0, "needs the service's user")
    )
    func memory() async throws {
        let system = try await InstalledSystem()
        let user = try system.uid("localauth")
        let daemon = try await system.startDaemon()
        let other = try system.start(as: "localauth", ["/bin/sleep", "600"])
        // The kernel assigns protected files of a process to root.
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
