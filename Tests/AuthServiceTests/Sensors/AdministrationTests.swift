import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

/// Plays polkit.
@BusActor
final class ScriptedPolkit {
    struct Question: Equatable, Sendable {
        let kind: String
        let name: String?
        let action: String
        let flags: UInt32
    }

    /// The reply to a call.
    enum Word: Sendable {
        case yes, no, challenge
        /// A reply with a wrong signature.
        case nonsense
        case error
        /// No reply.
        case silence
    }

    var word = Word.no
    let questions = EventRecorder<Question>()
    /// The cancellation ids of the calls.
    let cancellations = EventRecorder<String>()
    /// The cancellation ids that were canceled.
    let withdrawn = EventRecorder<String>()
    let connection: Connection

    init(on connection: Connection) throws {
        self.connection = connection
        let path = ObjectPath(trusted: "/org/freedesktop/PolicyKit1/Authority")
        connection.export(path, [PolkitInterface(polkit: self)])
        try connection.requestName("org.freedesktop.PolicyKit1")
    }
}

private struct PolkitInterface: ServedInterface {
    unowned let polkit: ScriptedPolkit

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
        properties: [],
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
        switch polkit.word {
        case .nonsense:
            call.answer(.now(true), "b") { value, writer throws(DBusError) in
                try writer.write(value)
            }
        case .error:
            throw DBusError("org.freedesktop.PolicyKit1.Error.Failed", "It can't be said.")
        case .silence:
            call.answer(
                Answer<Bool>
                    .later { () throws(DBusError) in
                        await pause(.seconds(600))
                        return true
                    },
                "b"
            ) { value, writer throws(DBusError) in try writer.write(value) }
        case .yes, .no, .challenge:
            call.answer(.now(polkit.word), "(bba{ss})") { word, writer throws(DBusError) in
                try writer.structure("bba{ss}") { writer throws(DBusError) in
                    try writer.write(word == .yes)
                    try writer.write(word == .challenge)
                    try writer.write([String: String]())
                }
            }
        }
    }

    private static func question(
        _ call: IncomingCall
    ) throws(DBusError) -> (ScriptedPolkit.Question, cancellation: String) {
        try call.read("(sa{sv})sa{ss}us") { reader throws(DBusError) in
            let subject = try reader.structure("sa{sv}") { reader throws(DBusError) in
                (try reader.read(String.self), try reader.read([String: Variant].self))
            }
            let action = try reader.read(String.self)
            _ = try reader.read([String: String].self)
            let flags = try reader.read(UInt32.self)
            let question = ScriptedPolkit.Question(
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
    ) throws(DBusError) {}

    func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {}
}

/// Calls for other users without root, which polkit decides.
///
/// The caller is the user nobody. The other user is the user that runs the test.
@Suite(
    "Authorization by polkit",
    .enabled(if: getuid() == 0, "needs a second user"),
    .timeLimit(.minutes(10))
)
struct AdministrationTests {
    // Some tests run on the loop, which must have started before.
    init() { EventLoop.shared.startThread() }

    private typealias Call = @BusActor @Sendable (ServiceBench, Connection) async throws -> Void

    /// All calls that ask polkit, with their action.
    @BusActor private static let calls: [(action: String, call: Call)] = [
        (
            "org.localauth.remove-others",
            { bench, app in
                let list = try await bench.device(on: app)
                    .listTemplates(options: ["uid": .uint32(0)])
                try expect(list.count == 1, "expected one template")
            }
        ),
        (
            "org.localauth.enroll-others",
            { bench, app in
                try await bench.device(on: app)
                    .renameTemplate(id: "template0", label: "x", options: ["uid": .uint32(0)])
            }
        ),
        (
            "org.localauth.require-passcode-others",
            { bench, app in
                try await bench.manager(app).requirePasscode(uid: 0, cause: "test")
            }
        ),
        (
            "org.localauth.remove-others",
            { bench, app in
                try await bench.device(on: app)
                    .removeTemplate(id: "template0", options: ["uid": .uint32(0)])
            }
        ),
        (
            "org.localauth.remove-others",
            { bench, app in
                _ = try await bench.device(on: app)
                    .removeAllTemplates(options: ["uid": .uint32(0)])
            }
        ),
    ]

    /// Returns a sensor with a template of the other user, and the person's connection.
    @BusActor
    private static func prepare(
        _ bench: ServiceBench
    ) async throws -> (ScriptedSensor, Connection) {
        let sensor = try await bench.sensor {
            $0.templates[0] = [Template(id: "template0", label: "", created: 0)]
        }
        return (sensor, try await bench.person().connection)
    }

    @BusActor
    private static func refusal(
        _ call: Call,
        _ bench: ServiceBench,
        _ app: Connection
    ) async -> DBusError.Name? {
        do {
            try await call(bench, app)
            return nil
        } catch let error as DBusError {
            return error.name
        } catch {
            return "org.localauth.Test.Other"
        }
    }

    @Test("A caller that polkit authorizes may act as root, and polkit is asked each time")
    func allowed() async throws {
        try await ServiceBench.run { bench in
            let (sensor, app) = try await Self.prepare(bench)
            let polkit = try ScriptedPolkit(on: bench.bus.connect())
            polkit.word = .yes
            for (action, call) in Self.calls {
                try await call(bench, app)
                #expect(
                    polkit.questions.seen.last
                        == .init(
                            kind: "system-bus-name",
                            name: app.uniqueName,
                            action: action,
                            flags: 1
                        )
                )
            }
            #expect(polkit.questions.seen.count == Self.calls.count)
            #expect(sensor.templates[0]?.isEmpty != false)
            #expect(try await bench.canEvaluate().code != 0)
            // The answer is not cached.
            polkit.word = .no
            for (_, call) in Self.calls {
                #expect(await Self.refusal(call, bench, app) == .accessDenied)
            }
        }
    }

    @Test("An enrolment for another user needs polkit's authorization and no password")
    func enrolment() async throws {
        try await ServiceBench.run { bench in
            let (sensor, app) = try await Self.prepare(bench)
            let polkit = try ScriptedPolkit(on: bench.bus.connect())
            let device = bench.device(on: app)
            let refusal = await #expect(throws: DBusError.self) {
                try await device.enroll(label: "x", options: ["uid": .uint32(0)])
            }
            #expect(refusal?.name == .accessDenied)
            #expect(sensor.count(of: "Enroll") == 0)
            polkit.word = .yes
            let call = try device.enrollStream(label: "x", options: ["uid": .uint32(0)])
            let operation = try await sensor.operation()
            operation.succeed("template1")
            #expect(try await call.reply() == "template1")
            #expect(polkit.questions.seen.map(\.action).last == "org.localauth.enroll-others")
        }
    }

    @Test(
        "No, a challenge, an invalid reply, an error and a missing polkit refuse",
        arguments: [ScriptedPolkit.Word.no, .challenge, .nonsense, .error, nil]
    )
    func refused(_ word: ScriptedPolkit.Word?) async throws {
        try await ServiceBench.run { bench in
            let (sensor, app) = try await Self.prepare(bench)
            let polkit = try word.map { word in
                let polkit = try ScriptedPolkit(on: bench.bus.connect())
                polkit.word = word
                return polkit
            }
            for (_, call) in Self.calls {
                #expect(await Self.refusal(call, bench, app) == .accessDenied)
            }
            #expect(polkit?.questions.seen.count ?? Self.calls.count == Self.calls.count)
            #expect(sensor.templates[0]?.count == 1)
            #expect(sensor.count(of: "RemoveTemplate") + sensor.count(of: "RenameTemplate") == 0)
        }
    }

    @Test("A program of another user that owns polkit's name is not trusted")
    func impostor() async throws {
        try await ServiceBench.run { bench in
            let (sensor, app) = try await Self.prepare(bench)
            let polkit = try ScriptedPolkit(
                on: try Connection(.address(Person.address(bench.bus)))
            )
            polkit.word = .yes
            for (_, call) in Self.calls {
                #expect(await Self.refusal(call, bench, app) == .accessDenied)
            }
            #expect(polkit.questions.seen.count == Self.calls.count)
            #expect(sensor.templates[0]?.count == 1)
        }
    }

    @Test("A silent polkit costs its caller's timeout and blocks no other user")
    func silence() async throws {
        try await ServiceBench.run { bench in
            let (sensor, app) = try await Self.prepare(bench)
            let polkit = try ScriptedPolkit(on: bench.bus.connect())
            polkit.word = .silence
            let device = bench.device(on: app)
            let options: [String: Variant] = ["uid": .uint32(0), "timeout": .uint64(60_000)]
            let hanging = try device.enrollStream(label: "x", options: options)
            _ = try await polkit.questions.first("a question") { _ in true }
            // A user has one question at a time.
            #expect(await Self.refusal(Self.calls[0].call, bench, app) == .limitsExceeded)
            // Other users, and the user's own calls, still work.
            #expect(try await bench.device().listTemplates(options: [:]).count == 1)
            #expect(try await device.listTemplates(options: [:]).isEmpty)
            #expect(try await bench.canEvaluate(as: app).code == -7)
            try await device.cancelEnroll()
            let refusal = await #expect(throws: DBusError.self) { try await hanging.reply() }
            #expect(refusal?.name == .appCancel)
            let id = try await polkit.withdrawn.first("the question to be withdrawn") { _ in true }
            #expect(polkit.cancellations.seen == [id])
            // The place is free again.
            let short: [String: Variant] = ["uid": .uint32(0), "timeout": .uint64(1)]
            let late = await #expect(throws: DBusError.self) {
                try await device.removeAllTemplates(options: short)
            }
            #expect(late?.name == .accessDenied)
            #expect(Set(polkit.cancellations.seen).count == 2)
            #expect(sensor.templates[0]?.count == 1)
        }
    }

    @Test("The action file describes all actions in three languages")
    func actions() throws {
        let root = #filePath.split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" }
        let file = root + "/dbus/polkit/org.localauth.policy"
        let text = String(decoding: try TemporaryFolder.read(file), as: UTF8.self)
        for action in Administration.Action.allCases {
            #expect(text.contains("<action id=\"\(action.rawValue)\">"))
        }
        let count = Administration.Action.allCases.count
        for language in ["de", "zh_CN"] {
            #expect(text.ranges(of: "<message xml:lang=\"\(language)\">").count == count)
            #expect(text.ranges(of: "<description xml:lang=\"\(language)\">").count == count)
        }
        // polkit answers a caller other than root only for actions that it owns.
        #expect(text.ranges(of: "unix-user:localauth<").count == count)
        // An administrator must authenticate, even in an active session.
        for (who, word) in [
            ("any", "auth_admin"), ("inactive", "auth_admin"), ("active", "auth_admin_keep"),
        ] {
            #expect(text.ranges(of: "<allow_\(who)>").count == count)
            #expect(text.ranges(of: "<allow_\(who)>\(word)</allow_\(who)>").count == count)
        }
    }

    @Test("On a session bus polkit is never asked, even if a program owns its name")
    @BusActor
    func sessionBus() async throws {
        try await PrivateBus.run { bus in
            let polkit = try ScriptedPolkit(on: bus.connect())
            polkit.word = .yes
            let settings = bus.folder + "/localauth.conf"
            try TemporaryFolder.write(settings, "".utf8)
            _ = try bus.run(
                ["\(ChildProcess.folder)/localauthd", "--bus", "session", "--config", settings]
                    + ["--state-directory", bus.folder + "/state"],
                environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address]
            )
            let owner = try #require(try await bus.waitForOwner(of: TestDaemon.name))
            let app = try Connection(.address(Person.address(bus)))
            defer { app.close() }
            let manager = Authentication1Proxy(app, destination: owner, path: TestDaemon.root)
            await expectName(.accessDenied) {
                try await manager.requirePasscode(uid: 0, cause: "test")
            }
            #expect(polkit.questions.seen.isEmpty)
        }
    }
}
