import AuthEngine
import BusGuard
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

/// Each method has a bound that more connections of a user can't exceed.
@Suite("Quotas of methods", .timeLimit(.minutes(10)))
struct MethodQuotaTests {
    init() { EventLoop.shared.startThread() }

    /// The methods of the interfaces' XML files.
    private static let interfaces = [
        Authentication1Interface.description, Context1Interface.description,
        Device1Interface.description, Keychain1Interface.description,
        SensorHost1Interface.description,
    ]

    @Test("L21: every method of every interface has a quota", arguments: interfaces.map(\.name))
    func everyMethod(interface: String) throws {
        let description = try #require(Self.interfaces.first { $0.name == interface })
        let known = try #require(MethodQuotas.table[interface])
        #expect(Set(known.keys) == Set(description.methods.keys))
        // A high quota is safe only if all calls share an answer.
        let shared = known.filter { $0.value == .sharedQuery }
        #expect(Set(shared.keys).isSubset(of: ["CanEvaluate"]), "\(shared.keys)")
    }

    @Test("L21: all users with full quotas together use at most half of the memory")
    func bytesOfAll() async throws {
        // The unit has MemoryMax=512M.
        #expect(2 * 2 * MethodQuotas.bytesOfAll <= 512 * 1024 * 1024)
        try await AuditBench.run { bench in
            let quota = bench.service.neighbours.quota
            let users = UInt32(90_000)..<90_100
            for uid in users { try? quota.hold(MethodQuotas.bytesPerUser, of: uid) }
            let all = users.reduce(0) { $0 + quota.bytes(of: $1) }
            #expect(all > 0 && all <= 2 * MethodQuotas.bytesOfAll, "\(all)")
            for uid in users { quota.release(quota.bytes(of: uid), of: uid) }
        }
    }

    @Test("L21: all lanes together stay below the bus's limit, with a reserve")
    func lanes() {
        let sum = CallLane.all.reduce(0) { $0 + $1.capacity }
        #expect(sum <= CallBudget.busLimit - 8)
        for lane in CallLane.all { #expect(lane.perUser <= lane.capacity) }
    }

    @Test("L21: a user may have as many unanswered evaluations as eight connections")
    func evaluations() {
        var configuration = Configuration()
        for pending in [1, 8, 100] {
            configuration.pendingPerConnection = pending
            let limit = MethodQuotas.limits(configuration)[.interactive]
            #expect(limit == .init(perConnection: pending, perUser: 8 * pending))
        }
    }

    @Test("L21: silent agents of seven users leave places for other users' prompts")
    func prompts() {
        #expect(7 * CallLane.prompts.perUser < CallLane.prompts.capacity)
        #expect(CallLane.prompts.waiting > 0, "of a user who has several sessions")
    }

    /// Returns the methods of a kind, with an object for each.
    private static func methods(
        _ kind: CallQuota.Kind,
        _ context: ObjectPath
    ) -> [(path: ObjectPath, interface: String, member: String)] {
        let paths = [
            Authentication1.interface: TestDaemon.root, Context1.interface: context,
            Device1.interface: TestDaemon.devicePath("Third"), Keychain1.interface: Keychain1.path,
        ]
        return MethodQuotas.table
            .flatMap { interface, members in
                members.filter { $0.value == kind }
                    .compactMap { member in
                        paths[interface].map { ($0, interface, member.key) }
                    }
            }
            .sorted { ($0.1, $0.2) < ($1.1, $1.2) }
    }

    /// Returns the error of a call without arguments.
    ///
    /// The quota is checked before the arguments.
    @BusActor
    private static func error(
        _ method: (path: ObjectPath, interface: String, member: String),
        _ connection: Connection
    ) async -> DBusError? {
        do throws(DBusError) {
            _ = try await connection.call(
                to: TestDaemon.name,
                path: method.path,
                interface: method.interface,
                member: method.member
            )
            return nil
        } catch {
            return error
        }
    }

    /// The service's own refusal, because the bus has a limit too.
    private static let refusal = DBusError(
        .limitsExceeded,
        "Too many calls of this connection wait."
    )

    /// Sends calls of a connection that wait.
    @BusActor
    private static func ask(
        _ connection: Connection,
        _ count: Int = MethodQuotas.questions.perConnection
    ) throws {
        for _ in 0..<count {
            _ = try connection.startCall(
                to: TestDaemon.name,
                path: TestDaemon.root,
                interface: Authentication1.interface,
                member: "Diagnose"
            )
        }
    }

    /// Waits until the service has read a connection's calls, because connections take turns.
    @BusActor
    private static func wait(for connection: Connection) async throws {
        _ = try await connection.call(
            to: TestDaemon.name,
            path: TestDaemon.root,
            interface: "org.freedesktop.DBus.Peer",
            member: "Ping"
        )
    }

    @Test("L21: methods that wait for other processes are refused beyond the connection's quota")
    func questions() async throws {
        try await ServiceBench.run { bench in
            let app = try bench.bus.connect()
            let context = try await bench.context(on: app)
            _ = try await bench.sensor()
            bench.verifier.isHeld = true
            let methods = Self.methods(.query, context.path)
            #expect(methods.count > 10)
            try Self.ask(app)
            for method in methods {
                var error: DBusError?
                // The verifier's timeout ends calls, so send further calls, few enough for the bus.
                for _ in 0..<20 where error != Self.refusal {
                    try Self.ask(app, 48)
                    error = await Self.error(method, app)
                }
                #expect(error == Self.refusal, "\(method.member)")
            }
            // Methods without waiting are still answered.
            for method in Self.methods(.immediate, context.path) {
                #expect(await Self.error(method, app) != Self.refusal, "\(method.member)")
            }
            #expect(try await bench.manager(app).version().isEmpty == false)
        }
    }

    @Test("L21: a user's connections share a quota, and another user has a separate quota")
    func users() async throws {
        try await ServiceBench.run { bench in
            bench.verifier.isHeld = true
            let count = MethodQuotas.questions.perUser / MethodQuotas.questions.perConnection
            for _ in 0..<count {
                let connection = try bench.bus.connect()
                try Self.ask(connection)
                try await Self.wait(for: connection)
            }
            let one = try bench.bus.connect()
            await expectName(.limitsExceeded) { _ = try await bench.manager(one).diagnose() }
            guard getuid() == 0 else { return }
            let other = try Connection(.address(Person.address(bench.bus)))
            defer { other.close() }
            // This method has the quota as well. Below the quota, its missing arguments cause the
            // error.
            let question = (
                path: TestDaemon.root, interface: Authentication1.interface,
                member: "RequirePasscode"
            )
            #expect(await Self.error(question, one)?.name == .limitsExceeded)
            #expect(await Self.error(question, other)?.name == .invalidArgs)
        }
    }

    @Test("L21: calls that share an answer have a quota for their user as well")
    func shared() async throws {
        try await ServiceBench.run { bench in
            bench.verifier.isHeld = true
            // As many calls as a bus allows a connection, and slightly more than the quota in
            // total.
            for _ in 0..<(MethodQuotas.shared.perUser / 120 + 1) {
                let connection = try bench.bus.connect()
                for _ in 0..<120 {
                    _ = try connection.startCall(
                        to: TestDaemon.name,
                        path: TestDaemon.root,
                        interface: Authentication1.interface,
                        member: "CanEvaluate",
                        signature: "u"
                    ) { writer throws(DBusError) in try writer.write(UInt32(1)) }
                }
                try await Self.wait(for: connection)
            }
            await expectName(.limitsExceeded) { _ = try await bench.canEvaluate() }
        }
    }

    @Test("L21: methods that wait for a person are refused beyond a connection's quota")
    func uses() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let context = try await bench.context(on: person.connection)
            for number in 0..<8 {
                let name = number == 0 ? "Third" : "S\(number)"
                let sensor = try await bench.sensor(name)
                let device = bench.device(name, on: person.connection)
                _ = try device.enrollStream(label: "a", options: [:])
                _ = try await sensor.operation()
            }
            let methods = Self.methods(.interactive, context.path)
            #expect(methods.count == 12)
            for method in methods {
                let error = await Self.error(method, person.connection)
                #expect(error == Self.refusal, "\(method.member)")
            }
            #expect(try await bench.canEvaluate(1, as: person.connection).code == -7)
        }
    }

    @Test("L21: releasing a context during its password's check returns the quota")
    func released() async throws {
        try await AuditBench.run { bench in
            let person = try await Person(bus: bench.bus)
            let keychain = bench.keychain(person.connection)
            @BusActor func context() async throws -> Context1Proxy {
                let path = try await bench.manager(person.connection)
                    .createContext(properties: [:])
                return Context1Proxy(
                    person.connection,
                    destination: bench.service.connection.uniqueName,
                    path: path
                )
            }
            let right = try await context()
            try await right.setPassword("right")
            let id = try await keychain.add("locked", flags: .applicationPassword, context: right)
            let quota = bench.service.neighbours.quota
            let before = quota.bytes(of: person.peer.uid)
            let other = try await context()
            try await other.setLocalizedReason(String(repeating: "a", count: 1000))
            try await other.ask(person, typing: "wrong")
            let reading = keychain.reading(id, context: other)
            try await other.release()
            #expect(reading.isPending)
            await expectName(.keychainAuthFailed) { _ = try await reading.value() }
            #expect(quota.bytes(of: person.peer.uid) == before)
            person.connection.close()
        }
    }
}
