import Glibc
import Linux
import TestSupport
import Testing

@testable import DBus

/// Calls that a bus with the limits of a system bus refuses, because the receiver's queue is full.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct RefusalTests {
    private static let member = "Keep"

    /// Somebody who reads nothing, and for whom the bus keeps more descriptors than it may.
    @BusActor
    private static func fullReceiver(on bus: PrivateBus) throws -> RawClient {
        let receiver = try RawClient(bus.address)
        let file = try Files.holding([1])
        // As many as the bus takes of one sender.
        for _ in 0..<2 {
            let neighbour = try RawClient(bus.address)
            var large = RawValues()
            large.append(UInt32(300_000))
            large.append(raw: [UInt8](repeating: 0, count: 300_000))
            // More than the receiver's socket takes, so that the bus keeps what follows.
            try neighbour.send(
                .signal,
                to: receiver.name,
                interface: "org.example.Test1",
                member: "Large",
                signature: "ay",
                body: large.bytes
            )
            for _ in 0..<3 {
                try neighbour.send(
                    .signal,
                    to: receiver.name,
                    interface: "org.example.Test1",
                    member: "Full",
                    descriptor: file,
                    count: 16
                )
            }
            // Once this is answered the bus has read what came before.
            try neighbour.send(
                to: Connection.driver,
                interface: Connection.driver,
                member: "Nonsense"
            )
            _ = try neighbour.receive(until: "UnknownMethod")
            neighbours.append(neighbour)
        }
        return receiver
    }

    /// They stay, or the bus would drop what they sent.
    @BusActor private static var neighbours: [RawClient] = []

    @BusActor
    private static func call(_ receiver: RawClient, on client: Connection) throws -> PendingCall {
        let file = try Files.holding([1])
        return try client.startCall(
            to: receiver.name,
            path: ExampleService.path,
            interface: "org.example.Test1",
            member: member,
            signature: "sh"
        ) { (writer) throws(DBusError) in
            try writer.write("what is kept")
            try writer.write(file)
        }
    }

    @Test("L21: a call that the bus refuses, for the receiver's queue is full, is sent again")
    @BusActor
    func sentAgain() async throws {
        try await PrivateBus.run { bus in
            let client = try bus.connect()
            let receiver = try Self.fullReceiver(on: bus)
            let call = try Self.call(receiver, on: client)
            let first = call.serial
            try await eventually("a refusal") { call.refusals > 0 }
            let text = try await Task.detached { try receiver.receive(until: "what is kept") }.value
            #expect(text.contains(Self.member))
            #expect(call.serial > first)
            // What is answered now is the answer to the number that was sent last.
            receiver.hangUp()
            await #expect(throws: DBusError.self) { try await call.reply() }
            #expect(client.pending.isEmpty)
        }
    }

    @Test("L21: a call that the bus refuses again and again fails with the bus's reason")
    @BusActor
    func refused() async throws {
        try await PrivateBus.run { bus in
            let client = try bus.connect()
            let receiver = try Self.fullReceiver(on: bus)
            let call = try Self.call(receiver, on: client)
            do throws(DBusError) {
                _ = try await call.reply()
                Issue.record("It was answered.")
            } catch {
                #expect(error.name == .limitsExceeded)
            }
            #expect(call.refusals == 6)
            #expect(client.pending.isEmpty)
            withExtendedLifetime(receiver) {}
        }
    }

    @Test("L21: where strangers are served calls keep their order, and none is sent again")
    @BusActor
    func inOrder() async throws {
        try await PrivateBus.run { bus in
            let server = try bus.connect()
            server.serveStrangers()
            let receiver = try Self.fullReceiver(on: bus)
            let call = try Self.call(receiver, on: server)
            do throws(DBusError) {
                _ = try await call.reply()
                Issue.record("It was answered.")
            } catch {
                #expect(error.name == .limitsExceeded)
            }
            #expect(call.refusals == 0)
            withExtendedLifetime(receiver) {}
        }
    }
}
