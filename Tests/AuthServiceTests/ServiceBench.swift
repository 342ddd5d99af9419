import DBus
import Glibc
import Linux
import LocalAuthBus
import SensorContract
import Testing

/// A private bus with the daemon as a real process; the test plays everybody else.
@BusActor
final class ServiceBench {
    nonisolated static let root = ObjectPath(trusted: "/org/localauth/Authentication1")
    nonisolated static let name = "org.localauth.Authentication1"

    let bus: PrivateBus
    let client: Connection
    let verifier: ScriptedVerifier
    let verifierConnection: Connection
    let uid = getuid()
    private(set) var daemon: LaunchedProgram
    private var people: [Person] = []
    var state: String { bus.folder + "/state" }
    /// A small disk of the daemon's own, which has its state; nil: it is on the test's.
    private let disk: SmallDisk?

    private init(configuration: String, hasSmallDisk: Bool) async throws {
        bus = try await PrivateBus()
        try Self.write(configuration, to: bus.folder + "/localauth.conf")
        client = try bus.connect()
        verifier = ScriptedVerifier()
        verifierConnection = try bus.connect()
        try verifier.appear(on: verifierConnection)
        disk = hasSmallDisk ? try await SmallDisk(at: bus.folder + "/state") : nil
        daemon = try bus.start(Self.command(bus, disk))
        _ = try await bus.waitForOwner(of: Self.name, within: .seconds(20))
        try await findOwner()
    }

    private static func command(_ bus: PrivateBus, _ disk: SmallDisk?) -> [String] {
        let name = disk == nil ? "localauthd" : LaunchedProgram.folder + "/localauthd"
        return (disk?.entering ?? []) + [
            name, "--state-directory", bus.folder + "/state",
            "--config", bus.folder + "/localauth.conf",
        ]
    }

    private static func write(_ text: String, to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let bytes = Array(text.utf8)
        defer { close(file) }
        guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw ContractFailure("\(path) can't be written")
        }
    }

    /// Gives a test a bench of its own, and takes it down whatever happens.
    nonisolated static func run(
        configuration: String = "",
        _ body: @escaping @BusActor (ServiceBench) async throws -> Void
    ) async throws {
        EventLoop.shared.startThread()
        try await onBench(configuration, false, body)
    }

    /// The same, with the daemon's state on a disk that can be full.
    nonisolated static func runOnSmallDisk(
        _ body: @escaping @BusActor (ServiceBench, SmallDisk) async throws -> Void
    ) async throws {
        EventLoop.shared.startThread()
        try await onBench("", true) { bench in
            guard let disk = bench.disk else { return }
            try await body(bench, disk)
        }
    }

    private static func onBench(
        _ configuration: String,
        _ hasSmallDisk: Bool,
        _ body: @BusActor (ServiceBench) async throws -> Void
    ) async throws {
        let bench = try await ServiceBench(
            configuration: configuration,
            hasSmallDisk: hasSmallDisk
        )
        do {
            try await body(bench)
        } catch {
            let said = bench.daemon.output.error
            await bench.end()
            throw ContractFailure("\(error); the daemon said: \(said)")
        }
        await bench.end()
    }

    private func end() async {
        await daemon.end()
        await disk?.end()
        unlink(bus.folder + "/localauth.conf")
        Self.empty(state + "/keychain")
        Self.empty(state)
        await bus.end()
    }

    /// Removes a folder of files.
    private static func empty(_ folder: String) {
        guard let listing = opendir(folder) else { return }
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            unlink(folder + "/" + name)
        }
        closedir(listing)
        rmdir(folder)
    }

    /// Kills the daemon and starts it anew on the same state.
    func restartDaemon(_ meanwhile: @BusActor () -> Void = {}) async throws {
        await daemon.end()
        _ = try await bus.waitForOwner(of: Self.name, false)
        meanwhile()
        daemon = try bus.start(Self.command(bus, disk))
        _ = try await bus.waitForOwner(of: Self.name, within: .seconds(20))
        try await findOwner()
    }

    /// Has the daemon read another configuration, and waits until it has.
    func reload(_ configuration: String) async throws {
        let told = "the configuration was read again"
        let count = daemon.output.error.ranges(of: told).count
        try Self.write(configuration, to: bus.folder + "/localauth.conf")
        daemon.signal(SIGHUP)
        try await wait(for: "the configuration to be read") {
            self.daemon.output.error.ranges(of: told).count > count
        }
    }

    // MARK: - Who is there

    /// A sensor of the test's own, usable for the daemon when this returns.
    func sensor(
        _ name: String = "Third",
        expecting unavailability: String = "",
        _ prepare: @BusActor (ScriptedSensor) -> Void = { _ in }
    ) async throws -> ScriptedSensor {
        let sensor = ScriptedSensor(name, on: try bus.connect())
        prepare(sensor)
        try sensor.appear()
        try await waitForDevice(name, is: unavailability)
        return sensor
    }

    /// A user at the desk, with a prompt agent; never root.
    func person() async throws -> Person {
        let person = try await Person(bus: bus)
        people.append(person)
        return person
    }

    // MARK: - What the daemon says

    var manager: Authentication1Proxy { manager(client) }

    func manager(_ connection: Connection) -> Authentication1Proxy {
        Authentication1Proxy(connection, destination: Self.name, path: Self.root)
    }

    nonisolated static func devicePath(_ name: String) -> ObjectPath {
        ObjectPath(unchecked: root.rawValue + "/sensor/" + name)
    }

    func device(_ name: String = "Third", on connection: Connection? = nil) -> Device1Proxy {
        Device1Proxy(
            connection ?? client,
            destination: owner,
            path: Self.devicePath(name)
        )
    }

    func context(on connection: Connection? = nil) async throws -> Context1Proxy {
        let connection = connection ?? client
        let path = try await manager(connection).createContext(properties: [:])
        return Context1Proxy(connection, destination: owner, path: path)
    }

    /// The daemon's unique name: events are followed from there only.
    private(set) var owner = ""

    func findOwner() async throws {
        owner = try await client.nameOwner(Self.name) ?? ""
    }

    /// What CanEvaluate of policy 1 answers, and how long that took.
    func canEvaluate(
        _ policy: UInt32 = 1,
        as connection: Connection? = nil
    ) async throws -> (code: Int32, time: Duration) {
        let clock = ContinuousClock()
        let start = clock.now
        let answer = try await manager(connection ?? client).canEvaluate(policy: policy)
        return (answer.code, clock.now - start)
    }

    /// Asks until it is so.
    func wait(
        for what: String,
        within limit: Duration = .seconds(10),
        until isSo: @BusActor () async throws -> Bool
    ) async throws {
        let clock = ContinuousClock()
        let end = clock.now + limit
        while clock.now < end {
            if try await isSo() { return }
            await pause(.milliseconds(10))
        }
        throw ContractFailure("expected \(what) within \(limit)")
    }

    func waitForDevice(
        _ name: String = "Third",
        is unavailability: String,
        within limit: Duration = .seconds(10)
    ) async throws {
        try await findOwner()
        try await wait(for: "\(name) to be '\(unavailability)'", within: limit) {
            (try? await self.device(name).unavailability()) == unavailability
        }
    }

    func waitForNoDevice(_ name: String = "Third") async throws {
        try await wait(for: "\(name) to be gone") {
            (try? await self.device(name).unavailability()) == nil
        }
    }
}

/// A passcode verifier for whom everybody's passcode is the same.
@BusActor
final class ScriptedVerifier: Passcode1Service {
    nonisolated static let name = "org.localauth.Passcode1"
    nonisolated static let passcode = "horse battery 2468"

    var isPasscodeSet = true
    /// It can't say whether a passcode is set.
    var isBroken = false
    /// So many verifications say neither yes nor no.
    var faults = 0
    /// Verifications are not answered.
    var isSilent = false
    /// The users of whom it was asked whether a passcode is set.
    let asked = Witness<UInt32>()
    /// The users whose passcode it was to verify.
    let verified = Witness<UInt32>()

    func appear(on connection: Connection) throws(DBusError) {
        connection.export(
            ObjectPath(trusted: "/org/localauth/Passcode1"),
            [Passcode1Interface(self)]
        )
        try connection.requestName(Self.name)
    }

    func isSet(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Bool> {
        asked.record(uid)
        guard !isBroken else { throw DBusError(.failed, "scripted") }
        return .now(isPasscodeSet)
    }

    func verify(
        uid: UInt32,
        socket: OwnedDescriptor,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool> {
        verified.record(uid)
        var packet = [UInt8](repeating: 0, count: 256)
        let count = recv(socket.rawValue, &packet, packet.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { throw DBusError(.passcodeCanceled, "no packet came") }
        if isSilent {
            return .later { () throws(DBusError) in
                await Person.never()
                return false
            }
        }
        if faults > 0 {
            faults -= 1
            throw DBusError(.failed, "scripted")
        }
        return .now(Array(packet.prefix(count)) == Array(Self.passcode.utf8))
    }
}
