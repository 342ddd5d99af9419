import DBus
import Glibc
import Linux
import LocalAuthBus
import SensorContract

/// A private bus with a verifier that asks PAM by the service files of `Tests/pam`.
@BusActor final class PasscodeBench {
    let bus: PrivateBus
    let daemon: Connection
    let program: LaunchedProgram
    let verifier: Passcode1Proxy
    let user = getuid()

    /// Starts the verifier; the test plays the daemon.
    init(service: String = "localauth-test", _ options: [String] = []) async throws {
        bus = try await PrivateBus()
        try Self.installServices(in: bus.folder)
        daemon = try bus.connect()
        try daemon.requestName("org.localauth.Authentication1")
        program = try bus.start(
            ["localauth-passcode", "--pam-service", service, "--pam-directory", bus.folder]
                + options
        )
        guard let owner = try await bus.waitForOwner(of: "org.localauth.Passcode1") else {
            throw ContractFailure("the verifier did not start")
        }
        verifier = Self.proxy(daemon, owner)
    }

    static func proxy(_ connection: Connection, _ owner: String) -> Passcode1Proxy {
        Passcode1Proxy(
            connection,
            destination: owner,
            path: ObjectPath(trusted: "/org/localauth/Passcode1")
        )
    }

    func end() async {
        await program.end()
        await bus.end()
    }

    /// Runs a test against a new bench, which ends with it.
    static func with(
        service: String = "localauth-test",
        _ options: [String] = [],
        _ body: @BusActor (PasscodeBench) async throws -> Void
    ) async throws {
        let bench = try await PasscodeBench(service: service, options)
        do {
            try await body(bench)
        } catch {
            await bench.end()
            throw error
        }
        await bench.end()
    }

    /// What Verify says to this packet; nil: none is sent, and the agent's end is closed.
    func verify(_ packet: [UInt8]?, uid: UInt32? = nil) async throws -> Bool {
        let (agent, socket) = try Self.sent(packet)
        defer { withExtendedLifetime(agent) {} }
        return try await verifier.verify(uid: uid ?? user, socket: socket)
    }

    func verify(_ passcode: String) async throws -> Bool {
        try await verify(Array(passcode.utf8))
    }

    /// The two ends with a packet on its way; without one the agent's end is closed.
    private static func sent(
        _ packet: [UInt8]?
    ) throws -> (agent: OwnedDescriptor?, daemon: OwnedDescriptor) {
        let (agent, socket) = try pair()
        guard let packet else { return (nil, socket) }
        send(agent.rawValue, packet, packet.count, 0)
        return (agent, socket)
    }

    /// The agent's and the daemon's end.
    static func pair(
        _ type: __socket_type = SOCK_SEQPACKET
    ) throws -> (agent: OwnedDescriptor, daemon: OwnedDescriptor) {
        var ends: [Int32] = [-1, -1]
        try expect(socketpair(AF_UNIX, Int32(type.rawValue), 0, &ends) == 0, "a socket pair")
        return (OwnedDescriptor(adopting: ends[0]), OwnedDescriptor(adopting: ends[1]))
    }

    /// The process of a check by `localauth-slow`, once its module hangs.
    func hangingCheck() async throws -> pid_t {
        while true {
            if let text = try? Self.read(bus.folder + "/hanging"),
                let pid = pid_t(text.split(separator: "\n").first ?? "")
            {
                return pid
            }
            await pause(.milliseconds(10))
        }
    }

    private static func installServices(in folder: String) throws {
        let source = "\(#filePath)".split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }
        for name in ["localauth-test", "localauth-broken", "localauth-slow"] {
            let text = try read("\(source)/pam/\(name)")
            let parts = text.split(separator: "@SCRIPTS@", omittingEmptySubsequences: false)
            try PrivateBus.write(parts.joined(separator: folder), to: "\(folder)/\(name)")
        }
        for name in ["check-passcode", "hang"] {
            let text = try read("\(source)/pam/\(name)")
            try PrivateBus.write(text, to: "\(folder)/\(name)", mode: 0o755)
        }
    }

    private static func read(_ path: String) throws -> String {
        let file = open(path, O_RDONLY)
        try expect(file >= 0, "\(path) to be there")
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = Glibc.read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
