public import DBus
import Glibc
public import TestSupport

/// Replaces polkit: allows every action unless a test refuses or delays it.
@BusActor public final class StandInPolkit {
    /// The last parts of refused actions, such as `enroll`.
    public var refused: Set<String> = []
    /// True while answers are delayed, as if polkit asked a person.
    public private(set) var isThinking = false
    public let asked = EventRecorder<String>()

    private let connection: Connection
    private let thought = Gate()

    init(_ bus: PrivateBus) throws {
        connection = try bus.connect()
        let path = ObjectPath(trusted: "/org/freedesktop/PolicyKit1/Authority")
        connection.export(path, [AuthorityInterface(polkit: self)])
        try connection.requestName("org.freedesktop.PolicyKit1")
    }

    /// Delays answers until ``decide()``.
    public func think() { isThinking = true }

    /// Sends all delayed answers and stops delaying.
    public func decide() {
        isThinking = false
        thought.open()
    }

    fileprivate func isAuthorized(_ action: String) async throws(DBusError) -> Bool {
        asked.record(action)
        if isThinking { try await thought.wait() }
        return !refused.contains { action.hasSuffix("." + $0) }
    }
}

private struct AuthorityInterface: ServedInterface {
    unowned let polkit: StandInPolkit

    static let description = InterfaceDescription(
        name: "org.freedesktop.PolicyKit1.Authority",
        methods: [
            "CheckAuthorization": .init(
                name: "CheckAuthorization",
                input: "(sa{sv})sa{ss}us",
                output: "(bba{ss})"
            )
        ],
        properties: [
            .init(name: "BackendName", signature: "s", isWritable: false, change: .never),
            .init(name: "BackendVersion", signature: "s", isWritable: false, change: .never),
            .init(name: "BackendFeatures", signature: "u", isWritable: false, change: .never),
        ],
        introspection: #"<interface name="org.freedesktop.PolicyKit1.Authority"/>"#
    )

    func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        let action = try call.read("(sa{sv})sa{ss}us") { reader throws(DBusError) in
            try reader.structure("sa{sv}") { reader throws(DBusError) in
                _ = try reader.read(String.self)
                _ = try reader.read([String: Variant].self)
            }
            return try reader.read(String.self)
        }
        let polkit = polkit
        let answer = Answer<Bool>
            .later { () async throws(DBusError) in
                try await polkit.isAuthorized(action)
            }
        call.answer(answer, "(bba{ss})") { isAuthorized, writer throws(DBusError) in
            try writer.structure("bba{ss}") { writer throws(DBusError) in
                try writer.write(isAuthorized)
                try writer.write(false)
                try writer.write([String: String]())
            }
        }
    }

    func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError) {
        if property == "BackendFeatures" {
            try writer.write(UInt32(1))
        } else {
            try writer.write("stand-in")
        }
    }

    func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }
}
