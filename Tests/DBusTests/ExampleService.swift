import DBus

/// A service with a member for each task of the runtime.
@BusActor
final class ExampleService: ServedInterface {
    nonisolated static let name = "org.example.Test1"
    nonisolated static let path = ObjectPath(trusted: "/org/example/Test1")

    let connection: Connection
    var level: UInt32 = 7
    var held: [IncomingCall] = []
    let canceled = Signal()
    let started = Signal()
    var waits = 0

    init(_ connection: Connection) {
        self.connection = connection
    }

    func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "Basic": try basic(call)
        case "Containers": try containers(call)
        case "Add": try add(call, isLater: false)
        case "AddLater": try add(call, isLater: true)
        case "EchoLater": try echoLater(call)
        case "Refuse": throw DBusError("org.example.Error.No", "Not today.")
        case "RefuseLater": refuseLater(call)
        case "Wait": wait(call)
        case "Hold": held.append(call)
        case "Forget": break
        case "Unencodable": unencodable(call)
        case "Large": try large(call)
        case "Progress": try progress(call)
        case "Who": who(call)
        default: throw DBusError(.unknownMethod, "There is no such method.")
        }
    }

    func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError) {
        switch property {
        case "Level": try writer.write(level)
        case "Caller": try writer.write(peer?.name ?? "")
        case "Version": try writer.write("1")
        default: throw DBusError(.unknownProperty, "There is no such property.")
        }
    }

    func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {
        let value = try reader.read(UInt32.self)
        guard value <= 100 else { throw DBusError(.invalidArgs, "Too much.") }
        level = value
        connection.propertiesChanged(Self.path, self, ["Level", "Caller", "Version"])
    }

    // MARK: Methods

    private func basic(_ call: IncomingCall) throws(DBusError) {
        let values = try call.read("bynqiuxtdsog") { (reader) throws(DBusError) in
            try BasicValues(from: &reader)
        }
        call.answer(.now(values), "bynqiuxtdsog") { (values, writer) throws(DBusError) in
            try values.write(to: &writer)
        }
    }

    private func containers(_ call: IncomingCall) throws(DBusError) {
        let values = try call.read("ayasaua{sv}aa{sv}(is)va{us}") { (reader) throws(DBusError) in
            try ContainerValues(from: &reader)
        }
        call.answer(.now(values), "ayasaua{sv}aa{sv}(is)va{us}") {
            (values, writer) throws(DBusError) in
            try values.write(to: &writer)
        }
    }

    private func add(_ call: IncomingCall, isLater: Bool) throws(DBusError) {
        let (left, right) = try call.read("uu") { (reader) throws(DBusError) in
            (try reader.read(UInt32.self), try reader.read(UInt32.self))
        }
        let sum = left &+ right
        let answer: Answer<UInt32> =
            isLater
            ? .later { () async throws(DBusError) in
                await pause(.milliseconds(1))
                return sum
            } : .now(sum)
        call.answer(answer, "u") { (sum, writer) throws(DBusError) in try writer.write(sum) }
    }

    private func echoLater(_ call: IncomingCall) throws(DBusError) {
        let text = try call.read("s") { (reader) throws(DBusError) in
            try reader.read(String.self)
        }
        let answer = Answer<String>
            .later { () async throws(DBusError) in
                await pause(.milliseconds(1))
                return text
            }
        call.answer(answer, "s") { (text, writer) throws(DBusError) in try writer.write(text) }
    }

    private func refuseLater(_ call: IncomingCall) {
        let answer = Answer<Void>
            .later { () async throws(DBusError) in
                throw DBusError("org.example.Error.Later", "Not today either.")
            }
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func wait(_ call: IncomingCall) {
        waits += 1
        let answer = Answer<Void>
            .later { () async throws(DBusError) in
                self.started.set()
                await pause(.seconds(600))
                if Task.isCancelled {
                    self.canceled.set()
                }
            }
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func unencodable(_ call: IncomingCall) {
        call.answer(.now("a\0b"), "s") { (text, writer) throws(DBusError) in
            try writer.write(text)
        }
    }

    /// Answers with byte arrays of 1 MiB each, and first emits a signal of them.
    private func large(_ call: IncomingCall) throws(DBusError) {
        let count = try call.read("u") { (reader) throws(DBusError) in
            try reader.read(UInt32.self)
        }
        let bytes = [UInt8](repeating: 7, count: MessageLimits.bytes)
        let arrays = [[UInt8]](repeating: bytes, count: Int(count))
        connection.emit(
            path: Self.path,
            interface: Self.name,
            member: "Grown",
            signature: "aay",
            to: call.peer.name
        ) { (writer) throws(DBusError) in try writer.write(arrays) }
        call.answer(.now(arrays), "aay") { (arrays, writer) throws(DBusError) in
            try writer.write(arrays)
        }
    }

    private func progress(_ call: IncomingCall) throws(DBusError) {
        let count = try call.read("u") { (reader) throws(DBusError) in
            try reader.read(UInt32.self)
        }
        for step in 0..<count {
            connection.emit(
                path: call.path,
                interface: Self.name,
                member: "Event",
                signature: "sa{sv}",
                to: call.peer.name
            ) { (writer) throws(DBusError) in
                try writer.write("step")
                let detail: [String: Variant] = [
                    "step": .uint32(step), "call": .uint32(call.serial),
                ]
                try writer.write(detail)
            }
        }
        call.answer(.now(count), "u") { (count, writer) throws(DBusError) in
            try writer.write(count)
        }
    }

    private func who(_ call: IncomingCall) {
        let peer = call.peer
        call.answer(.now((peer.name, peer.uid, peer.pid)), "sui") {
            (value, writer) throws(DBusError) in
            try writer.write(value.0)
            try writer.write(value.1)
            try writer.write(value.2)
        }
    }
}

extension ExampleService {
    nonisolated static let description = InterfaceDescription(
        name: name,
        methods: Dictionary(
            uniqueKeysWithValues: [
                ("Basic", "bynqiuxtdsog", "bynqiuxtdsog"),
                ("Containers", "ayasaua{sv}aa{sv}(is)va{us}", "ayasaua{sv}aa{sv}(is)va{us}"),
                ("Add", "uu", "u"), ("AddLater", "uu", "u"), ("Refuse", "", ""),
                ("RefuseLater", "", ""), ("Wait", "", ""), ("Hold", "", ""), ("Forget", "", ""),
                ("Unencodable", "", "s"), ("Progress", "u", "u"), ("EchoLater", "s", "s"),
                ("Who", "", "sui"), ("Large", "u", "aay"),
            ]
            .map { ($0.0, .init(name: $0.0, input: $0.1, output: $0.2)) }
        ),
        properties: [
            .init(name: "Level", signature: "u", isWritable: true, change: .value),
            .init(name: "Caller", signature: "s", isWritable: false, change: .invalidates),
            .init(name: "Version", signature: "s", isWritable: false, change: .constant),
        ],
        introspection: """
              <interface name="org.example.Test1">
                <method name="Add">
                  <annotation name="org.gtk.GDBus.DocString" value="Adds two numbers."/>
                  <arg name="left" type="u" direction="in"/>
                  <arg name="right" type="u" direction="in"/>
                  <arg name="sum" type="u" direction="out"/>
                </method>
                <method name="Who">
                  <arg name="name" type="s" direction="out"/>
                  <arg name="uid" type="u" direction="out"/>
                  <arg name="pid" type="i" direction="out"/>
                </method>
                <property name="Level" type="u" access="readwrite"/>
                <property name="Caller" type="s" access="read"/>
                <property name="Version" type="s" access="read"/>
              </interface>
            """
    )
}
