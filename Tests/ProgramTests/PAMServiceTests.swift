import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Messages that pam_localauth accepts from the service and from other processes on its bus.
@Suite("PAM module and its messages", .timeLimit(.minutes(10)))
struct PAMServiceTests {
    init() { EventLoop.shared.startThread() }

    /// Answers each evaluation at once.
    @BusActor private final class HastyService {
        var mechanism = "passcode"
        var refusal: DBusError?
        /// Whether it shows a prompt first, and answers once there is a match.
        var showsPrompt = false
        /// The prompt's types of sensors; each is reported as busy first.
        var types: [UInt32] = []
        /// Whether a confirmation ends in an interruption.
        var isInterrupted = false
        /// The requested timeouts, in milliseconds.
        private(set) var timeouts: [UInt64?] = []
        /// The test records a value here for a match.
        let matches = EventRecorder<Bool>()
        private let service: StandInService

        init(in place: PAMBench) async throws {
            try await place.daemon.stop()
            service = try StandInService(place.bus)
            service.evaluation = { [unowned self] caller, options throws(DBusError) in
                try await answer(caller, options)
            }
        }

        var reports: EventRecorder<String> { service.reports }

        private func answer(
            _ caller: String,
            _ options: [String: Variant]
        ) async throws(DBusError) -> [String: Variant] {
            if let refusal { throw refusal }
            // The module checks whether biometry is available before it asks on a terminal.
            if options["interaction-not-allowed"] != nil {
                throw DBusError(.notInteractive, "The module may ask.")
            }
            timeouts.append(options["timeout"]?.asUInt64)
            if showsPrompt { try await prompt(caller) }
            return ["mechanism": .string(mechanism)]
        }

        private func prompt(_ caller: String) async throws(DBusError) {
            let kinds = Variant.array(element: .uint32, types.map { .uint32($0) })
            let path = ObjectPath(trusted: "/org/localauth/Agent1")
            let agent = Agent1Proxy(service.connection, destination: caller, path: path)
            try await agent.begin(prompt: "prompt", details: ["biometry-types": kinds])
            for type in types { tell("sensor-busy", ["biometry-type": .uint32(type)], to: caller) }
            tell("prompt-shown", to: caller)
            _ = try? await matches.first("a match", within: .seconds(60)) { $0 }
            guard isInterrupted else { return }
            tell("confirmation-required", to: caller)
            while await service.next() != .confirmed {}
            throw DBusError(.systemCancel, "Something came first.")
        }

        private func tell(
            _ kind: String,
            _ details: [String: Variant] = [:],
            to caller: String
        ) {
            Authentication1Signals(service.connection, path: TestDaemon.root)
                .event(kind: kind, detail: details, to: caller)
        }
    }

    @Test("A reply with a mechanism other than biometry recognises no user")
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

    @Test("The service looks for 30 seconds, or for the option's time: 1 to 600")
    @BusActor func timeouts() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let service = try await HastyService(in: bench)
            let cases: [(option: String, seconds: UInt64)] = [
                ("", 30), ("timeout=1", 1), ("timeout=600", 600), ("timeout=0", 30),
                ("timeout=601", 30), ("timeout=5s", 30), ("timeout=", 30),
            ]
            for (option, _) in cases {
                try bench.stack(PAMBench.dialog, option)
                _ = try await bench.authenticate("say \(PAMService.passcode)")
            }
            #expect(service.timeouts == cases.map { $0.seconds * 1000 })
        }
    }

    @Test("Each type of sensor has its own messages, for its use and for a busy sensor")
    @BusActor func sensors() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let service = try await HastyService(in: bench)
            (service.showsPrompt, service.mechanism, service.types) = (true, "biometry", [1, 2, 4])
            service.matches.record(true)
            let ended = try await bench.authenticate("wait")
            #expect(ended.status == PAMBench.success)
            let told = ended.output.split(separator: "\n").filter { $0.hasPrefix("told: ") }
            let busy = ["the fingerprint reader", "the camera", "the sensor"]
                .map { "told: Another program uses \($0)." }
            #expect(
                told.map(String.init) == busy + [
                    "told: Use one of your sensors or enter your password.", "told: Recognized.",
                ]
            )
        }
    }

    @Test("A failure before any sensor looked does not count as the user's failure")
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
        "The module reports exactly the passwords that it left to later modules",
        .enabled(if: getuid() == 0, "only root reports unlocks")
    )
    @BusActor func reports() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let service = try await HastyService(in: bench)
            for (options, word, credentials, count) in [
                ("", PAMService.passcode, "", 1), ("", "1357", "", 0),
                ("no-report", PAMService.passcode, "", 0),
                ("biometry-only", PAMService.passcode, "", 0),
                // Programs also delete credentials after a wrong password, and refresh them later.
                ("", "1357", "delete", 0), ("", PAMService.passcode, "refresh", 1),
            ] {
                let before = service.reports.seen.count
                try bench.stack("reporting", options)
                let ended = try await bench.authenticate(
                    "say \(word)",
                    service: "reporting",
                    environment: ["PAM_CLIENT_CREDENTIALS": credentials]
                )
                let isRight = word == PAMService.passcode
                #expect((ended.status == PAMBench.success) == isRight, "\(ended.output)")
                let reports = service.reports.seen.count - before
                #expect(reports == count, "\(options) \(word) \(credentials): \(ended.output)")
            }
            #expect(service.reports.seen.allSatisfy { $0 == "passcode" })
            // The password is root's, and the module does not act for root.
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

    @Test("The service decides whether a confirmed match counts")
    @BusActor func interrupted() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let service = try await HastyService(in: bench)
            (service.showsPrompt, service.isInterrupted) = (true, true)
            try bench.stack("plain", takesPasscode: false)
            let terminal = try Pty()
            let tester = try bench.startTester(on: terminal, service: "plain")
            // The service runs in this process, so don't block. Text typed before the prompt turns
            // off the echo is lost.
            try await eventually("a question") {
                terminal.look()
                return terminal.screen.contains("Password: ")
            }
            service.matches.record(true)
            try await eventually("a match that waits") {
                terminal.look()
                return terminal.screen.contains("Press Enter to confirm.")
            }
            try await eventually("an Enter that is taken") {
                terminal.type("\n")
                terminal.look()
                return !tester.isRunning
            }
            #expect(try await tester.exitStatus(within: .seconds(60)) != 0)
            #expect(!terminal.screen.contains("Recognized.\r\n"))
        }
    }

    @Test("A reply counts only from the service's own connection")
    @BusActor func forgedAnswers() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            try await bus.letForgedRepliesThrough()
            let terminal = try Pty()
            let tester = try bench.startTester(on: terminal)
            #expect(terminal.shows("Password: "))
            #expect(terminal.shows("Touch the fingerprint sensor or enter your password."))
            let program = try #require(try await Self.name(of: tester, asked: bus.connect()))
            var success = RawValues()
            success.array(aligned: 8) { entry in
                entry.append("mechanism")
                entry.append(raw: [1, UInt8(ascii: "s"), 0])
                entry.append("biometry")
            }
            let stranger = try RawClient(bus.address)
            for number in UInt32(1)...20 {
                try stranger.send(
                    .answer,
                    to: program,
                    interface: nil,
                    member: "Evaluate",
                    signature: "a{sv}",
                    body: success.bytes,
                    answering: number
                )
            }
            try await eventually("what comes of them") {
                terminal.look()
                return terminal.screen.contains("Enter your password.") || !tester.isRunning
            }
            terminal.type("\(PAMService.passcode)\n")
            #expect(try await tester.exitStatus(within: .seconds(60)) == 0)
            terminal.look()
            #expect(!terminal.screen.contains("Recognized."))
        }
    }

    @Test("Only the bus may report the service's user")
    @BusActor func forgedOwner() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            try await bus.letForgedRepliesThrough()
            try await bench.daemon.stop()
            let (impostor, observer) = (try RawClient(bus.address), try bus.connect())
            var name = RawValues()
            name.append(TestDaemon.name)
            name.append(UInt32(0))
            try Self.ask(impostor, "RequestName", "su", name.bytes)
            try await bus.waitForOwner(of: TestDaemon.name)
            try bench.stack(PAMBench.dialog, "no-report")
            let tester = try bench.start("say \(PAMService.passcode)")
            var found: String?
            try await eventually("a connection") {
                found = try? await Self.name(of: tester, asked: observer)
                return found != nil
            }
            let program = try #require(found)
            // The program's first call, which looks for the service.
            _ = try impostor.receive(until: program)
            // Stop the program, so that all forged replies arrive before its next call.
            tester.signal(SIGSTOP)
            try await eventually("a stop") { try Self.isStopped(tester) }
            for number in UInt32(1)...8 {
                try impostor.send(
                    .answer,
                    to: program,
                    interface: nil,
                    member: "GetConnectionUnixUser",
                    signature: "u",
                    body: [0, 0, 0, 0],
                    answering: number
                )
            }
            try Self.ask(impostor, "GetId")
            _ = try impostor.receive(until: "org.freedesktop.DBus")
            tester.signal(SIGCONT)
            let ended = try await tester.ended(within: .seconds(60))
            #expect(ended.status == PAMBench.success, "\(ended.output)")
            #expect(!ended.output.contains("told"))
            try await eventually("the bus to have seen it leave") {
                try await observer.nameOwner(program) == nil
            }
            try Self.ask(impostor, "GetId")
            let heard = try impostor.receive(until: "org.freedesktop.DBus")
            #expect(!heard.contains("RegisterAgent") && !heard.contains("Evaluate"))
        }
    }

    private static func isStopped(_ program: ChildProcess) throws -> Bool {
        let stat = try TemporaryFolder.read("/proc/\(program.pid)/stat")
        return String(decoding: stat, as: UTF8.self).contains(") T ")
    }

    /// Sends a module an event that only the service may send.
    @BusActor private static func hint(_ module: String, from stranger: Connection) {
        stranger.emit(
            path: TestDaemon.root,
            interface: TestDaemon.name,
            member: "Event",
            signature: "sa{sv}",
            to: module
        ) { (writer) throws(DBusError) in
            try writer.write("hint")
            try writer.write(["hint": Variant.string("center")])
        }
    }

    private static func ask(
        _ client: RawClient,
        _ member: String,
        _ signature: String = "",
        _ body: [UInt8] = []
    ) throws {
        try client.send(
            to: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            member: member,
            signature: signature,
            body: body
        )
    }

    @Test("L16: The module's agent refuses callers other than the service")
    @BusActor func strangers() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let program = try bench.start("wait")
            try await eventually("a question", within: .seconds(60)) {
                program.output.contains("asked")
            }
            let stranger = try bus.connect()
            let agent = try #require(try await Self.name(of: program, asked: stranger))
            Self.hint(agent, from: stranger)
            let calls = [("Begin", "sa{sv}"), ("Update", "ssa{sv}"), ("End", "ss")]
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
                    }
                }
                #expect(error?.name == .accessDenied, "\(member)")
            }
            try await bench.touch(true, of: program)
            #expect(try await program.exitStatus(within: .seconds(60)) == PAMBench.success)
            #expect(!program.output.contains("Center your finger"))
        }
    }

    /// A program's unique name on the bus.
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
