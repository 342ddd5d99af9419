import TestSupport
import Testing

@testable import DBus

/// Calls of connections that the service has not identified yet.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct PeerLookUpTests {
    @BusActor
    private static func call(
        of size: Int = 0,
        from sender: String,
        on server: Connection
    ) throws -> Message {
        try LocalCall.make(on: server, from: sender, "ay") { (writer) throws(DBusError) in
            try writer.write([UInt8](repeating: 0, count: size))
        }
    }

    @Test("L21: calls of all unidentified senders share a limit, beside a little for each")
    @BusActor
    func sum() async throws {
        try await PrivateBus.run { bus in
            let server = try bus.connect()
            // In one turn, so that no answer of the bus arrives.
            for number in 0..<40 {
                let name = ":1.\(9000 + number)"
                server.receive(call: try Self.call(of: 1_000_000, from: name, on: server))
            }
            #expect(server.directory.lookUps.count == 16)
            server.receive(call: try Self.call(of: 1024, from: ":1.8000", on: server))
            #expect(server.directory.lookUps[":1.8000"]?.calls.count == 1)
            server.receive(call: try Self.call(of: 1_000_000, from: ":1.8000", on: server))
            #expect(server.directory.lookUps[":1.8000"]?.calls.count == 1)
            try await eventually("everybody to be looked up") { server.directory.lookUps.isEmpty }
            #expect(server.directory.lookUpBytes == 0)
        }
    }

    @Test("L21: the match for leaving peers is added again if the bus's answer gets lost")
    @BusActor
    func lostMatch() async throws {
        try await PrivateBus.run { bus in
            let (server, client) = (try bus.connect(), try bus.connect())
            let name = client.uniqueName
            // In one turn: the bus has answered neither the match nor the look-up.
            server.receive(call: try Self.call(from: name, on: server))
            for _ in 0..<2 {
                let questions = server.directory.lookUps[name]?.questions ?? []
                let asked = server.outgoing.pending.values.filter { call in
                    !questions.contains { $0 === call }
                }
                try #require(asked.count == 1)
                asked[0].finish(.failure(DBusError(.noReply, "")))
            }
            #expect(server.directory.lookUps[name]?.calls.count == 1)
            try await eventually("it to be known") { server.directory.peers[name] != nil }
            client.close()
            try await eventually("the server to hear that it left") {
                server.directory.peers[name] == nil
            }
        }
    }

    @Test("L31: a first call without room is refused, and the next call is answered")
    @BusActor
    func refusal() async throws {
        try await withPair { pair in
            let bytes = [UInt8](repeating: 0, count: MessageLimits.bytes)
            let error = await pair.error("Who", "aay") { (writer) throws(DBusError) in
                try writer.write([[UInt8]](repeating: bytes, count: 5))
            }
            #expect(error == .limitsExceeded)
            #expect(await pair.error("Who") == nil)
        }
    }
}
