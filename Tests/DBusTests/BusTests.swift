import DBus
import Glibc
import Linux
import TestSupport
import Testing

/// Names, peers and signals on a bus.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct BusTests {
    private static let name = "org.example.Test1"

    @Test("A name with an owner cannot be taken")
    @BusActor
    func taken() async throws {
        try await withBus { _, server, client in
            try server.requestName(Self.name)
            do throws(DBusError) {
                try client.requestName(Self.name)
                Issue.record("The name was taken twice.")
            } catch {
                #expect(error.name == .failed)
                #expect(error.message.contains("is taken"))
            }
            let driver = "org.freedesktop.DBus"
            let reply = try await client.call(
                to: driver,
                path: ObjectPath(trusted: "/org/freedesktop/DBus"),
                interface: driver,
                member: "RequestName",
                signature: "su"
            ) { (writer) throws(DBusError) in
                try writer.write(Self.name)
                // DBUS_NAME_FLAG_REPLACE_EXISTING | DBUS_NAME_FLAG_DO_NOT_QUEUE.
                try writer.write(UInt32(2 | 4))
            }
            let result = try reply.read("u") { (reader) throws(DBusError) in
                try reader.read(UInt32.self)
            }
            #expect(result == 3, "it has an owner")
            #expect(try await client.nameOwner(Self.name) == server.uniqueName)
            #expect(try await client.nameOwner("org.example.Nobody") == nil)
        }
    }

    @Test("L1: the bus identifies the caller, not the message")
    @BusActor
    func credentials() async throws {
        try await withBus { bus, server, client in
            server.export(ExampleService.path, [ExampleService(server)])
            let who = try await Self.caller(client, of: server)
            #expect(who == (client.uniqueName, getuid(), getpid()))
            #expect(try await server.peer(named: client.uniqueName).name == client.uniqueName)
            guard getuid() == 0 else { return }
            let stranger = try Connection(.address(Person.address(bus)))
            defer { stranger.close() }
            let other = try await Self.caller(stranger, of: server)
            #expect(other.0 == stranger.uniqueName)
            #expect(other.1 == 65534)
            // The process of the connection is a child of this process.
            #expect(other.2 != getpid() && RunningProgram.parent(of: other.2) == getpid())
            #expect(try await Self.caller(client, of: server) == who)
        }
    }

    /// Returns the caller's name, user and process as the service sees them.
    @BusActor
    private static func caller(
        _ client: Connection,
        of server: Connection
    ) async throws -> (String, UInt32, Int32) {
        let reply = try await client.call(
            to: server.uniqueName,
            path: ExampleService.path,
            interface: ExampleService.name,
            member: "Who"
        )
        return try reply.read("sui") { (reader) throws(DBusError) in
            (
                try reader.read(String.self), try reader.read(UInt32.self),
                try reader.read(Int32.self)
            )
        }
    }

    @Test("Calls that arrive before their sender is known are answered in order")
    @BusActor
    func order() async throws {
        try await withBus { _, server, client in
            server.export(ExampleService.path, [ExampleService(server)])
            // A system bus lets a connection wait for 128 replies.
            let calls = try (0..<120)
                .map { number in
                    try client.startCall(
                        to: server.uniqueName,
                        path: ExampleService.path,
                        interface: ExampleService.name,
                        member: "Add",
                        signature: "uu"
                    ) { (writer) throws(DBusError) in
                        try writer.write(UInt32(number))
                        try writer.write(UInt32(0))
                    }
                }
            var sums: [UInt32] = []
            let readers = calls.map { call in
                onLoop {
                    do throws(DBusError) {
                        let reply = try await call.reply()
                        sums.append(
                            try reply.read("u") { (reader) throws(DBusError) in
                                try reader.read(UInt32.self)
                            }
                        )
                    } catch {
                        Issue.record(error)
                    }
                }
            }
            for reader in readers { await reader.value }
            #expect(sums == (0..<120).map { UInt32($0) })
        }
    }

    @Test("R30: a caller that leaves cancels its running calls")
    @BusActor
    func leaving() async throws {
        try await withBus { bus, server, _ in
            let service = ExampleService(server)
            server.export(ExampleService.path, [service])
            let caller = try bus.connect()
            _ = try caller.startCall(
                to: server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Wait",
                timeout: Connection.noTimeout
            )
            await service.started.wait()
            let peer = try await server.peer(named: caller.uniqueName)
            let left = Signal()
            let forgotten = Signal()
            let kept = peer.onLeave { left.set() }
            peer.onLeave { forgotten.set() }.cancel()
            caller.close()
            await left.wait()
            await service.canceled.wait()
            kept.cancel()
            #expect(peer.hasLeft)
            #expect(!forgotten.isSet)
            await #expect(throws: DBusError.self) {
                try await server.peer(named: peer.name)
            }
            // A late handler is called once too.
            let late = EventRecorder<Bool>()
            _ = peer.onLeave { late.record(true) }
            _ = try await late.first("the end", within: .seconds(60)) { _ in true }
            _ = try await server.nameOwner(Self.name)
            #expect(late.seen == [true])
        }
    }

    @Test("An answered call is never refused, and a refused call is refused once")
    @BusActor
    func refusals() async throws {
        try await withBus { _, server, client in
            let service = ExampleService(server)
            server.export(ExampleService.path, [service])
            let refusals = Collected<String>()
            server.onRefusal = { _, _, error in refusals.add(error.name.rawValue) }
            for isAnswered in [true, false] {
                let asked = try client.startCall(
                    to: server.uniqueName,
                    path: ExampleService.path,
                    interface: ExampleService.name,
                    member: "Hold"
                )
                try await eventually("the call to arrive") { !service.held.isEmpty }
                let call = service.held.removeFirst()
                if isAnswered { call.answer(.now(()), "") { (_, _) throws(DBusError) in } }
                for number in ["First", "Second"] {
                    call.fail(DBusError(.init(rawValue: "org.example.Error.\(number)"), ""))
                }
                _ = try? await asked.reply()
            }
            #expect(refusals.values == ["org.example.Error.First"])
        }
    }

    @Test("L16: signals from unexpected senders are ignored")
    @BusActor
    func forgery() async throws {
        try await withBus { bus, server, client in
            let stranger = try bus.connect()
            defer { stranger.close() }
            let seen = Collected<String>()
            for isBroadcast in [true, false] {
                _ = client.subscribe(
                    sender: server.uniqueName,
                    path: ExampleService.path,
                    interface: ExampleService.name,
                    member: "Event",
                    broadcast: isBroadcast
                ) { seen.add($0.sender ?? "") }
            }
            // The match is in force once the bus answers a later call.
            _ = try await client.nameOwner(Self.name)
            for sender in [stranger, server] {
                for destination in [client.uniqueName, nil] {
                    sender.emit(
                        path: ExampleService.path,
                        interface: ExampleService.name,
                        member: "Event",
                        to: destination
                    )
                }
                _ = try? await sender.nameOwner(Self.name)
            }
            #expect(await seen.first(4) == Array(repeating: server.uniqueName, count: 4))
        }
    }

    @Test("L16: a reply that is not from the callee is ignored")
    @BusActor
    func forgedReply() async throws {
        try await withBus { bus, server, client in
            server.export(ExampleService.path, [ExampleService(server)])
            try server.requestName(Self.name)
            try await bus.letForgedRepliesThrough()
            let stranger = try bus.connect()
            defer { stranger.close() }
            @BusActor func hold(_ destination: String) throws(DBusError) -> PendingCall {
                try client.startCall(
                    to: destination,
                    path: ExampleService.path,
                    interface: ExampleService.name,
                    member: "Hold"
                )
            }
            // The client does not know the owner of the name, so it accepts any reply that the bus
            // delivers.
            let loose = try hold(Self.name)
            try ForgedReply.send(to: client.uniqueName, serial: loose.serial, on: stranger)
            _ = try await loose.reply()
            let call = try hold(server.uniqueName)
            try ForgedReply.send(to: client.uniqueName, serial: call.serial, on: stranger)
            // When both have asked the bus, the reply is sent and read.
            _ = try await stranger.nameOwner(Self.name)
            _ = try await client.nameOwner(Self.name)
            call.cancel()
            do throws(DBusError) {
                _ = try await call.reply()
                Issue.record("A stranger answered.")
            } catch {
                #expect(error.name == .noReply)
            }
        }
    }

    @Test("A watch reports the owner of a name first, then every change")
    @BusActor
    func watching() async throws {
        try await withBus { bus, server, client in
            let owners = Collected<String?>()
            let watch = client.watchName(Self.name) { owners.add($0) }
            #expect(await owners.first(1) == [nil])
            try server.requestName(Self.name)
            #expect(await owners.first(2) == [nil, server.uniqueName])
            let late = Collected<String?>()
            let lateWatch = client.watchName(Self.name) { late.add($0) }
            #expect(await late.first(1) == [server.uniqueName])
            lateWatch.cancel()
            server.releaseName(Self.name)
            #expect(await owners.first(3) == [nil, server.uniqueName, nil])
            watch.cancel()
            #expect(late.values.count == 1)
        }
    }

    @Test("A watch of a prefix reports present names and their changes")
    @BusActor
    func watchingPrefix() async throws {
        try await withBus { _, server, client in
            try server.requestName("org.example.Sensor1.Old")
            try server.requestName("org.example.Sensor10")
            let seen = Collected<String>()
            let watch = client.watchNames(under: "org.example.Sensor1") { name, owner in
                seen.add("\(name) \(owner ?? "-")")
            }
            let owner = server.uniqueName
            #expect(await seen.first(1) == ["org.example.Sensor1.Old \(owner)"])
            try server.requestName("org.example.Sensor1.New")
            server.releaseName("org.example.Sensor1.Old")
            #expect(
                await seen.first(3).suffix(2) == [
                    "org.example.Sensor1.New \(owner)", "org.example.Sensor1.Old -",
                ]
            )
            watch.cancel()
            #expect(try await client.listActivatableNames().contains("org.freedesktop.DBus"))
        }
    }

    @Test("A hidden object exists for its owner only")
    @BusActor
    func hidden() async throws {
        try await withBus { bus, server, client in
            let stranger = try bus.connect()
            defer { stranger.close() }
            let path = ObjectPath(trusted: "/org/example/Test1/secret")
            let owner = try await server.peer(named: client.uniqueName)
            server.export(ExampleService.path, [ExampleService(server)])
            server.export(path, [ExampleService(server)], visibleTo: owner, managed: true)
            server.serveObjectManager(at: ExampleService.path)
            for (connection, isVisible) in [(client, true), (stranger, false)] {
                let view = View(connection: connection, server: server.uniqueName)
                #expect(await view.error("Who", ExampleService.name, path) == expected(isVisible))
                let introspectable = "org.freedesktop.DBus.Introspectable"
                #expect(
                    await view.error("Introspect", introspectable, path) == expected(isVisible)
                )
                #expect(
                    try await view.introspect(ExampleService.path).contains("secret") == isVisible
                )
                #expect(try await view.managed(ExampleService.path).contains(path) == isVisible)
            }
        }
    }

    @BusActor
    private func expected(_ isVisible: Bool) -> DBusError.Name? {
        isVisible ? nil : .unknownObject
    }
}

/// A server as a single connection sees it.
@BusActor
struct View {
    let connection: Connection
    let server: String

    @BusActor
    func error(_ member: String, _ interface: String, _ path: ObjectPath) async -> DBusError.Name? {
        do throws(DBusError) {
            _ = try await connection.call(
                to: server,
                path: path,
                interface: interface,
                member: member
            )
            return nil
        } catch {
            return error.name
        }
    }

    @BusActor
    func introspect(_ path: ObjectPath) async throws -> String {
        try await connection.call(
            to: server,
            path: path,
            interface: "org.freedesktop.DBus.Introspectable",
            member: "Introspect"
        )
        .read("s") { (reader) throws(DBusError) in try reader.read(String.self) }
    }

    @BusActor
    func managed(_ path: ObjectPath) async throws -> [ObjectPath] {
        let reply = try await connection.call(
            to: server,
            path: path,
            interface: "org.freedesktop.DBus.ObjectManager",
            member: "GetManagedObjects"
        )
        return try reply.read("a{oa{sa{sv}}}") { (reader) throws(DBusError) in
            Array(try reader.read([ObjectPath: [String: [String: Variant]]].self).keys)
        }
    }
}
