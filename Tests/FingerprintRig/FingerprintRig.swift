public import DBus
import Glibc
public import TestSupport

/// Runs the real fprintd and libfprint with libfprint's virtual readers on a private bus.
///
/// The private bus replaces the system bus. The rig changes nothing on the machine, and needs no
/// privilege.
@BusActor public final class FingerprintRig {
    /// The bus that replaces the system bus.
    public let bus: PrivateBus
    /// Replaces polkit; nil if the test starts the real polkitd.
    package private(set) var polkit: StandInPolkit?
    package let logind: StandInLogind
    /// The readers, in the order of their names.
    public private(set) var readers: [VirtualReader]
    /// fprintd; nil before its start, and if the bus activates it.
    public private(set) var fprintd: ChildProcess?
    /// The folder of all files, removed with the rig.
    public let folder: String
    public let client: Connection
    /// The time until fprintd was on the bus.
    public private(set) var startTime = Duration.zero

    /// Debian's path of fprintd; other distributions use another.
    public nonisolated static let fprintdPath = "/usr/libexec/fprintd"
    static let fprintName = "net.reactivated.Fprint"

    /// Starts everything, and waits for fprintd unless it is activated.
    ///
    /// - Parameters:
    ///   - kinds: The readers.
    ///   - isActivated: Whether the bus starts fprintd on demand, which then exits when idle.
    ///   - polkit: Whether to replace polkit.
    /// - Throws: `TestFailure` if a program does not start.
    public init(
        _ kinds: [VirtualReader.Kind] = [.image],
        isActivated: Bool = false,
        polkit: Bool = true
    ) async throws {
        let begin = ContinuousClock.now
        bus = try PrivateBus()
        folder = bus.folder + "/rig"
        for path in [folder, folder + "/prints", folder + "/labels"] { mkdir(path, 0o700) }
        readers = kinds.map { [folder] kind in
            VirtualReader(kind, socket: "\(folder)/\(kind.rawValue)")
        }
        client = try bus.connect()
        try await bus.letForgedRepliesThrough()
        logind = try StandInLogind(bus)
        logind.replies = try RawClient(bus.address)
        try logind.start()
        if polkit { self.polkit = try StandInPolkit(on: bus.connect()) }
        try Self.writeAccounts(folder)
        if isActivated {
            try await allowActivation()
        } else if polkit {
            try await startDaemon()
        }
        startTime = ContinuousClock.now - begin
    }

    /// The value of `DBUS_SYSTEM_BUS_ADDRESS` for programs that use fprintd.
    public var address: String { bus.address }

    private var environment: [String] {
        let drivers = readers.map { "virtual_" + $0.kind.driver }.joined(separator: ":")
        return ["DBUS_SYSTEM_BUS_ADDRESS=\(address)", "STATE_DIRECTORY=\(folder)/prints"]
            + readers.map { "\($0.kind.variable)=\($0.socket)" }
            + ["FP_DRIVERS_WHITELIST=\(drivers)", "FP_DRIVERS_ALLOWLIST=\(drivers)", "LC_ALL=C"]
    }

    /// Starts an fprintd that does not exit when idle.
    public func startDaemon() async throws {
        fprintd = try run(["/usr/bin/env"] + environment + [Self.fprintdPath, "-t"])
        _ = try await bus.waitForOwner(of: Self.fprintName)
    }

    /// Lets the bus start fprintd on demand, and records each start.
    private func allowActivation() async throws {
        try writeStart()
        try await bus.offer(Self.fprintName, ["/bin/sh", folder + "/start"])
    }

    private func writeStart() throws {
        let words = (["/usr/bin/env"] + environment + [Self.fprintdPath]).joined(separator: " ")
        let script = "echo started >> \(folder)/starts\nexec \(words)\n"
        try TemporaryFolder.write(folder + "/start", script.utf8)
    }

    public var starts: Int {
        guard let bytes = try? TemporaryFolder.read(folder + "/starts") else { return 0 }
        return bytes.count { $0 == UInt8(ascii: "\n") }
    }

    /// Replaces the readers; the next fprintd that starts finds them.
    public func plugIn(_ kinds: [VirtualReader.Kind]) throws {
        readers = kinds.map { VirtualReader($0, socket: "\(folder)/\($0.rawValue)") }
        try writeStart()
    }

    /// Starts the real polkitd with a single rules file; needs root.
    ///
    /// This polkitd knows the user `uid` as `localauth-fingerprint`. The machine's own rules and
    /// accounts are unchanged.
    ///
    /// - Throws: `TestFailure` if a program does not start.
    public func startPolkit(rules: String, localauth uid: UInt32) async throws {
        let rulesFolder = folder + "/rules.d"
        mkdir(rulesFolder, 0o755)
        chmod(folder, 0o755)
        let accounts = "root:x:0:0::/root:/bin/sh\npolkitd:x:\(try Self.polkitd())::/:/bin/false\n"
        try TemporaryFolder.write(
            folder + "/polkit-passwd",
            (accounts + "localauth-fingerprint:x:\(uid):\(uid)::/:/\n").utf8
        )
        // A private mount namespace hides the mounts from other programs.
        let script = """
            cp '\(rules)' '\(rulesFolder)' && mount --bind '\(rulesFolder)' /etc/polkit-1/rules.d \
            && mount --bind '\(rulesFolder)' /usr/share/polkit-1/rules.d \
            && exec env LD_PRELOAD=libnss_wrapper.so NSS_WRAPPER_PASSWD='\(folder)/polkit-passwd' \
            NSS_WRAPPER_GROUP='\(folder)/group' DBUS_SYSTEM_BUS_ADDRESS='\(address)' \
            /usr/lib/polkit-1/polkitd --no-debug
            """
        _ = try run(["/usr/bin/unshare", "-m", "/bin/sh", "-c", script])
        _ = try await bus.waitForOwner(of: "org.freedesktop.PolicyKit1")
        try await startDaemon()
    }

    /// Returns `uid:gid` of polkitd's account.
    private static func polkitd() throws -> String {
        guard let entry = getpwnam("polkitd") else {
            throw TestFailure("expected an account polkitd")
        }
        return "\(entry.pointee.pw_uid):\(entry.pointee.pw_gid)"
    }

    /// Starts a program in the unchanged environment.
    public func run(_ words: [String]) throws(TestFailure) -> ChildProcess {
        try bus.run(words)
    }

    /// Returns a command that runs a program with the rig's system bus and accounts.
    public func words(_ program: [String]) -> [String] {
        var program = program
        if !program[0].hasPrefix("/") { program[0] = ChildProcess.folder + "/" + program[0] }
        return [
            "/usr/bin/env", "DBUS_SYSTEM_BUS_ADDRESS=\(address)",
            "STATE_DIRECTORY=\(folder)/labels", "LD_PRELOAD=libnss_wrapper.so",
            "NSS_WRAPPER_PASSWD=\(folder)/passwd", "NSS_WRAPPER_GROUP=\(folder)/group",
        ] + program
    }

    public func end() async {
        await bus.end()
    }

    /// Writes accounts: the test's own user, two users with unused uids, and two with unsafe names.
    private static func writeAccounts(_ folder: String) throws {
        let accounts = [
            "alice:x:12345:12345::/:/bin/false", "bob:x:12346:12346::/:/bin/false",
            "evil/../root:x:12347:12347::/:/bin/false", "..:x:12348:12348::/:/bin/false",
            "tester:x:\(getuid()):\(getgid())::/:/bin/sh",
        ]
        let text = accounts.joined(separator: "\n") + "\n"
        try TemporaryFolder.write(folder + "/passwd", text.utf8)
        try TemporaryFolder.write(folder + "/group", "people:x:12345:\n".utf8)
    }
}
