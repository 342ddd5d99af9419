package import BusBench
package import DBus

/// Replaces polkit: allows every action unless a test refuses or delays it.
@BusActor package final class StandInPolkit {
    package struct Question: Equatable, Sendable {
        package let kind: String
        package let name: String?
        package let action: String
        package let flags: UInt32

        package init(kind: String, name: String?, action: String, flags: UInt32) {
            (self.kind, self.name, self.action, self.flags) = (kind, name, action, flags)
        }
    }

    /// The reply to a call.
    package enum Word: Sendable {
        case yes, no, challenge
        /// A reply with a wrong signature.
        case nonsense
        case error
        /// No reply.
        case silence
    }

    package var word = Word.yes
    /// The last parts of refused actions, for example `enroll`.
    package var refused: Set<String> = []
    /// True while answers are delayed, as if polkit asked a person.
    package private(set) var isThinking = false
    package let questions = EventRecorder<Question>()
    /// The cancellation ids of the calls.
    package let cancellations = EventRecorder<String>()
    /// The cancellation ids that were canceled.
    package let withdrawn = EventRecorder<String>()
    private let connection: Connection
    private let thought = Gate()

    package init(on connection: Connection) throws {
        self.connection = connection
        let path = ObjectPath(trusted: "/org/freedesktop/PolicyKit1/Authority")
        connection.export(path, [AuthorityInterface(polkit: self)])
        try connection.requestName("org.freedesktop.PolicyKit1")
    }

    /// Delays answers until ``decide()``.
    package func think() { isThinking = true }

    /// Sends all delayed answers and stops delaying.
    package func decide() {
        isThinking = false
        thought.open()
    }

    fileprivate func decision(on action: String) async throws(DBusError) -> Word {
        if isThinking { try await thought.wait() }
        if word == .silence { await never() }
        if word == .error {
            throw DBusError("org.freedesktop.PolicyKit1.Error.Failed", "It can't be said.")
        }
        return refused.contains { action.hasSuffix("." + $0) } ? .no : word
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
            ),
            "CancelCheckAuthorization": .init(
                name: "CancelCheckAuthorization",
                input: "s",
                output: ""
            ),
        ],
        properties: [
            .init(name: "BackendName", signature: "s", isWritable: false, change: .never),
            .init(name: "BackendVersion", signature: "s", isWritable: false, change: .never),
            .init(name: "BackendFeatures", signature: "u", isWritable: false, change: .never),
        ],
        introspection: #"<interface name="org.freedesktop.PolicyKit1.Authority"/>"#
    )

    func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        guard member == "CheckAuthorization" else {
            let id = try call.read("s") { reader throws(DBusError) in
                try reader.read(String.self)
            }
            polkit.withdrawn.record(id)
            return call.answer(.now(()), "") { _, _ throws(DBusError) in }
        }
        let (question, cancellation) = try Self.question(call)
        polkit.questions.record(question)
        polkit.cancellations.record(cancellation)
        guard polkit.word != .nonsense else {
            return call.answer(.now(true), "b") { value, writer throws(DBusError) in
                try writer.write(value)
            }
        }
        let answer = Answer<StandInPolkit.Word>
            .later { [polkit] () async throws(DBusError) in
                try await polkit.decision(on: question.action)
            }
        call.answer(answer, "(bba{ss})") { word, writer throws(DBusError) in
            try writer.structure("bba{ss}") { writer throws(DBusError) in
                try writer.write(word == .yes)
                try writer.write(word == .challenge)
                try writer.write([String: String]())
            }
        }
    }

    private static func question(
        _ call: IncomingCall
    ) throws(DBusError) -> (StandInPolkit.Question, cancellation: String) {
        try call.read("(sa{sv})sa{ss}us") { reader throws(DBusError) in
            let subject = try reader.structure("sa{sv}") { reader throws(DBusError) in
                (try reader.read(String.self), try reader.read([String: Variant].self))
            }
            let action = try reader.read(String.self)
            _ = try reader.read([String: String].self)
            let flags = try reader.read(UInt32.self)
            let question = StandInPolkit.Question(
                kind: subject.0,
                name: subject.1["name"]?.asString,
                action: action,
                flags: flags
            )
            return (question, try reader.read(String.self))
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
}
