import Foundation
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
}
