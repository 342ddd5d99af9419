import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// `passwd -l` and `passwd -d`, as the real verifier sees them in the test's shadow file.
@Suite("Locked accounts", .timeLimit(.minutes(10)))
struct LockedAccountTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    /// Whether the kernel lets the test mount its own shadow file.
    static let isPossible: Bool = {
        let words = [
            "/usr/bin/unshare", "-m", "/bin/mount", "--bind", "/etc/passwd", "/etc/shadow",
        ]
        guard getuid() == 0 else { return false }
        return (try? ChildProcess.run(words))?.status == 0
    }()

    /// Writes a password field for root, who runs the test.
    private static func set(_ field: String, in file: String) throws {
        // In place, because this file is mounted over the system's file.
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let line = "root:\(field):19000:0:99999:7:::\n"
        try #require(write(descriptor, line, line.utf8.count) == line.utf8.count)
    }

    @Test(
        "R69: passwd -l hides items that need a password, -u shows them, -d deletes them",
        .enabled(if: isPossible, "needs a mount namespace")
    )
    @BusActor
    func locking() async throws {
        let hash = "$y$j9T$abcdefghijklmnop$0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
        let bus = try PrivateBus()
        let shadow = bus.folder + "/shadow"
        try Self.set(hash, in: shadow)
        let script = "mount --bind \"$0\" /etc/shadow && exec \"$@\""
        let enter = ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, shadow]
        try bus.start(enter + [ChildProcess.folder + "/localauth-passcode"])
        try await bus.waitForOwner(of: ScriptedVerifier.name)
        let daemon = try await TestDaemon(on: bus)
        let keychain = daemon.keychain()
        let id = try await keychain.add(
            attributes: ["class": .string("genp"), "svce": .string("a")],
            secret: Array("secret".utf8),
            accessControl: ["accessible": .string("akpu")],
            options: [:]
        )
        let count = { () async throws -> Int in
            try await keychain.search(query: [:], options: [:]).count
        }
        #expect(try await count() == 1)
        for _ in 0..<2 {
            try Self.set("!" + hash, in: shadow)
            try await eventually("no passcode to be given") {
                try await daemon.manager.canEvaluate(policy: 2).code == -5
            }
            #expect(try await count() == 0)
            #expect(try await keychain.delete(ids: [id]) == 0)
            try Self.set(hash, in: shadow)
            #expect(try await count() == 1, "it was locked, not removed")
        }
        try Self.set("", in: shadow)
        #expect(try await count() == 0)
        try Self.set(hash, in: shadow)
        #expect(try await count() == 0, "it was removed")
    }
}
