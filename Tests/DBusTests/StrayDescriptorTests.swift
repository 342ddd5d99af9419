import Glibc
import Linux
import TestSupport
import Testing

@testable import DBus

/// Descriptors that nobody asked for, on a bus.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct StrayDescriptorTests {
    /// A message with descriptors that it has no use for.
    struct Stray: Sendable, CustomTestStringConvertible {
        let kind: RawClient.Kind
        let path: String
        let interface: String
        let member: String
        var signature = ""
        var body: [UInt8] = []
        /// Whether sd-bus hands it over at all.
        var isValid = true

        var testDescription: String { "\(kind) \(member)" }
    }

    private static let refused = DBusError.Name.invalidArgs.rawValue

    static let everything = [
        Stray(
            kind: .call,
            path: "/org/example/Test1",
            interface: "org.example.Test1",
            member: "Who"
        ),
        // One of the 16 is used.
        Stray(
            kind: .call,
            path: "/org/example/Test1",
            interface: "org.example.Test1",
            member: "Measure",
            signature: "h",
            body: [0, 0, 0, 0]
        ),
        Stray(
            kind: .call,
            path: "/org/example/Test1",
            interface: "org.example.Test1",
            member: "Nonsense"
        ),
        Stray(kind: .call, path: "/", interface: "org.freedesktop.DBus.Peer", member: "Ping"),
        Stray(
            kind: .call,
            path: "/org/example/Test1",
            interface: "org.freedesktop.DBus.Introspectable",
            member: "Introspect"
        ),
        Stray(
            kind: .call,
            path: "/org/example/Test1",
            interface: "org.freedesktop.DBus.Properties",
            member: "GetAll",
            signature: "s",
            body: [0, 0, 0, 0, 0]
        ),
        Stray(kind: .signal, path: "/a", interface: "org.example.Test1", member: "Event"),
        Stray(kind: .answer, path: "/a", interface: "org.example.Test1", member: "Event"),
        // dbus-daemon takes a path of any length, sd-bus drops the message.
        Stray(
            kind: .call,
            path: "/" + String(repeating: "a", count: 70_000),
            interface: "org.example.Test1",
            member: "Dropped",
            isValid: false
        ),
    ]

    @Test(
        "L21: descriptors that no argument uses are refused, and closed at once",
        arguments: everything
    )
    @BusActor
    func strays(stray: Stray) async throws {
        try await PrivateBus.run { bus in
            let server = try bus.connect()
            server.export(ExampleService.path, [ExampleService(server)])
            let client = try RawClient(bus.address)
            let file = try Files.holding([1])
            try client.send(
                stray.kind,
                to: server.uniqueName,
                path: stray.path,
                interface: stray.interface,
                member: stray.member,
                signature: stray.signature,
                body: stray.body,
                descriptor: file,
                count: MessageLimits.descriptors
            )
            if stray.kind == .call, stray.isValid { try await expectRefusal(client) }
            // What comes after it is served as ever.
            try client.send(
                to: server.uniqueName,
                path: "/org/example/Test1",
                interface: "org.example.Test1",
                member: "Refuse"
            )
            let answer = try await Self.receive("Not today.", client)
            #expect(!answer.contains(Self.refused))
            #expect(DescriptorTests.openEnds(of: file) == 1)
        }
    }

    @Test("L21: a call with descriptors that no argument uses sets no property")
    @BusActor
    func property() async throws {
        try await PrivateBus.run { bus in
            let server = try bus.connect()
            let service = ExampleService(server)
            server.export(ExampleService.path, [service])
            let client = try RawClient(bus.address)
            let file = try Files.holding([1])
            var body = RawValues()
            body.append(ExampleService.name)
            body.append("Level")
            body.append(raw: [1, UInt8(ascii: "u"), 0])
            body.append(UInt32(9))
            for count in [1, 0] {
                #expect(service.level == 7)
                try client.send(
                    to: server.uniqueName,
                    path: ExampleService.path.rawValue,
                    interface: StandardInterface.properties,
                    member: "Set",
                    signature: "ssv",
                    body: body.bytes,
                    descriptor: file,
                    count: count
                )
                if count > 0 { try await expectRefusal(client) }
            }
            try await eventually("the property to be set") { service.level == 9 }
        }
    }

    @BusActor
    private func expectRefusal(_ client: RawClient) async throws {
        let answer = try await Self.receive("no argument uses", client)
        #expect(answer.contains(Self.refused))
    }

    /// Reads on another thread: the service is on the loop's.
    private nonisolated static func receive(
        _ text: String,
        _ client: RawClient
    ) async throws -> String {
        try await Task.detached { try client.receive(until: text) }.value
    }

    @Test("L21: a call that waits keeps what it has read, and no descriptor of its message")
    @BusActor
    func waiting() async throws {
        try await PrivateBus.run { bus in
            let server = try bus.connect()
            let service = ExampleService(server)
            server.export(ExampleService.path, [service])
            let client = try bus.connect()
            let file = try Files.holding([1])
            let call = try Self.keep(file, server, client)
            try await eventually("the call to wait") { service.kept == 1 }
            // The test's own, and the one that the method has; sd-bus's copy to send may still be.
            try await eventually("the copies to be closed") {
                DescriptorTests.openEnds(of: file) == 2
            }
            service.release.set()
            _ = try await call.reply()
            try await eventually("the last copy to be closed") {
                DescriptorTests.openEnds(of: file) == 1
            }
        }
    }

    @Test("L21: descriptors in use are counted for a user over its connections, and come back")
    @BusActor
    func allowance() async throws {
        try await PrivateBus.run { bus in
            let server = try bus.connect()
            let service = ExampleService(server)
            server.export(ExampleService.path, [service])
            let clients = try (0..<4).map { _ in try bus.connect() }
            let file = try Files.holding([1])
            let calls = try (0..<MessageLimits.descriptorsOfUser)
                .map { try Self.keep(file, server, clients[$0 % 3]) }
            try await eventually("the calls to wait") { service.kept == calls.count }
            // So often that there would be no room for any, if what is refused took some.
            for _ in 0..<MessageLimits.descriptorsOfUser {
                let refusal = await #expect(throws: DBusError.self) {
                    _ = try await Self.keep(file, server, clients[3]).reply()
                }
                #expect(refusal?.name == .limitsExceeded)
            }
            #expect(service.kept == calls.count)
            service.release.set()
            for call in calls { _ = try await call.reply() }
            _ = try await Self.keep(file, server, clients[3]).reply()
        }
    }

    @BusActor
    private static func keep(
        _ file: OwnedDescriptor,
        _ server: Connection,
        _ client: Connection
    ) throws(DBusError) -> PendingCall {
        try client.startCall(
            to: server.uniqueName,
            path: ExampleService.path,
            interface: ExampleService.name,
            member: "Keep",
            signature: "h",
            // It waits while many others are made, on a busy machine for long.
            timeout: .seconds(600)
        ) { (writer) throws(DBusError) in try writer.write(file) }
    }
}
