import AuthEngine
import Contract
import DBus
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

/// Apps on whose behalf a caller claims to ask.
@Suite("Requesters", .timeLimit(.minutes(10)))
struct RequesterTests {
    private static let requester: [String: Variant] = [
        "requester": .dictionary(["name": .string("Diary\u{202E}\n Keeper"), "pid": .uint32(77)])
    ]

    @BusActor
    private static func check(_ record: [String: String], _ peer: Peer) {
        #expect(record["LOCALAUTH_REQUESTER"] == "Diary Keeper")
        #expect(record["LOCALAUTH_REQUESTER_PID"] == "77")
        // The caller is recorded as well.
        #expect(record["LOCALAUTH_CALLER_PID"] == "\(peer.pid)")
    }

    @Test("Prompt and journal show the requester beside the caller")
    func told() async throws {
        try await AuditBench.run { bench in
            let person = try await Person(bus: bench.bus)
            let keychain = bench.keychain(person.connection)
            let (sensor, template) = try await bench.sensor(for: person.peer.uid)
            let id = try await keychain.add("guarded", flags: .biometryAny)
            let reading = keychain.reading(id, Self.requester)
            try await sensor.operation().succeed(template)
            #expect(try await reading.value() == "secret")
            let details = try await person.prompt().details
            #expect(details["requester"] == .string("Diary Keeper"))
            #expect(details["requester-pid"] == .uint32(77))
            #expect(details["pid"] == .uint32(UInt32(person.peer.pid)))
            Self.check(try await bench.journal.record("item-used"), person.peer)
            Self.check(try await bench.journal.record("evaluation-ended"), person.peer)

            let manager = bench.manager(person.connection)
            let owner = try await person.connection.nameOwner(TestDaemon.name)
            let context = Context1Proxy(
                person.connection,
                destination: try #require(owner),
                path: try await manager.createContext(properties: [:])
            )
            let evaluation = try context.evaluateAccessControlStream(
                accessControl: KeychainClient.control(.biometryAny),
                operation: 1,
                reason: "open it",
                options: ["requester": .dictionary(["name": .string("Keeper")])]
            )
            try await sensor.operation(1).succeed(template)
            _ = try await evaluation.reply()
            let shown = try await person.prompt(1).details
            #expect(shown["requester"] == .string("Keeper"))
            #expect(shown["requester-pid"] == .uint32(0))
            let record = try await bench.journal.record("evaluation-ended") {
                $0["LOCALAUTH_REQUESTER"] == "Keeper"
            }
            #expect(record["LOCALAUTH_REQUESTER_PID"] == nil)
            let findings = try await manager.diagnose()
            #expect(!findings.contains { $0["name"] == .string("options") })
        }
    }

    @Test("A requester without a readable name, or of a wrong type, is malformed")
    func malformed() throws {
        #expect(try Requester([:]) == nil)
        let wrong: [Variant] = [
            .string("Keeper"), .dictionary([:]), .dictionary(["pid": .uint32(7)]),
            .dictionary(["name": .string(" \n\u{202E}")]), .dictionary(["name": .uint32(7)]),
            .dictionary(["name": .string("Keeper"), "pid": .string("7")]),
        ]
        for value in wrong {
            #expect(throws: DBusError.self, "\(value)") { try Requester(["requester": value]) }
        }
        let long = Variant.dictionary(["name": .string(String(repeating: "x", count: 5000))])
        #expect(try Requester(["requester": long])?.name.count == DisplayText.titleLimit)
    }
}
