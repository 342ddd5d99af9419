import CSystemd
import TestSupport
import Testing

@testable import DBus

/// Connections whose calls are left out, and what has them heard again.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct UnheardTests {
    private typealias Neighbours = TurnTests.Neighbours

    /// A call for nothing that wants no answer; two of them take all the room of a user.
    @BusActor
    private static func half(from sender: String, on server: Connection) throws -> Message {
        var pointer: OpaquePointer?
        sd_bus_message_new_method_call(server.bus, &pointer, nil, "/", nil, "Hold")
        // With what is counted for a call that no bus bounds.
        let size = MessageLimits.heldBytesOfUser / 2 - 64 * 1024
        let call = Message(adopting: try #require(pointer), size: size)
        sd_bus_message_set_sender(call.pointer, sender)
        sd_bus_message_set_expect_reply(call.pointer, 0)
        sd_bus_message_seal(call.pointer, 1, 0)
        return call
    }

    /// Expects that a call of somebody's is served.
    @BusActor
    private static func expectHeard(_ client: RawClient, by all: Neighbours) async throws {
        try client.send(
            to: all.server.uniqueName,
            path: ExampleService.path.rawValue,
            interface: ExampleService.name,
            member: "Hold"
        )
        try await eventually("the call to be served") { all.service.held.count == 1 }
    }

    @Test("L21: who is left out is heard again when enough of its user's calls were served")
    @BusActor
    func served() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            let name = all.greedy.name
            // In one turn: none is served in between.
            for _ in 0..<3 {
                all.server.admit(try Self.half(from: name, on: all.server), of: all.peer)
            }
            #expect(all.peer.user.unheard == [name])
            try await eventually("the calls to be served") {
                all.peer.receiver?.held.isEmpty == true
            }
            try await Self.expectHeard(all.greedy, by: all)
        }
    }

    @Test("L21: who is left out is heard again when another connection of its user has left")
    @BusActor
    func left() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            let other = try RawClient(bus.address)
            let known = Peer(name: other.name, uid: 4242, pid: 1, on: all.server) { uid in
                all.server.allowance(of: uid)
            }
            let peer = try #require(known)
            peer.receiver?.user = peer.user
            all.server.peers[other.name] = peer
            // In one turn: none is served in between.
            let name = all.greedy.name
            for _ in 0..<2 {
                all.server.admit(try Self.half(from: name, on: all.server), of: all.peer)
            }
            all.server.admit(try Self.half(from: other.name, on: all.server), of: peer)
            #expect(peer.user.unheard == [other.name])
            all.server.forgetReceiver(name)
            try await Self.expectHeard(other, by: all)
        }
    }

    @Test("L21: who was left out while it was looked up is heard when it is known who it is")
    @BusActor
    func lookedUp() async throws {
        try await PrivateBus.run { bus in
            let all = try await Neighbours(bus)
            let stranger = try RawClient(bus.address)
            // In one turn: the bus has not answered.
            for _ in 0..<2 {
                all.server.receive(call: try Self.half(from: stranger.name, on: all.server))
            }
            #expect(all.server.lookUps[stranger.name]?.calls.count == 1)
            try await eventually("it to be known") { all.server.lookUps.isEmpty }
            try await Self.expectHeard(stranger, by: all)
        }
    }
}
