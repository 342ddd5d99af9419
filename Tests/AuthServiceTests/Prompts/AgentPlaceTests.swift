import DBus
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

/// How many agents can serve a session, a process, an object and a connection.
@Suite("Places of agents", .timeLimit(.minutes(10)))
struct AgentPlaceTests {
    init() { EventLoop.shared.startThread() }

    enum Place: CaseIterable {
        case normal, fallback, process

        func options(_ process: ChildProcess) -> [String: Variant] {
            switch self {
            case .normal: [:]
            case .fallback: ["fallback": .bool(true)]
            case .process: ["process": .uint32(UInt32(process.pid))]
            }
        }
    }

    private static func sleeper() throws -> ChildProcess {
        try ChildProcess(["/bin/sleep", "600"])
    }

    @BusActor
    private static func register(
        _ path: String,
        _ options: [String: Variant],
        on connection: Connection,
        _ bench: ServiceBench
    ) async throws {
        _ = try await bench.manager(connection)
            .registerAgent(agent: ObjectPath(unchecked: path), options: options)
    }

    @Test("An agent's place is taken until it leaves", arguments: Place.allCases)
    func taken(_ place: Place) async throws {
        try await ServiceBench.run { bench in
            let (own, other) = (try bench.bus.connect(), try bench.bus.connect())
            let process = try Self.sleeper()
            let options = place.options(process)
            try await Self.register("/agent/first", options, on: own, bench)
            for connection in [own, other] {
                await expectName(.agentExists) {
                    try await Self.register("/agent/second", options, on: connection, bench)
                }
            }
            // Agents of other kinds have separate places.
            for kind in Place.allCases where kind != place {
                try await Self.register("/agent/\(kind)", kind.options(process), on: other, bench)
            }
            try await bench.manager(own)
                .unregisterAgent(agent: ObjectPath(unchecked: "/agent/first"))
            try await Self.register("/agent/second", options, on: other, bench)
            await expectName(.agentExists) {
                try await Self.register("/agent/first", options, on: own, bench)
            }
            await process.end()
        }
    }

    @Test("An object is a single agent, and other connections may use its path")
    func object() async throws {
        try await ServiceBench.run { bench in
            let (own, other) = (try bench.bus.connect(), try bench.bus.connect())
            let process = try Self.sleeper()
            let (path, more) = ("/agent", Place.process.options(process))
            try await Self.register(path, [:], on: own, bench)
            await expectName(.agentExists) {
                try await Self.register(path, more, on: own, bench)
            }
            try await Self.register(path, more, on: other, bench)
            try await bench.manager(own).unregisterAgent(agent: ObjectPath(unchecked: path))
            try await Self.register(path, Place.fallback.options(process), on: own, bench)
            await process.end()
        }
    }

    @Test("A connection has at most four agents, independently of others")
    func limit() async throws {
        try await ServiceBench.run { bench in
            let (own, other) = (try bench.bus.connect(), try bench.bus.connect())
            var processes: [ChildProcess] = []
            for _ in 0...AgentDirectory.limit { processes.append(try Self.sleeper()) }
            let options = processes.map(Place.process.options)
            for number in 0..<AgentDirectory.limit {
                try await Self.register("/agent/a\(number)", options[number], on: own, bench)
            }
            let last = "/agent/last"
            await expectName(.limitsExceeded) {
                try await Self.register(last, options[AgentDirectory.limit], on: own, bench)
            }
            try await Self.register(last, options[AgentDirectory.limit], on: other, bench)
            try await bench.manager(own).unregisterAgent(agent: ObjectPath(unchecked: "/agent/a0"))
            try await Self.register(last, options[0], on: own, bench)
            for process in processes { await process.end() }
        }
    }
}
