import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

@Suite("Monitors of evaluations", .timeLimit(.minutes(10)))
struct MonitorTests {
    @BusActor
    private static func watch(
        _ bench: AuditBench,
        _ connection: Connection
    ) async throws -> EventRecorder<[String: Variant]> {
        let seen = EventRecorder<[String: Variant]>()
        let owner = try await connection.nameOwner(TestDaemon.name)
        _ = bench.manager(connection).onEvaluated(sender: owner) { seen.record($0) }
        try await bench.manager(connection).monitor(options: ["unknown": .bool(true)])
        return seen
    }

    @Test("A monitor gets each evaluation once, without the reason")
    func record() async throws {
        try await AuditBench.run { bench in
            let seen = try await Self.watch(bench, bench.client)
            try await bench.manager().monitor(options: [:])
            _ = try? await bench.manager().evaluate(policy: 2, reason: "a reason", options: [:])
            let record = try await seen.first("an evaluation") { _ in true }
            #expect(record["uid"] == .uint32(getuid()))
            #expect(record["pid"] == .uint32(UInt32(getpid())))
            #expect(record["policy"] == .uint32(2))
            #expect(record["outcome"] == .string("NotInteractive"))
            #expect(record["attempts"] == .uint32(0))
            #expect(record["app-name"]?.asString?.isEmpty == false)
            #expect((record["time"]?.asUInt64 ?? 0) > 1_600_000_000_000_000)
            #expect(!record.values.contains { $0.asString?.contains("a reason") == true })
            _ = try await bench.manager().version()
            #expect(seen.seen.count == 1)
        }
    }

    @Test(
        "Root sees all evaluations, other users only their own",
        .enabled(if: getuid() == 0, "needs a second user")
    )
    func users() async throws {
        try await AuditBench.run { bench in
            let person = try await Person(bus: bench.bus)
            let theirs = try await Self.watch(bench, person.connection)
            let all = try await Self.watch(bench, bench.client)
            _ = try? await bench.manager().evaluate(policy: 2, reason: "test", options: [:])
            _ = try? await bench.manager(person.connection)
                .evaluate(policy: 2, reason: "test", options: [:])
            let record = try await theirs.first("an evaluation") { _ in true }
            #expect(record["uid"] == .uint32(person.peer.uid))
            #expect(record["mechanism"] == .string("passcode"))
            #expect(record["session"]?.asString?.isEmpty == false)
            #expect(record["sensor"] == nil)
            _ = try await all.first("their evaluation") {
                $0["uid"] == .uint32(person.peer.uid)
            }
            #expect(all.seen.count == 2)
            #expect(theirs.seen.count == 1)
            // An evaluation by root for a user appears as that user's, with root as caller.
            let uid = person.peer.uid
            let unlock: [String: Variant] = ["uid": .uint32(uid)]
            _ = try await bench.manager().evaluate(policy: 2, reason: "test", options: unlock)
            _ = try await theirs.first("root's evaluation") { _ in theirs.seen.count == 2 }
            #expect(theirs.seen[1]["uid"] == .uint32(uid))
            #expect(theirs.seen[1]["pid"] == .uint32(UInt32(getpid())))
            _ = try await bench.journal.record("evaluation-ended") {
                $0["LOCALAUTH_UID"] == "\(uid)" && $0["LOCALAUTH_CALLER_UID"] == "0"
            }
            #expect(person.prompts.seen.last?.details["user"] == .string(UserName.of(uid)))
            person.connection.close()
        }
    }

    @Test("A monitor learns which sensor matched")
    func sensor() async throws {
        try await AuditBench.run { bench in
            let person = try await Person(bus: bench.bus)
            let (sensor, template) = try await bench.sensor(for: person.peer.uid)
            let seen = try await Self.watch(bench, bench.client)
            let call = RunningCall { () throws(DBusError) in
                try await bench.manager(person.connection)
                    .evaluate(policy: 1, reason: "test", options: [:])
            }
            try await sensor.operation().succeed(template)
            _ = try await call.value()
            let record = try await seen.first("an evaluation") { _ in true }
            #expect(record["sensor"] == .string("Third"))
        }
    }

    @Test(
        "A user has at most 8 monitors, departed monitors free their place, root is exempt",
        .enabled(if: getuid() == 0, "needs a second user")
    )
    func limits() async throws {
        try await AuditBench.run { bench in
            var connections: [Connection] = []
            for _ in 0..<9 {
                let connection = try Connection(.address(Person.address(bench.bus)))
                connections.append(connection)
            }
            for connection in connections.dropLast() {
                try await bench.manager(connection).monitor(options: [:])
            }
            let error = await #expect(throws: DBusError.self) {
                try await bench.manager(connections[8]).monitor(options: [:])
            }
            #expect(error?.name == .limitsExceeded)
            for _ in 0..<70 {
                try await bench.manager(try bench.bus.connect()).monitor(options: [:])
            }
            connections[0].close()
            while (try? await bench.manager(connections[8]).monitor(options: [:])) == nil {
                await Task.yield()
            }
            for connection in connections.dropFirst() { connection.close() }
        }
    }
}
