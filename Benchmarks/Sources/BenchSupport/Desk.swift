public import DBus
import Foundation
import Linux
public import LocalAuthBus

/// The real daemon on a bus of its own, and a person who answers every prompt.
@BusActor
public final class Desk {
    /// What programs take after `--bus`.
    public nonisolated let address: String
    /// For whatever belongs to the bus; removed with it.
    public nonisolated let folder: String
    private let bus: PrivateBus
    /// The app's connection; the agent is on it too.
    public let app: Connection
    /// The daemon.
    public let manager: Authentication1Proxy
    private let person = Person()
    private let verifier: Connection
    private var started: [ChildProcess] = []

    /// What the daemon's objects are below.
    public nonisolated static let root = ObjectPath(trusted: "/org/localauth/Authentication1")
    private nonisolated static let service = "org.localauth.Authentication1"

    /// Starts the daemon out of a folder of programs, and waits until it has its agent.
    public init(programs: String) async throws {
        bus = try PrivateBus()
        (address, folder) = (bus.address, bus.folder)
        verifier = try Connection(.address(bus.address))
        verifier.export(
            ObjectPath(trusted: "/org/localauth/Passcode1"),
            [Passcode1Interface(person)]
        )
        try verifier.requestName("org.localauth.Passcode1")
        // A daemon never depends on the settings of the machine that it is measured on.
        let settings = bus.folder + "/localauth.conf"
        try "".write(toFile: settings, atomically: false, encoding: .utf8)
        app = try Connection(.address(bus.address))
        manager = Authentication1Proxy(app, destination: Self.service, path: Self.root)
        let agent = ObjectPath(trusted: "/bench/agent")
        app.export(agent, [Agent1Interface(person)])
        try start([
            programs + "/localauthd", "--state-directory", bus.folder + "/state", "--config",
            settings,
        ])
        _ = try await owner(of: Self.service)
        _ = try await manager.registerAgent(agent: agent, options: [:])
    }

    /// Starts a program on this bus; it is ended with the desk.
    public func start(_ words: [String]) throws {
        let log = folder + "/programs.log"
        started.append(try ChildProcess(words + ["--bus", address], errors: log))
    }

    /// Waits until a name has an owner.
    public func owner(of name: String) async throws -> String {
        try await wait(for: "an owner of \(name)") {
            try await self.app.nameOwner(name) != nil
        }
        return try await app.nameOwner(name) ?? ""
    }

    /// Asks until it is so.
    public func wait(
        for what: String,
        until isSo: @BusActor @Sendable () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < end {
            if try await isSo() { return }
            await pause(.milliseconds(5))
        }
        throw BenchmarkError("waited in vain for \(what)")
    }

    /// What the programs said, for a failure's message.
    public var log: String {
        let path = bus.folder + "/programs.log"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(10).joined(separator: "\n")
    }

    /// Ends the programs; the bus goes with the last who holds it.
    public func end() {
        for program in started.reversed() { try? program.terminate() }
        started = []
        app.close()
        verifier.close()
    }
}

/// Confirms, and types whatever passcode is asked for, which is always right.
@BusActor
private final class Person: Agent1Service, Passcode1Service {
    private var channels: [String: OwnedDescriptor] = [:]

    func begin(
        prompt: String,
        details: [String: Variant],
        passcode: OwnedDescriptor,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        channels[prompt] = passcode
        if details["stage"]?.asString == "passcode" { type(into: prompt) }
        return .now(())
    }

    func update(
        prompt: String,
        kind: String,
        detail: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        if kind == "passcode-required" { type(into: prompt) }
        return .now(())
    }

    func end(
        prompt: String,
        outcome: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        channels[prompt] = nil
        return .now(())
    }

    private func type(into prompt: String) {
        guard let channel = channels[prompt] else { return }
        send(channel.rawValue, "right", 5, Int32(MSG_NOSIGNAL))
    }

    func isSet(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Bool> { .now(true) }

    func verify(
        uid: UInt32,
        socket: OwnedDescriptor,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool> {
        var packet = [UInt8](repeating: 0, count: 256)
        let count = recv(socket.rawValue, &packet, packet.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { throw DBusError(.passcodeCanceled, "no packet came") }
        return .now(true)
    }
}
