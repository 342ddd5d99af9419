import Foundation
import TestSupport
import Testing

/// A TPM 2.0 of a test's own, emulated by swtpm, which ends with the object.
final class SoftwareTPM: Sendable {
    private let folder: Folder

    /// Starts a new TPM with its own keys.
    init() throws {
        folder = try Folder()
        try start()
    }

    deinit { stop() }

    /// The TPM's device argument for systemd-creds.
    var device: String { "swtpm:path=" + folder.path + "/tpm" }

    /// Restarts the TPM, which clears its memory but keeps its keys.
    ///
    /// Each run of systemd leaves a session open, and a TPM has room for three. On real hardware
    /// the kernel closes these sessions.
    func powerCycle() throws {
        stop()
        try start()
    }

    /// Starts swtpm, which listens as soon as its first process has exited.
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
        // Send TPM2_Shutdown(CLEAR) as the kernel does. A TPM that loses power instead suspects an
        // attack, and locks after the third time.
        ask(socket, [0x80, 0x01, 0, 0, 0, 12, 0, 0, 1, 0x45, 0, 0], answer: 10)
        // Send CMD_SHUTDOWN of swtpm_ioctl. The process still holds its lock when it answers.
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

    /// Whether tests can use the TPM; always in CI, so that a missing TPM fails there.
    static var isReady: Bool { missing.isEmpty || isCI }

    /// The reason for skipping tests.
    static let reason: Comment = "no \(missing.joined(separator: ", ")): make setup gets them"
}
