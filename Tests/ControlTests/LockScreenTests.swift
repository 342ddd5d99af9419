import TestSupport
import Testing

/// Tests `localauthctl lock-screens` on service files in a folder.
struct LockScreenTests {
    private let folder: TemporaryFolder

    /// The service of GDM in Debian 12, shortened.
    private static let gdm = """
        #%PAM-1.0
        auth requisite pam_nologin.so
        auth\trequired\tpam_fprintd.so max-tries=1
        auth optional pam_gnome_keyring.so
        @include common-account

        """

    init() throws {
        folder = try TemporaryFolder()
        try TemporaryFolder.write(folder.path + "/gdm-fingerprint", Self.gdm.utf8)
    }

    private func run(_ verb: String) throws -> ChildProcess.Ended {
        try ChildProcess.run([
            "localauthctl", "lock-screens", verb, "--pam-directory", folder.path,
        ])
    }

    private func text(_ service: String = "gdm-fingerprint") throws -> String {
        let bytes = try TemporaryFolder.read("\(folder.path)/\(service)")
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Enabling replaces pam_fprintd, and disabling restores the file to the byte")
    func roundTrip() throws {
        #expect(try run("status").output.contains("off"))
        for _ in 1...2 {
            #expect(try run("enable").status == 0)
            let lines = try text().split(separator: "\n")
            #expect(lines.contains("auth\trequired\tpam_localauth.so biometry-only"))
            #expect(!lines.contains { $0.hasPrefix("auth") && $0.contains("pam_fprintd") })
            #expect(try !run("status").output.contains("off"))
        }
        #expect(try run("disable").status == 0)
        #expect(try text() == Self.gdm)
    }

    @Test("KDE's lock screen runs as its user, and asks the module once")
    func kde() throws {
        try TemporaryFolder.write(folder.path + "/kde-fingerprint", Self.gdm.utf8)
        #expect(try run("enable").status == 0)
        let line = "auth\trequired\tpam_localauth.so biometry-only lock-screen timeout=120 wait=10"
        #expect(try text("kde-fingerprint").split(separator: "\n").contains(Substring(line)))
        #expect(try run("disable").status == 0)
        #expect(try text("kde-fingerprint") == Self.gdm)
    }

    @Test("A service without pam_fprintd stays as it is, with a sentence")
    func foreign() throws {
        let own = "auth required pam_u2f.so\n"
        try TemporaryFolder.write(folder.path + "/gdm-fingerprint", own.utf8)
        let ended = try run("enable")
        #expect(ended.status == 1)
        #expect(ended.errors.contains("has no line of pam_fprintd to replace"))
        #expect(try text() == own)
    }
}
