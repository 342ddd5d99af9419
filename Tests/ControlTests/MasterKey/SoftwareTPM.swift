import Foundation
import TestSupport
import Testing

/// A TPM 2.0 of a test's own, by swtpm, which goes with the object.
final class SoftwareTPM: Sendable {
    private let folder: Folder

    /// A new TPM, which has keys of its own.
    init() throws {
        folder = try Folder()
        try start()
    }

    deinit { stop() }

    /// What systemd-creds takes for it.
    var device: String { "swtpm:path=" + folder.path + "/tpm" }

    /// Switches it off and on: what it keeps in its memory is gone, its keys are not.
    ///
    /// systemd leaves a session behind in every run, which the kernel would tidy up; the TPM itself
    /// has room for three.
    func powerCycle() throws {
        stop()
        try start()
    }

    /// Starts it; once its first process has ended it listens.
    private func start() throws {
        let socket = folder.path + "/tpm"
        unlink(socket)
        unlink(socket + ".ctrl")
        let swtpm = try ChildProcess([
            "/usr/bin/swtpm",
            "socket", "--tpm2", "--daemon", "--tpmstate", "dir=" + folder.path, "--server",
            "type=unixio,path=" + socket, "--ctrl", "type=unixio,path=\(socket).ctrl",
            "--flags", "not-need-init,startup-clear",
        ]
        )
        try #require(try swtpm.wait() == 0)
    }

    private func stop() {
        let socket = folder.path + "/tpm"
        // TPM2_Shutdown(CLEAR), as the kernel does: a TPM that loses power instead suspects an
        // attack, and locks itself after the third time.
        ask(socket, [0x80, 0x01, 0, 0, 0, 12, 0, 0, 1, 0x45, 0, 0], answer: 10)
        // CMD_SHUTDOWN of swtpm_ioctl. The process still has its lock when it answers.
        ask(socket + ".ctrl", [0, 0, 0, 3], answer: 4)
        let file = open(folder.path + "/.lock", O_RDWR | O_CLOEXEC)
        defer { close(file) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        _ = fcntl(file, F_SETLKW, &lock)
    }

    private func ask(_ path: String, _ words: [UInt8], answer count: Int) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, size) == 0
            }
        }
        guard isConnected,
            send(descriptor, words, words.count, Int32(MSG_NOSIGNAL)) == words.count
        else { return }
        var answer = [UInt8](repeating: 0, count: count)
        _ = recv(descriptor, &answer, count, Int32(MSG_WAITALL))
    }

    // MARK: Whether there can be one

    static let isCI = ProcessInfo.processInfo.environment["CI"] == "true"

    static let missing: [String] = {
        let programs: [String] = ["/usr/bin/swtpm", "/usr/bin/systemd-creds"]
        let libraries: [String] = [
            "libtss2-esys.so.0", "libtss2-mu.so.0", "libtss2-rc.so.0", "libtss2-tcti-swtpm.so.0",
        ]
        return programs.filter { !FileManager.default.isExecutableFile(atPath: $0) }
            + libraries.filter { dlopen($0, RTLD_LAZY) == nil }
    }()

    /// Whether tests that need it can run; in CI they have to.
    static var isReady: Bool { missing.isEmpty || isCI }

    /// Why tests are left out.
    static let reason: Comment = "no \(missing.joined(separator: ", ")): make setup gets them"
}
