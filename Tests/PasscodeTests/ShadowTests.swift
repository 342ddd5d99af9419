import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// The real verifier, with a shadow file of the test.
@Suite("Shadow file", .timeLimit(.minutes(10)))
struct ShadowTests {
    init() { EventLoop.shared.startThread() }

    /// Whether the kernel allows mounts over the system's files.
    static let isPossible: Bool = {
        let words = ["/usr/bin/unshare", "-m", "/bin/mount", "--bind", "/etc", "/etc"]
        guard getuid() == 0 else { return false }
        return (try? ChildProcess.run(words))?.status == 0
    }()

    private static let hash = "$y$j9T$abcdefghijklmnop$0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"

    static func line(_ field: String) -> String.UTF8View {
        "root:\(field):19000:0:99999:7:::\n".utf8
    }

    /// Overwrites the existing file.
    private static func set(_ field: String, in file: String) throws {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let bytes = Array(line(field))
        try #require(write(descriptor, bytes, bytes.count) == bytes.count)
    }

    /// Replaces the file, like `passwd`.
    private static func replace(_ file: String, _ field: String) throws {
        try TemporaryFolder.write(file + ".new", line(field), mode: 0o600)
        try #require(rename(file + ".new", file) == 0)
    }

    /// Returns a command prefix that mounts the test's file over the system's.
    static func entering(_ own: String, as path: String) -> [String] {
        let script = "mount --bind \"$0\" \(path) && exec \"$@\""
        return ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, own]
    }

    /// Records the verifier's Changed signals from this call on.
    @BusActor private static func changes(
        _ bench: PasscodeBench
    ) async throws -> EventRecorder<UInt32> {
        let changes = EventRecorder<UInt32>()
        _ = bench.verifier.onChanged { changes.record($0) }
        // The bus handles the match rule before this later call.
        #expect(try await bench.verifier.isSet(uid: bench.user))
        return changes
    }

    @BusActor private static func expect(
        _ isSet: Bool,
        _ changes: EventRecorder<UInt32>,
        _ bench: PasscodeBench
    ) async throws {
        _ = try await changes.first("a word of the change") { $0 == .max || $0 == bench.user }
        #expect(try await bench.verifier.isSet(uid: bench.user) == isSet)
        changes.forget()
    }

    @Test(
        "L11b: The verifier reports an added or removed password, even with a replaced file",
        .enabled(if: isPossible, "needs a mount namespace")
    )
    func replaced() async throws {
        try await PasscodeBench.inside(service: "localauth-unix") { folder in
            let etc = folder + "/etc"
            mkdir(etc, 0o755)
            for file in ["passwd", "group", "nsswitch.conf", "ld.so.cache"] {
                try TemporaryFolder.write("\(etc)/\(file)", TemporaryFolder.read("/etc/\(file)"))
            }
            try Self.set(Self.hash, in: etc + "/shadow")
            return Self.entering(etc, as: "/etc")
        } _: { bench in
            let changes = try await Self.changes(bench)
            let shadow = bench.bus.folder + "/etc/shadow"
            for _ in 0..<2 {
                try Self.replace(shadow, "")
                try await Self.expect(false, changes, bench)
                try Self.replace(shadow, Self.hash)
                try await Self.expect(true, changes, bench)
            }
            try Self.set("!" + Self.hash, in: shadow)
            try await Self.expect(false, changes, bench)
        }
    }

    @Test(
        "The administrator's option never counts as removing a password",
        .enabled(if: isPossible, "needs a mount namespace"),
        arguments: [("auto", true), ("always", false), ("never", false)]
    )
    func removed(setting: String, isRemoved: Bool) async throws {
        try await PasscodeBench.inside(service: "localauth-unix") { folder in
            try Self.set("", in: folder + "/shadow")
            let option = ["/bin/sh", "-c", "exec \"$0\" \"$@\" --passcode-set \(setting)"]
            return Self.entering(folder + "/shadow", as: "/etc/shadow") + option
        } _: { bench in
            let answer = try await bench.verifier.isRemoved(uid: bench.user)
            #expect(answer == isRemoved)
        }
    }

    @Test(
        "L11b: The verifier reports changes of a bind-mounted shadow file",
        .enabled(if: isPossible, "needs a mount namespace")
    )
    func bound() async throws {
        try await PasscodeBench.inside(service: "localauth-unix") { folder in
            try Self.set(Self.hash, in: folder + "/shadow")
            return Self.entering(folder + "/shadow", as: "/etc/shadow")
        } _: { bench in
            let changes = try await Self.changes(bench)
            let shadow = bench.bus.folder + "/shadow"
            for field in ["", Self.hash, "*", Self.hash] {
                try Self.set(field, in: shadow)
                try await Self.expect(field == Self.hash, changes, bench)
            }
        }
    }
}
