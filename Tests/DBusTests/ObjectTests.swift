import DBus
import Testing

@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct ObjectTests {
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let introspectable = "org.freedesktop.DBus.Introspectable"

    @Test("Unknown objects, interfaces and methods have different errors")
    @BusActor
    func unknown() async throws {
        try await withPair { pair in
            let nowhere = ObjectPath(trusted: "/nowhere")
            let above = ObjectPath(trusted: "/org/example")
            #expect(await pair.error("Who", path: nowhere) == .unknownObject)
            #expect(await pair.error("Who", path: above) == .unknownObject)
            #expect(await pair.error("Who", interface: "org.example.Other") == .unknownInterface)
            #expect(await pair.error("Nothing") == .unknownMethod)
            #expect(await pair.error("Nothing", interface: Self.properties) == .unknownMethod)
        }
    }

    @Test("Arguments of another signature are InvalidArgs")
    @BusActor
    func signatures() async throws {
        try await withPair { pair in
            #expect(await pair.error("Add") == .invalidArgs)
            let name = await pair.error("Add", "us") { (writer) throws(DBusError) in
                try writer.write(UInt32(1))
                try writer.write("2")
            }
            #expect(name == .invalidArgs)
            let get = await pair.error("Get", "s", interface: Self.properties) {
                (writer) throws(DBusError) in
                try writer.write("Level")
            }
            #expect(get == .invalidArgs)
        }
    }

    @Test("Properties are read singly and together")
    @BusActor
    func reading() async throws {
        try await withPair { pair in
            let level = try await pair.client.property(
                "Level",
                of: ExampleService.name,
                at: ExampleService.path,
                on: pair.server.uniqueName,
                as: UInt32.self
            )
            #expect(level == 7)
            let all = try await pair.client.properties(
                of: ExampleService.name,
                at: ExampleService.path,
                on: pair.server.uniqueName
            )
            #expect(
                all == [
                    "Level": .uint32(7), "Caller": .string(pair.client.uniqueName),
                    "Version": .string("1"),
                ]
            )
        }
    }

    @Test("Setting a property announces it as its description says")
    @BusActor
    func setting() async throws {
        try await withPair { pair in
            let changes = Collected<(changed: [String: Variant], invalidated: [String])>()
            _ = pair.client.onPropertiesChanged(
                of: ExampleService.name,
                at: ExampleService.path,
                sender: pair.server.uniqueName,
                broadcast: true
            ) { changed, invalidated in
                changes.add((changed, invalidated))
            }
            try await pair.client.setProperty(
                "Level",
                of: ExampleService.name,
                at: ExampleService.path,
                on: pair.server.uniqueName,
                to: UInt32(9)
            )
            #expect(pair.service.level == 9)
            let change = await changes.first(1)[0]
            #expect(change.changed == ["Level": .uint32(9)])
            #expect(change.invalidated == ["Caller"])
        }
    }

    @Test("Each invalid way of setting a property has its own error")
    @BusActor
    func refusing() async throws {
        try await withPair { pair in
            func set(
                _ name: String,
                of interface: String,
                _ value: Variant
            ) async -> DBusError.Name? {
                await pair.error("Set", "ssv", interface: Self.properties) {
                    (writer) throws(DBusError) in
                    try writer.write(interface)
                    try writer.write(name)
                    try writer.write(value)
                }
            }
            let own = ExampleService.name
            #expect(await set("Level", of: own, .string("9")) == .invalidArgs)
            #expect(await set("Level", of: own, .uint32(101)) == .invalidArgs)
            #expect(await set("Version", of: own, .string("2")) == .propertyReadOnly)
            #expect(await set("Nothing", of: own, .string("2")) == .unknownProperty)
            #expect(await set("Level", of: "org.example.Other", .uint32(9)) == .unknownInterface)
            #expect(pair.service.level == 7)
        }
    }

    @Test("Introspection shows docs, standard interfaces and the objects beneath")
    @BusActor
    func introspection() async throws {
        try await withPair { pair in
            let text = try await introspect(pair, ExampleService.path)
            #expect(text.contains("Adds two numbers."))
            for name in ["Introspectable", "Properties", "Peer"] {
                #expect(text.contains("org.freedesktop.DBus.\(name)"))
            }
            #expect(try await introspect(pair, "/").contains("<node name=\"org\"/>"))
            #expect(try await introspect(pair, "/org").contains("<node name=\"example\"/>"))
            #expect(await pair.error("Ping", interface: "org.freedesktop.DBus.Peer") == nil)
        }
    }

    @BusActor
    private func introspect(_ pair: ServedPair, _ path: ObjectPath) async throws -> String {
        try await pair.call("Introspect", path: path, interface: Self.introspectable)
            .read("s") {
                (reader) throws(DBusError) in
                try reader.read(String.self)
            }
    }

    @BusActor
    private func introspect(_ pair: ServedPair, _ path: StaticString) async throws -> String {
        try await introspect(pair, ObjectPath(trusted: path))
    }

    @Test("An object manager lists managed objects, and announces changes")
    @BusActor
    func objectManager() async throws {
        try await withPair { pair in
            let manager = "org.freedesktop.DBus.ObjectManager"
            let thing = ObjectPath(trusted: "/org/example/Test1/thing/a")
            pair.server.serveObjectManager(at: ExampleService.path)
            let seen = Collected<String>()
            _ = pair.client.subscribe(
                sender: pair.server.uniqueName,
                path: ExampleService.path,
                interface: manager,
                member: nil,
                broadcast: true
            ) { message in
                seen.add("\(message.member ?? "") \(message.signature)")
            }
            pair.server.export(thing, [ExampleService(pair.server)], managed: true)
            let listed = try await pair.call("GetManagedObjects", interface: manager)
                .read(
                    "a{oa{sa{sv}}}"
                ) { (reader) throws(DBusError) in
                    try reader.read([ObjectPath: [String: [String: Variant]]].self)
                }
            #expect(Array(listed.keys) == [thing])
            #expect(listed[thing]?[ExampleService.name]?["Level"] == .uint32(7))
            pair.server.unexport(thing)
            #expect(
                await seen.first(2) == ["InterfacesAdded oa{sa{sv}}", "InterfacesRemoved oas"]
            )
            #expect(await pair.error("Who", path: thing) == .unknownObject)
        }
    }
}
