import BusGuard
import Glibc
import Linux
import LocalAuthBus

@testable import DBus
@testable import TestSupport

/// A caller on the other end of a connection that sends calls, answers and signals of any bytes.
///
/// All interfaces are served, all signals have subscribers, and calls are made for every type of
/// answer.
@BusActor
final class MessagePeer {
    static let shared = MessagePeer()

    /// The path of all objects.
    private static let path = ObjectPath(trusted: "/org/localauth/Fuzz")
    /// The name of the caller, known to the connection.
    static let name = ":1.7"

    private struct Member {
        let interface: String
        let name: String
        let signature: String
    }

    private let bus: Bus
    private let refuser = Refuser()
    private let calls: [Member]
    private let properties: [(interface: String, name: String)]
    private var connection: Connection?
    private var socket: OwnedDescriptor?
    private var listening: [EventSource] = []

    private init() {
        guard let bus = try? Bus() else { preconditionFailure("no socket") }
        self.bus = bus
        let descriptions = refuser.interfaces.map { type(of: $0).description }
        let standard = "org.freedesktop.DBus."
        calls =
            descriptions.flatMap { description in
                description.methods.values.sorted { $0.name < $1.name }
                    .map { Member(interface: description.name, name: $0.name, signature: $0.input) }
            } + [
                Member(interface: standard + "Properties", name: "Get", signature: "ss"),
                Member(interface: standard + "Properties", name: "GetAll", signature: "s"),
                Member(interface: standard + "Properties", name: "Set", signature: "ssv"),
                Member(interface: standard + "Introspectable", name: "Introspect", signature: ""),
                Member(interface: standard + "Peer", name: "Ping", signature: ""),
                Member(
                    interface: standard + "ObjectManager",
                    name: "GetManagedObjects",
                    signature: ""
                ),
            ]
        properties = descriptions.flatMap { description in
            description.properties.map { (description.name, $0.name) }
        }
    }

    /// Sends messages that the bytes choose.
    func take(_ bytes: [UInt8]) {
        var input = Foreign(bytes)
        guard let (connection, socket) = try? opened() else {
            preconditionFailure("no connection")
        }
        switch input.byte() % 6 {
        case 0: call(input.one(of: calls), nil, &input, on: socket)
        case 1:
            let signature = String(decoding: input.bytes().map { $0 & 0x7F }, as: UTF8.self)
            call(input.one(of: calls), signature, &input, on: socket)
        case 2: set(&input, on: socket)
        case 3: answer(&input, to: connection, on: socket)
        case 4: signal(&input, on: socket)
        default:
            send(Self.bounded(input.all()), on: socket)
            // The connection may wait for the rest of a message, so close it.
            close()
        }
        if !connection.isOpen || !connection.outgoing.pending.isEmpty { close() }
    }

    /// Limits each part of a message's header to 64 KiB.
    ///
    /// sd-bus allocates as much as a header claims, up to sizes that no bus delivers.
    private static func bounded(_ message: [UInt8]) -> [UInt8] {
        var message = message
        let high = message.first == UInt8(ascii: "B") ? [4, 5, 12, 13] : [6, 7, 14, 15]
        for index in high where index < message.count { message[index] = 0 }
        return message
    }

    // MARK: The connection

    private func opened() throws -> (Connection, OwnedDescriptor) {
        if let connection, let socket { return (connection, socket) }
        let (connection, socket) = try bus.connect()
        let quota = CallQuota(table: [:], limits: [:], bytesPerUser: .max)
        _ = NeighbourGuard(connection, quota: quota)
        let caller = Peer(name: Self.name, uid: getuid(), pid: getpid(), on: connection)
        connection.directory.peers[Self.name] = caller
        connection.export(Self.path, refuser.interfaces)
        connection.serveObjectManager(at: Self.path)
        listen(on: connection)
        (self.connection, self.socket) = (connection, socket)
        serve(socket)
        return (connection, socket)
    }

    private func listen(on connection: Connection) {
        let (name, path) = (Self.name, Self.path)
        let service = Authentication1Proxy(connection, destination: name, path: path)
        let context = Context1Proxy(connection, destination: name, path: path)
        let device = Device1Proxy(connection, destination: name, path: path)
        let sensor = Sensor1Proxy(connection, destination: name, path: path)
        let verifier = Passcode1Proxy(connection, destination: name, path: path)
        listening = [
            service.onEvent { _, _ in }, service.onEvaluated { _ in },
            service.onPropertiesChanged { _, _ in }, sensor.onEvent { _, _, _ in },
            sensor.onTemplatesChanged { _ in }, verifier.onChanged { _ in },
            context.onEvent { _, _ in }, device.onEvent { _, _ in },
        ]
    }

    private func close() {
        for source in listening { source.cancel() }
        connection?.close()
        (connection, socket, listening) = (nil, nil, [])
        EventLoop.shared.serve()
    }

    private func send(_ bytes: [UInt8], on socket: OwnedDescriptor) {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        // Bytes that do not fit are dropped.
        _ = Glibc.send(socket.rawValue, bytes, bytes.count, flags)
        serve(socket)
    }

    /// Returns the bytes that the other side has written.
    @discardableResult
    private func serve(_ socket: OwnedDescriptor) -> [UInt8] {
        // Work that starts in one turn may end in the next.
        for _ in 0..<3 { EventLoop.shared.serve() }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var written: [UInt8] = []
        while true {
            let count = recv(socket.rawValue, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return written }
            written += bytes[..<count]
            EventLoop.shared.serve()
        }
    }

    // MARK: Messages

    private func call(
        _ member: Member,
        _ signature: String?,
        _ input: inout Foreign,
        on socket: OwnedDescriptor
    ) {
        var fields = RawValues()
        fields.field(1, "o", Self.path.rawValue)
        fields.field(2, "s", member.interface)
        fields.field(3, "s", member.name)
        send(1, fields, signature ?? member.signature, input.all(), on: socket)
    }

    private func set(_ input: inout Foreign, on socket: OwnedDescriptor) {
        let property = input.one(of: properties)
        var (fields, body) = (RawValues(), RawValues())
        fields.field(1, "o", Self.path.rawValue)
        fields.field(2, "s", "org.freedesktop.DBus.Properties")
        fields.field(3, "s", "Set")
        body.append(property.interface)
        body.append(property.name)
        body.append(raw: input.all())
        send(1, fields, "ssv", body.bytes, on: socket)
    }

    private func signal(_ input: inout Foreign, on socket: OwnedDescriptor) {
        let (service, sensor) = ("org.localauth.Authentication1", "org.localauth.Sensor1")
        let member = input.one(of: [
            Member(interface: service, name: "Event", signature: "sa{sv}"),
            Member(interface: service, name: "Evaluated", signature: "a{sv}"),
            Member(interface: sensor, name: "Event", signature: "tsa{sv}"),
            Member(interface: sensor, name: "TemplatesChanged", signature: "u"),
            Member(interface: "org.localauth.Passcode1", name: "Changed", signature: "u"),
            Member(
                interface: "org.freedesktop.DBus.Properties",
                name: "PropertiesChanged",
                signature: "sa{sv}as"
            ),
            Member(interface: "org.localauth.Context1", name: "Event", signature: "sa{sv}"),
            Member(interface: "org.localauth.Device1", name: "Event", signature: "sa{sv}"),
        ])
        var (fields, body) = (RawValues(), RawValues())
        fields.field(1, "o", Self.path.rawValue)
        fields.field(2, "s", member.interface)
        fields.field(3, "s", member.name)
        if member.name == "PropertiesChanged" { body.append(service) }
        body.append(raw: input.all())
        send(4, fields, member.signature, body.bytes, on: socket)
    }

    /// Makes the connection send a call, and answers the call.
    private func answer(
        _ input: inout Foreign,
        to connection: Connection,
        on socket: OwnedDescriptor
    ) {
        let question = input.one(of: Questions.all)
        onLoop { try? await question.ask(connection, Self.path) }
        let written = serve(socket)
        guard written.count >= 12 else { preconditionFailure("nothing was asked") }
        // The serial follows the type, the flags and the size of the body.
        let serial = written[8..<12].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        var fields = RawValues()
        let isError = input.byte() % 8 == 0
        if isError { fields.field(4, "s", "org.localauth.Error.\(input.text())") }
        fields.field(5, serial)
        send(isError ? 3 : 2, fields, isError ? "s" : question.answer, input.all(), on: socket)
    }

    private func send(
        _ kind: UInt8,
        _ fields: RawValues,
        _ signature: String,
        _ body: [UInt8],
        on socket: OwnedDescriptor
    ) {
        var fields = fields
        fields.field(7, "s", Self.name)
        send(Bus.message(kind, fields, signature, body), on: socket)
    }
}
