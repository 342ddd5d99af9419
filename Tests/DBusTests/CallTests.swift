import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct CallTests {
    @Test("Every basic type survives a round trip")
    @BusActor
    func basicTypes() async throws {
        try await withPair { pair in
            let reply = try await pair.call("Basic", "bynqiuxtdsog") { (writer) throws(DBusError) in
                try BasicValues().write(to: &writer)
            }
            let values = try reply.read("bynqiuxtdsog") { (reader) throws(DBusError) in
                try BasicValues(from: &reader)
            }
            #expect(values == BasicValues())
        }
    }

    @Test("Every kind of container survives a round trip")
    @BusActor
    func containers() async throws {
        try await withPair { pair in
            let signature = "ayasaua{sv}aa{sv}(is)va{us}"
            let reply = try await pair.call("Containers", signature) {
                (writer) throws(DBusError) in
                try ContainerValues().write(to: &writer)
            }
            let values = try reply.read(signature) { (reader) throws(DBusError) in
                try ContainerValues(from: &reader)
            }
            #expect(values == ContainerValues())
        }
    }

    @Test("A method answers now or later", arguments: ["Add", "AddLater"])
    @BusActor
    func answers(member: String) async throws {
        try await withPair { pair in
            let reply = try await pair.call(member, "uu") { (writer) throws(DBusError) in
                try writer.write(UInt32(2))
                try writer.write(UInt32(3))
            }
            let sum = try reply.read("u") { (reader) throws(DBusError) in
                try reader.read(UInt32.self)
            }
            #expect(sum == 5)
        }
    }

    @Test("An error that a method throws is the reply, now or later")
    @BusActor
    func errors() async throws {
        try await withPair { pair in
            #expect(await pair.error("Refuse") == "org.example.Error.No")
            #expect(await pair.error("RefuseLater") == "org.example.Error.Later")
        }
    }

    @Test("A call without a reply ends with its timeout")
    @BusActor
    func timeout() async throws {
        try await withPair { pair in
            #expect(await pair.error("Hold", timeout: .milliseconds(5)) == .noReply)
        }
    }

    @Test("A call is answered if both sides stood still beyond its timeout")
    @BusActor
    func standstill() async throws {
        try await withPair { pair in
            // Makes the service identify its caller.
            #expect(await pair.error("Who") == nil)
            let call = try pair.client.startCall(
                to: pair.server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Hold",
                timeout: .milliseconds(50)
            )
            // The loop serves both sides, so both stand still.
            poll(nil, 0, 400)
            // Due after the call's timeout, which has passed too.
            _ = EventLoop.shared.schedule(after: .zero) {
                for held in pair.service.held {
                    held.answer(.now(()), "") { (_, _) throws(DBusError) in }
                }
            }
            _ = try await call.reply()
        }
    }

    @Test("Canceling the task ends the call")
    @BusActor
    func cancellation() async throws {
        try await withPair { pair in
            let failure = Collected<DBusError.Name?>()
            let task = onLoop { failure.add(await pair.error("Wait")) }
            await pair.service.started.wait()
            task.cancel()
            #expect(await failure.first(1) == [.noReply])
        }
    }

    @Test("R30: a call that the service forgets is answered with Failed")
    @BusActor
    func forgotten() async throws {
        try await withPair { pair in
            #expect(await pair.error("Forget") == .failed)
            let held = Collected<DBusError.Name?>()
            onLoop { held.add(await pair.error("Hold")) }
            while pair.service.held.isEmpty {
                _ = try await pair.call("Who")
            }
            pair.service.held = []
            #expect(await held.first(1) == [.failed])
        }
    }

    @Test("An answer that cannot be encoded is Failed")
    @BusActor
    func unencodable() async throws {
        try await withPair { pair in
            #expect(await pair.error("Unencodable") == .failed)
        }
    }

    @Test("Progress comes before the reply, and the stream ends with it")
    @BusActor
    func progress() async throws {
        try await withPair { pair in
            let call: StreamingCall<UInt32> = try pair.client.stream(
                to: pair.server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Progress",
                signature: "u",
                matching: .call
            ) { (writer) throws(DBusError) in
                try writer.write(UInt32(3))
            } reply: { message throws(DBusError) in
                try message.read("u") { (reader) throws(DBusError) in
                    try reader.read(UInt32.self)
                }
            }
            #expect(try await call.reply() == 3)
            var steps: [UInt32?] = []
            for await event in call.events {
                steps.append(event.detail["step"]?.asUInt32)
            }
            #expect(steps == [0, 1, 2])
        }
    }

    @Test("Calls fail and peers leave when the bus ends")
    @BusActor
    func disconnection() async throws {
        try await withPair { pair in
            let left = Signal()
            let gone = Signal()
            let failure = Collected<DBusError.Name?>()
            let peer = try await pair.server.peer(named: pair.client.uniqueName)
            _ = peer.onLeave { left.set() }
            pair.client.onDisconnect { gone.set() }
            onLoop { failure.add(await pair.error("Wait")) }
            await pair.service.started.wait()
            kill(pair.bus.pid, SIGKILL)
            #expect(await failure.first(1) == [.disconnected])
            await left.wait()
            await gone.wait()
            await pair.service.canceled.wait()
            #expect(await pair.error("Who") == .disconnected)
        }
    }
}
