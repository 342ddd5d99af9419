import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// What pam_localauth believes of the service, and of others on its bus.
@Suite("PAM module and what it is told", .timeLimit(.minutes(10)))
struct PAMServiceTests {
    init() { EventLoop.shared.startThread() }

    /// Answers each evaluation at once, and takes down what is reported.
    @BusActor private final class HastyService: ServedInterface {
        nonisolated static let description = InterfaceDescription(
            name: Authentication1.interface,
            methods: [
                "RegisterAgent": .init(name: "RegisterAgent", input: "oa{sv}", output: "s"),
                "Evaluate": .init(name: "Evaluate", input: "usa{sv}", output: "a{sv}"),
                "ReportUnlock": .init(name: "ReportUnlock", input: "us", output: ""),
            ],
            properties: [],
            introspection: #"<interface name="org.localauth.Authentication1"/>"#
        )

        var mechanism = "passcode"
        /// What it answers instead.
        var refusal: DBusError?
        let reports = Witness<String>()

        init(in place: PAMBench) async throws {
            try await place.daemon.stop()
            let connection = try place.bus.connect()
            connection.export(TestDaemon.root, [self])
            try connection.requestName(TestDaemon.name)
        }

        func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
            switch member {
            case "RegisterAgent":
                call.answer(.now("session"), "s") { (session, writer) throws(DBusError) in
                    try writer.write(session)
                }
            case "Evaluate":
                if let refusal { throw refusal }
                let result = ["mechanism": Variant.string(mechanism)]
                call.answer(.now(result), "a{sv}") { (result, writer) throws(DBusError) in
                    try writer.write(result)
                }
            default:
                let method = try call.read("us") { (reader) throws(DBusError) in
                    _ = try reader.read(UInt32.self)
                    return try reader.read(String.self)
                }
                reports.record(method)
                call.answer(.now(()), "") { (_, _) throws(DBusError) in }
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

    @Test("Nobody is recognised by an answer that says another way than biometry")
    @BusActor func otherWays() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let service = try await HastyService(in: bench)
            for mechanism in ["passcode", "companion", "context", "reuse", ""] {
                service.mechanism = mechanism
                let ended = try await bench.authenticate("say \(PAMService.passcode)")
                #expect(ended.status == PAMBench.success)
                #expect(!ended.output.contains("Recognized"), "\(mechanism): \(ended.output)")
                #expect(ended.output.ranges(of: "asked").count == 1, "\(mechanism)")
            }
            service.mechanism = "biometry"
            let ended = try await bench.authenticate("wait")
            #expect(ended.status == PAMBench.success)
            #expect(ended.output.contains("Recognized"), "\(ended.output)")
        }
    }

    @Test("A failure that comes before anybody was asked is none of the person's")
    @BusActor func earlyFailure() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let service = try await HastyService(in: bench)
            service.refusal = DBusError(.authenticationFailed, "Nobody was asked.")
            try bench.stack("alone", "biometry-only", takesPasscode: false)
            let ended = try await bench.authenticate("fail", service: "alone")
            #expect(ended.status == PAMBench.unavailable, "\(ended.output)")
        }
    }

    @Test(
        "A password is reported that this module left to others, and no other, unless it must not",
        .enabled(if: getuid() == 0, "only root reports unlocks")
    )
    @BusActor func reports() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let service = try await HastyService(in: bench)
            for (options, word, count) in [
                ("", PAMService.passcode, 1), ("", "1357", 0),
                ("no-report", PAMService.passcode, 0), ("biometry-only", PAMService.passcode, 0),
            ] {
                let before = service.reports.seen.count
                try bench.stack("reporting", options)
                let ended = try await bench.authenticate("say \(word)", service: "reporting")
                let isRight = word == PAMService.passcode
                #expect((ended.status == PAMBench.success) == isRight, "\(ended.output)")
                #expect(service.reports.seen.count - before == count, "\(options) \(word)")
            }
            #expect(service.reports.seen.allSatisfy { $0 == "passcode" })
            // What was given is root's, with whom the module has nothing to do.
            let before = service.reports.seen.count
            let ended = try await bench.authenticate(
                "say \(PAMService.passcode)",
                environment: ["PAM_CLIENT_NEXT_USER": "root"]
            )
            #expect(ended.status == PAMBench.success)
            #expect(ended.output.ranges(of: "asked").count == 2)
            #expect(service.reports.seen.count == before)
        }
    }

    @Test("L16: others than the service are refused by the module's agent")
    @BusActor func strangers() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let program = try bench.start("wait")
            try await eventually("a question", within: .seconds(60)) {
                program.output.contains("asked")
            }
            let stranger = try bus.connect()
            let agent = try #require(try await Self.name(of: program, asked: stranger))
            stranger.emit(
                path: TestDaemon.root,
                interface: TestDaemon.name,
                member: "Event",
                signature: "sa{sv}",
                to: agent
            ) { (writer) throws(DBusError) in
                try writer.write("hint")
                try writer.write(["hint": Variant.string("center")])
            }
            let (end, _) = try HostileInputTests.descriptorPair()
            let calls = [("Begin", "sa{sv}h"), ("Update", "ssa{sv}"), ("End", "ss")]
            for (member, signature) in calls {
                let error = await #expect(throws: DBusError.self) {
                    _ = try await stranger.call(
                        to: agent,
                        path: ObjectPath(trusted: "/org/localauth/Agent1"),
                        interface: "org.localauth.Agent1",
                        member: member,
                        signature: signature
                    ) { (writer) throws(DBusError) in
                        try writer.write("prompt")
                        if member != "Begin" { try writer.write("success") }
                        if member != "End" { try writer.write([String: Variant]()) }
                        if member == "Begin" { try writer.write(end) }
                    }
                }
                #expect(error?.name == .accessDenied, "\(member)")
            }
            try await bench.touch(true, of: program)
            #expect(try await program.exitStatus(within: .seconds(60)) == PAMBench.success)
            #expect(!program.output.contains("Center your finger"))
        }
    }

    /// The connection of a program.
    @BusActor
    private static func name(
        of program: ChildProcess,
        asked connection: Connection
    ) async throws -> String? {
        let reply = try await connection.call(
            to: "org.freedesktop.DBus",
            path: ObjectPath(trusted: "/org/freedesktop/DBus"),
            interface: "org.freedesktop.DBus",
            member: "ListNames"
        )
        let names = try reply.read("as") { (reader) throws(DBusError) in
            try reader.read([String].self)
        }
        for name in names where name.hasPrefix(":") {
            if try await connection.peer(named: name).pid == program.pid { return name }
        }
        return nil
    }
}
