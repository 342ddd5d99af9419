import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

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
            let polkit = try StandInPolkit(on: bench.bus.connect())
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
            let polkit = try StandInPolkit(on: bench.bus.connect())
            polkit.word = .no
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
        arguments: [StandInPolkit.Word.no, .challenge, .nonsense, .error, nil]
    )
    func refused(_ word: StandInPolkit.Word?) async throws {
        try await ServiceBench.run { bench in
            let (sensor, app) = try await Self.prepare(bench)
            let polkit = try word.map { word in
                let polkit = try StandInPolkit(on: bench.bus.connect())
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
            let polkit = try StandInPolkit(
                on: try Connection(.address(Person.address(bench.bus)))
            )
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
            let polkit = try StandInPolkit(on: bench.bus.connect())
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
            let polkit = try StandInPolkit(on: bus.connect())
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
