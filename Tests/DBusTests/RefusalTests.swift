import Glibc
import Linux
import TestSupport
import Testing

@testable import DBus

/// Calls that a bus with the limits of a system bus refuses, because the receiver's queue is full.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct RefusalTests {
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
        }
        return receiver
    }

    @BusActor
    private static func call(
        _ receiver: RawClient,
        on client: Connection
    ) throws -> PendingCall {
        try client.startCall(
            to: receiver.name,
            path: ExampleService.path,
            interface: "org.example.Test1",
            member: "Keep"
        )
    }

    /// Reads until a call has arrived, however slowly: until then it is not refused too often.
    ///
    /// On the loop's thread: the others, where tests without it run, may be taken for a minute.
    @BusActor
    private static func deliver(_ call: PendingCall, to receiver: RawClient) async throws {
        let text = "Keep"
        var last: [UInt8] = []
        try await eventually("the call to arrive") {
            call.refusals = min(call.refusals, 1)
            while let some = receiver.takeSome(), !some.isEmpty {
                // The text may be cut through.
                last = last.suffix(text.utf8.count) + some
                if String(decoding: last, as: UTF8.self).contains(text) { return true }
            }
            return false
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
            try await Self.deliver(call, to: receiver)
            #expect(call.serial > first)
            // Of what was handed over the bus says that it isn't answered.
            receiver.hangUp()
            await expectEnd(of: call, .noReply)
            #expect(client.pending.isEmpty)
        }
    }

    @Test("L21: a refused call that another has followed is not sent again behind it")
    @BusActor
    func followed() async throws {
        try await PrivateBus.run { bus in
            let client = try bus.connect()
            let receiver = try Self.fullReceiver(on: bus)
            // One that is followed before it is refused, and one that is while it waits.
            let calls = try (0..<2).map { _ in try Self.call(receiver, on: client) }
            await expectEnd(of: calls[0], .limitsExceeded)
            #expect(calls[0].refusals == 0)
            try await eventually("a refusal") { calls[1].refusals > 0 }
            let last = try Self.call(receiver, on: client)
            await expectEnd(of: calls[1], .limitsExceeded)
            last.cancel()
            #expect(calls[1].refusals < 6)
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
            await expectEnd(of: call, .limitsExceeded)
            #expect(call.refusals == 6)
            #expect(client.pending.isEmpty)
            withExtendedLifetime(receiver) {}
        }
    }

    @Test("L21: what nobody waits for is sent again as well, and its descriptors with a call")
    @BusActor
    func copies() async throws {
        try await withBus { _, server, client in
            let service = ExampleService(server)
            server.export(ExampleService.path, [service])
            let file = try Files.holding([1])
            client.send(
                to: server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Keep",
                signature: "h"
            ) { (writer) throws(DBusError) in try writer.write(file) }
            let call = try #require(client.pending[client.lastCall])
            // As if the bus had refused it.
            #expect(client.sendAgain(call, after: DBusError(.limitsExceeded, "It is full.")))
            try await eventually("the call and its copy to wait") { service.kept == 2 }
            service.release.set()
            _ = try await call.reply()
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
            await expectEnd(of: call, .limitsExceeded)
            #expect(call.refusals == 0)
            withExtendedLifetime(receiver) {}
        }
    }

    @BusActor
    private func expectEnd(of call: PendingCall, _ name: DBusError.Name) async {
        do throws(DBusError) {
            _ = try await call.reply()
            Issue.record("It was answered.")
        } catch {
            #expect(error.name == name)
        }
    }
}
