import TestSupport
import Testing

@testable import DBus

/// Messages with forged or unrequested contents.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct ForgeryTests {
    private static let name = "org.example.Test1"

    /// Waits until messages sent by `sender` have arrived at `receiver`.
    @BusActor
    private static func arrival(of sender: Connection, at receiver: Connection) async throws {
        _ = try await sender.nameOwner(name)
        _ = try await receiver.nameOwner(name)
    }

    @Test("L16: an error that is not from the callee or the bus is ignored")
    @BusActor
    func forgedError() async throws {
        try await withBus { bus, server, client in
            server.export(ExampleService.path, [ExampleService(server)])
            try await bus.letForgedRepliesThrough()
            let stranger = try bus.connect()
            defer { stranger.close() }
            let call = try client.startCall(
                to: server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Hold"
            )
            try ForgedReply.send(
                to: client.uniqueName,
                serial: call.serial,
                error: "org.example.Error.Forged",
                on: stranger
            )
            try await Self.arrival(of: stranger, at: client)
            call.cancel()
            let error = await #expect(throws: DBusError.self) { _ = try await call.reply() }
            #expect(error?.name == .noReply)
        }
    }

    @Test("L16: the bus may answer for the callee only with an error")
    @BusActor
    func answerInPlaceOfTheCallee() async throws {
        try await withBus { _, server, client in
            server.export(ExampleService.path, [ExampleService(server)])
            let call = try client.startCall(
                to: server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Hold"
            )
            // No bus sends this reply, so hand it over directly.
            let driver = Connection.driver
            client.receive(
                reply: try ForgedReply.received(from: driver, serial: call.serial, on: client)
            )
            #expect(!call.isOver)
            let name = server.uniqueName
            client.receive(
                reply: try ForgedReply.received(from: name, serial: call.serial, on: client)
            )
            #expect(call.isOver)
        }
    }

    @Test("L16: only the bus answers a call to the bus")
    @BusActor
    func forgedAnswerOfTheBus() async throws {
        try await withBus { bus, _, client in
            try await bus.letForgedRepliesThrough()
            let stranger = try bus.connect()
            defer { stranger.close() }
            let before = try client.askBus("GetNameOwner", Connection.driver)
            _ = try await before.reply()
            // The forged reply arrives before the bus's own answer.
            let serial = before.serial + 1
            try ForgedReply.send(to: client.uniqueName, serial: serial, on: stranger)
            try stranger.requestName("org.example.Stranger")
            let question = try client.askBus("GetNameOwner", Connection.driver)
            #expect(question.serial == serial)
            #expect(try await question.reply().sender == Connection.driver)
        }
    }

    @Test("L16: only the bus reports the owner of a name")
    @BusActor
    func forgedOwner() async throws {
        try await withBus { bus, server, client in
            try server.requestName(Self.name)
            let stranger = try bus.connect()
            defer { stranger.close() }
            let owners = Collected<String?>()
            let watch = client.watchName(Self.name) { owners.add($0) }
            #expect(await owners.first(1) == [server.uniqueName])
            stranger.emit(
                path: .bus,
                interface: Connection.driver,
                member: "NameOwnerChanged",
                signature: "sss",
                to: client.uniqueName
            ) { (writer) throws(DBusError) in
                try writer.write(Self.name)
                try writer.write(server.uniqueName)
                try writer.write(stranger.uniqueName)
            }
            try await Self.arrival(of: stranger, at: client)
            #expect(owners.values == [server.uniqueName])
            watch.cancel()
        }
    }

    @Test("A subscription ignores signals of other objects and other names")
    @BusActor
    func otherSignals() async throws {
        try await withBus { _, server, client in
            let seen = Collected<String>()
            let source = client.subscribe(
                sender: server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Event",
                broadcast: false
            ) { seen.add("\($0.path ?? "") \($0.member ?? "")") }
            let other = ObjectPath(trusted: "/other")
            for (path, member) in [
                (other, "Event"), (ExampleService.path, "Other"), (ExampleService.path, "Event"),
            ] {
                server.emit(
                    path: path,
                    interface: ExampleService.name,
                    member: member,
                    to: client.uniqueName
                )
            }
            try await Self.arrival(of: server, at: client)
            #expect(seen.values == ["\(ExampleService.path.rawValue) Event"])
            source.cancel()
        }
    }

    @Test("A subscription ended by an earlier handler gets no further signal")
    @BusActor
    func endedSubscription() async throws {
        try await withBus { _, server, client in
            let seen = Collected<String>()
            let sources = SourceList()
            for number in ["first", "second"] {
                sources.all.append(
                    client.subscribe(
                        sender: server.uniqueName,
                        path: nil,
                        interface: ExampleService.name,
                        member: nil,
                        broadcast: false
                    ) { _ in
                        seen.add(number)
                        for source in sources.all { source.cancel() }
                    }
                )
            }
            server.emit(
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Event",
                to: client.uniqueName
            )
            try await Self.arrival(of: server, at: client)
            #expect(seen.values == ["first"])
        }
    }

    @BusActor
    private final class SourceList {
        var all: [EventSource] = []
    }

    @Test("Property changes of another interface are not reported")
    @BusActor
    func otherProperties() async throws {
        try await withBus { _, server, client in
            let seen = Collected<[String]>()
            let source = client.onPropertiesChanged(
                of: ExampleService.name,
                at: ExampleService.path,
                sender: server.uniqueName,
                broadcast: false
            ) { _, invalidated in seen.add(invalidated) }
            for (interface, property) in [("org.example.Other1", "A"), (ExampleService.name, "B")] {
                server.emit(
                    path: ExampleService.path,
                    interface: StandardInterface.properties,
                    member: "PropertiesChanged",
                    signature: "sa{sv}as",
                    to: client.uniqueName
                ) { (writer) throws(DBusError) in
                    try writer.write(interface)
                    try writer.write([String: Variant]())
                    try writer.write([property])
                }
            }
            try await Self.arrival(of: server, at: client)
            #expect(seen.values == [["B"]])
            source.cancel()
        }
    }

    @Test("A new owner reported before the first answer is reported once")
    @BusActor
    func changeBeforeAnswer() async throws {
        try await withBus { bus, server, client in
            let other = try bus.connect()
            defer { other.close() }
            let old = "org.example.Sensor1.Old"
            try server.requestName(old)
            let seen = Collected<String?>()
            let listed = Signal()
            let watch = client.watchNames(
                under: "org.example.Sensor1",
                { _, owner in seen.add(owner) },
                listed: { listed.set() }
            )
            // Each call waits for the bus while the client reads no messages. The client then finds
            // the list of names, and behind it the change, before it asks for the owners.
            try client.requestName("org.example.Listed")
            server.releaseName(old)
            try server.requestName("org.example.Released")
            try other.requestName(old)
            await listed.wait()
            #expect(seen.values == [nil, other.uniqueName])
            watch.cancel()
        }
    }

    @Test("A call of a standard interface is answered once")
    @BusActor
    func standardAnswers() async throws {
        try await withPair { pair in
            try await pair.bus.letForgedRepliesThrough()
            let call = try pair.client.startCall(
                to: pair.server.uniqueName,
                path: ExampleService.path,
                interface: StandardInterface.peer,
                member: "Ping"
            )
            let serial = call.serial
            let again = PendingCall(serial: serial, destination: nil, isSensitive: false) { _ in }
            // At once, because a second answer would arrive right behind the first.
            call.onEnd { _ in pair.client.outgoing.pending[UInt64(serial)] = again }
            _ = try await call.reply()
            // A second answer would precede the answer to this call.
            #expect(await pair.error("Who") == nil)
            #expect(!again.isOver)
        }
    }

    @Test("Only the first answer of a call is sent")
    @BusActor
    func answers() async throws {
        try await withPair { pair in
            let encoded = Collected<String>()
            for isRefusedFirst in [false, true] {
                let outcome = Collected<String?>()
                onLoop { outcome.add(await pair.error("Hold")?.rawValue) }
                while pair.service.held.isEmpty { #expect(await pair.error("Who") == nil) }
                let call = pair.service.held.removeFirst()
                if isRefusedFirst { call.fail(DBusError("org.example.Error.First", "")) }
                for number in ["first", "second"] {
                    call.answer(.now(number), "") { (number, _) throws(DBusError) in
                        encoded.add(number)
                    }
                    call.fail(DBusError("org.example.Error.Second", ""))
                }
                let first = isRefusedFirst ? "org.example.Error.First" : nil
                #expect(await outcome.first(1) == [first])
            }
            #expect(encoded.values == ["first"])
        }
    }
}
