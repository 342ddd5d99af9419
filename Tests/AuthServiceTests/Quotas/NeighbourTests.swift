import AuthEngine
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

/// Floods by other users cost a user nothing, on a bus with the limits of a system bus.
@Suite("Neighbours", .timeLimit(.minutes(10)))
struct NeighbourTests {
    init() { EventLoop.shared.startThread() }

    private static let isRoot = getuid() == 0

    /// Connects as a user that the test does not use otherwise.
    @BusActor
    private static func stranger(_ bench: ServiceBench, _ uid: UInt32) throws -> Connection {
        try Connection(.address(Person.address(bench.bus, uid: uid)))
    }

    @BusActor
    private static func flood(_ connection: Connection, _ count: Int) throws {
        for _ in 0..<count {
            _ = try connection.startCall(
                to: TestDaemon.name,
                path: TestDaemon.root,
                interface: Authentication1.interface,
                member: "Diagnose"
            )
            _ = try connection.startCall(
                to: TestDaemon.name,
                path: TestDaemon.root,
                interface: Authentication1.interface,
                member: "CanEvaluate",
                signature: "u"
            ) { writer throws(DBusError) in try writer.write(UInt32(1)) }
        }
    }

    @Test(
        "L21: floods of CanEvaluate and Diagnose by neighbours do not change evaluations",
        .enabled(if: isRoot, "needs other users")
    )
    func questions() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            // Diagnose queries the health, which stays unanswered as long as the bus allows.
            sensor.unanswered = ["Health"]
            // daemon, bin and sys, because the bus looks up the groups of a user.
            let strangers = try [1, 2, 3].map { try Self.stranger(bench, $0) }
            defer { for stranger in strangers { stranger.close() } }
            for stranger in strangers { try Self.flood(stranger, 200) }
            _ = try await sensor.calls.first("a question about health") { $0 == "Health" }
            for number in 0..<5 {
                let call = try bench.begin(person.connection, 1)
                try await sensor.operation(number).succeed(template)
                #expect(try await call.reply()["mechanism"]?.asString == "biometry")
            }
            #expect(sensor.count(of: "Health") <= 4, "questions about health are shared")
            sensor.speak()
        }
    }

    @Test("L21: a flood of renames runs one at a time, and other users are listed meanwhile")
    func renames() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            (sensor.slow, sensor.unanswered) = (["RenameTemplate"], ["RenameTemplate"])
            let apps = try (0..<3).map { _ in try person.app(bench.bus) }
            defer { for app in apps { app.close() } }
            let calls = apps.flatMap { app in
                (0..<20)
                    .map { number in
                        RunningCall { () throws(DBusError) in
                            try await bench.device(on: app)
                                .renameTemplate(id: template, label: "\(number)", options: [:])
                        }
                    }
            }
            _ = try await sensor.calls.first("a rename") { $0 == "RenameTemplate" }
            let listed = try await bench.device().listTemplates(options: [:])
            #expect(listed.isEmpty || bench.uid == person.peer.uid)
            #expect(sensor.count(of: "RenameTemplate") == 1)
            sensor.speak()
            for call in calls { try await call.value() }
            #expect(sensor.count(of: "RenameTemplate") == 60)
            #expect(sensor.most["RenameTemplate"] == 1)
        }
    }

    @Test("L21: an agent's path and the descriptors of a user's agents are bounded")
    func agents() async throws {
        try await ServiceBench.run { bench in
            let long = ObjectPath(unchecked: "/" + String(repeating: "a", count: 256))
            await expectName(.invalidArgs) {
                _ = try await bench.manager.registerAgent(agent: long, options: [:])
            }
            var processes: [ChildProcess] = []
            var connections: [Connection] = []
            var count = 0
            for number in 0..<AgentDirectory.limitPerUser + 1 {
                if number % AgentDirectory.limit == 0 {
                    connections.append(try bench.bus.connect())
                }
                let process = try ChildProcess(["/bin/sleep", "600"])
                processes.append(process)
                do throws(DBusError) {
                    _ = try await bench.manager(connections[connections.count - 1])
                        .registerAgent(
                            agent: ObjectPath(unchecked: "/agent/a\(number)"),
                            options: ["process": .uint32(UInt32(process.pid))]
                        )
                    count += 1
                } catch {
                    #expect(error.name == .limitsExceeded)
                }
            }
            #expect(count == AgentDirectory.limitPerUser)
            for process in processes { await process.end() }
        }
    }

    @Test("L21: announcements about agents are limited in each second")
    func announcements() async throws {
        try await ServiceBench.run { bench in
            let told = EventRecorder<[String]>()
            _ = bench.manager.onPropertiesChanged { _, invalidated in told.record(invalidated) }
            _ = try await bench.manager.version()
            let start = ContinuousClock.now
            let person = try await bench.person()
            let (manager, agent) = (bench.manager(person.connection), Person.path)
            for _ in 0..<200 {
                try await manager.unregisterAgent(agent: agent)
                _ = try await manager.registerAgent(agent: agent, options: [:])
            }
            _ = try await told.first("an announcement") { $0.contains("Interactive") }
            _ = try await bench.manager.version()
            #expect(told.seen.count <= ScriptedSensor.most(since: start))
        }
    }

    @Test("L21: agents of departed connections do not count for their user")
    func departedAgents() async throws {
        try await ServiceBench.run { bench in
            let process = try ChildProcess(["/bin/sleep", "600"])
            for _ in 0...AgentDirectory.limitPerUser {
                let connection = try bench.bus.connect()
                let name = connection.uniqueName
                try await Self.serve(process, at: connection, bench)
                connection.close()
                try await eventually("it to be gone") {
                    try await bench.client.nameOwner(name) == nil
                }
            }
            await process.end()
        }
    }

    @Test("L16: a process's agent is removed when the process ends, even if connected")
    func endedProcess() async throws {
        try await ServiceBench.run { bench in
            let connection = try bench.bus.connect()
            for number in 0..<2 {
                let process = try ChildProcess(["/bin/sleep", "600"])
                // The agent uses the path of the previous agent.
                try await eventually("agent \(number) to be registered") {
                    (try? await Self.serve(process, at: connection, bench)) != nil
                }
                await process.end()
            }
        }
    }

    @BusActor
    private static func serve(
        _ process: ChildProcess,
        at connection: Connection,
        _ bench: ServiceBench
    ) async throws {
        _ = try await bench.manager(connection)
            .registerAgent(
                agent: agentPath,
                options: ["process": .uint32(UInt32(process.pid))]
            )
    }

    private static let agentPath = ObjectPath(trusted: "/test/agent")

    @Test("L16: only its own connection can unregister an agent")
    func removal() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            for stranger in [try person.app(bench.bus), bench.client] {
                await expectName(.unknownObject) {
                    try await bench.manager(stranger).unregisterAgent(agent: Self.agentPath)
                }
            }
            let call = try bench.begin(person.connection)
            try await sensor.operation().succeed(template)
            #expect(try await call.reply()["mechanism"] == .string("biometry"))
            try await bench.manager(person.connection).unregisterAgent(agent: Self.agentPath)
            await expectName(.notInteractive) {
                _ = try await bench.begin(person.connection).reply()
            }
        }
    }

    @Test(
        "L16: only root can become the agent of another user's process",
        .enabled(if: isRoot, "needs other users")
    )
    func foreignProcess() async throws {
        try await ServiceBench.run { bench in
            let process = try ChildProcess(
                ["/usr/bin/setpriv", "--reuid=2", "--clear-groups", "/bin/sleep", "600"]
            )
            try await eventually("a process of another user") {
                var status = stat()
                return stat("/proc/\(process.pid)", &status) == 0 && status.st_uid == 2
            }
            let app = try Connection(.address(Person.address(bench.bus)))
            defer { app.close() }
            await expectName(.accessDenied) { try await Self.serve(process, at: app, bench) }
            try await Self.serve(process, at: bench.client, bench)
            await process.end()
        }
    }
}
