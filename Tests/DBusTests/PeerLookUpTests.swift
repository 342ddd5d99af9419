import CSystemd
import TestSupport
import Testing

@testable import DBus

/// Calls of connections that the service doesn't know yet.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct PeerLookUpTests {
    @BusActor
    private static func call(
        of size: Int,
        from sender: String,
        on server: Connection,
        descriptors: Int = 0
    ) throws -> Message {
        var pointer: OpaquePointer?
        sd_bus_message_new_method_call(server.bus, &pointer, nil, "/", nil, "Hold")
        let call = Message(
            adopting: try #require(pointer),
            descriptors: descriptors,
            size: size
        )
        sd_bus_message_set_sender(call.pointer, sender)
        sd_bus_message_seal(call.pointer, 1, 0)
        return call
    }

    @Test("L21: what all send before they are known has one bound, beside a little of each")
    @BusActor
    func sum() async throws {
        try await PrivateBus.run { bus in
            let server = try bus.connect()
            server.serveStrangers()
            // In one turn: the bus has answered nothing.
            for number in 0..<40 {
                let name = ":1.\(9000 + number)"
                server.receive(call: try Self.call(of: 1024 * 1024, from: name, on: server))
                #expect(server.lookUps[name] != nil)
            }
            let most = MessageLimits.heldBytesOfUnknown
            #expect(most / 2..<most ~= server.lookUpBytes)
            server.receive(call: try Self.call(of: 1024, from: ":1.8000", on: server))
            #expect(server.lookUps[":1.8000"]?.calls.count == 1)
            // Of whom nothing is known, nothing would bound the errors.
            server.receive(call: try Self.call(of: 1024 * 1024, from: ":1.8000", on: server))
            #expect(server.lookUps[":1.8000"]?.calls.count == 1)
            #expect(server.lookUps[":1.8000"]?.refused.isEmpty == true)
            for _ in 0..<5 {
                let count = MessageLimits.descriptors
                server.receive(
                    call: try Self.call(of: 0, from: ":1.8001", on: server, descriptors: count)
                )
            }
            #expect(server.lookUps[":1.8001"]?.calls.count == 4)
            try await eventually("everybody to be looked up") { server.lookUps.isEmpty }
            #expect(server.lookUpBytes == 0)
        }
    }

    @Test("L21: the bus is asked again to tell who leaves when its answer got lost")
    @BusActor
    func lostMatch() async throws {
        try await PrivateBus.run { bus in
            let (server, client) = (try bus.connect(), try bus.connect())
            server.serveStrangers()
            // In one turn: the bus has answered neither this nor who the caller is.
            server.receive(call: try Self.call(of: 0, from: client.uniqueName, on: server))
            for _ in 0..<2 {
                let asked = server.pending.values.filter {
                    $0 !== server.lookUps[client.uniqueName]?.question
                }
                try #require(asked.count == 1)
                asked[0].finish(.failure(DBusError(.noReply, "")))
            }
            #expect(server.lookUps[client.uniqueName]?.calls.count == 1)
            try await eventually("it to be known") { server.peers[client.uniqueName] != nil }
            let name = client.uniqueName
            client.close()
            try await eventually("the server to hear that it left") { server.peers[name] == nil }
        }
    }

    @Test("L21: a first call without room is refused when it is known whose it is, and no other")
    @BusActor
    func refusal() async throws {
        try await PrivateBus.run { bus in
            let (server, client) = (try bus.connect(), try bus.connect())
            server.serveStrangers()
            server.export(ExampleService.path, [ExampleService(server)])
            let bytes = [UInt8](repeating: 0, count: MessageLimits.bytes)
            let error = await #expect(throws: DBusError.self) {
                _ = try await client.call(
                    to: server.uniqueName,
                    path: ExampleService.path,
                    interface: ExampleService.name,
                    member: "Who",
                    signature: "aay"
                ) { (writer) throws(DBusError) in
                    try writer.write([[UInt8]](repeating: bytes, count: 5))
                }
            }
            #expect(error?.name == .limitsExceeded)
            _ = try await client.call(
                to: server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Who"
            )
        }
    }
}
