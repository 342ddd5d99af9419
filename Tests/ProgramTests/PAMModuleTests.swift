import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// pam_localauth in a test program, with the real daemon.
@Suite("PAM module", .timeLimit(.minutes(10)))
struct PAMModuleTests {
    private static let question = "told: Touch the fingerprint sensor or enter your password."

    @Test("A finger is recognised during the password prompt, and the process is left unchanged")
    func finger() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let program = try bench.start("wait")
            try await bench.touch(true, of: program)
            let ended = try await program.ended(within: .seconds(60))
            #expect(ended.status == PAMBench.success)
            let lines = ended.output.split(separator: "\n").map(String.init)
            #expect(lines.contains("asked: Password: "))
            // The child process does not repeat the program's buffered output.
            #expect(lines.count { $0 == Self.question } == 1)
            #expect(lines.contains("told: Recognized."))
            #expect(lines.contains("credentials: 0"))
            #expect(!ended.output.contains("changed"), "\(ended.output)")
        }
    }

    @Test(
        "The password goes to the next modules, which decide",
        arguments: [true, false]
    )
    func password(isRight: Bool) async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let passcode = isRight ? PAMService.passcode : "1357"
            let ended = try await bench.authenticate("say \(passcode)")
            #expect(ended.status == (isRight ? PAMBench.success : PAMBench.refused))
            #expect(ended.output.ranges(of: "asked").count == 1)
            #expect(!ended.output.contains("changed"), "\(ended.output)")
        }
    }

    @Test(
        "With the shipped profile, only a finger or the right password succeeds",
        arguments: ["Auth-Initial", "Auth"]
    )
    func profile(block: String) async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            try bench.stack(PAMBench.dialog, block: block)
            for (conversation, status) in [
                ("say \(PAMService.passcode)", PAMBench.success), ("say 1357", PAMBench.refused),
                ("fail", PAMBench.conversationFailed),
            ] {
                let ended = try await bench.authenticate(conversation)
                #expect(ended.status == status, "\(conversation): \(ended.output)")
            }
            let program = try bench.start("wait")
            try await bench.touch(true, of: program)
            let ended = try await program.ended(within: .seconds(60))
            #expect(ended.status == PAMBench.success, "\(ended.output)")
        }
    }

    @Test(
        "A conversation that fails ends the attempt at once, with or without an answer",
        arguments: ["fail", "refuse", "nothing", "huge", "refuse sentences"]
    )
    func wrongConversations(conversation: String) async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let ended = try await bench.authenticate(conversation)
            #expect(ended.status == PAMBench.conversationFailed)
            #expect(ended.output.ranges(of: "asked").count <= 1)
            #expect(!ended.output.contains("changed"), "\(ended.output)")
        }
    }

    @Test("A program with threads gets its own password prompt, or biometry alone")
    func threads() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let password = try await bench.authenticate("threads")
            #expect(password.status == PAMBench.success)
            #expect(!password.output.contains("told"))
            try bench.stack("alone", "biometry-only", takesPasscode: false)
            try await bench.daemon.sensor.queue(outcomes: ["match"])
            let finger = try await bench.authenticate("threads", service: "alone")
            #expect(finger.status == PAMBench.success)
            #expect(finger.output.contains("told: Touch the fingerprint sensor.\n"))
            #expect(!finger.output.contains("changed"), "\(finger.output)")
        }
    }

    @Test("A program without a terminal gets its question first, and sensors after Enter alone")
    func emptyField() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            try await bench.daemon.sensor.queue(outcomes: ["match"])
            let password = try await bench.authenticate(
                "say \(PAMService.passcode)",
                service: "both"
            )
            #expect(password.status == PAMBench.success)
            #expect(!password.output.contains("told"), "\(password.output)")
            #expect(try await bench.daemon.sensor.pending() == ["match"])
            let finger = try await bench.authenticate("say ", service: "both")
            #expect(finger.status == PAMBench.success)
            let lines = finger.output.split(separator: "\n").map(String.init)
            let told = "told: Touch the fingerprint sensor."
            #expect(lines.prefix(3) == ["ready", "asked: Password: ", told])
            #expect(!finger.output.contains("changed"), "\(finger.output)")
        }
    }

    @Test("After Enter alone a face needs no confirmation, and misses lead to another question")
    func emptyFieldMisses() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            try await bench.daemon.sensor.queue(outcomes: ["no-match", "no-match", "no-match"])
            let missed = try await bench.authenticate("say ", service: "both")
            #expect(missed.status == PAMBench.refused, "\(missed.output)")
            #expect(missed.output.ranges(of: "asked").count == 2, "\(missed.output)")
            try await bench.daemon.sensor.setBiometryType(biometryType: 2)
            try await bench.daemon.sensor.setStrength(strength: "convenience")
            try await bench.daemon.sensor.queue(outcomes: ["match"])
            let face = try await bench.authenticate("say ", service: "both")
            #expect(face.status == PAMBench.success, "\(face.output)")
        }
    }

    @Test("Biometry alone: exhausted attempts refuse, and a timeout is unavailable")
    func alone() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            try bench.stack("late", "biometry-only timeout=1", takesPasscode: false)
            let late = try await bench.authenticate("fail", service: "late")
            #expect(late.status == PAMBench.unavailable)
            try bench.stack("alone", "biometry-only", takesPasscode: false)
            try await bench.daemon.sensor.queue(outcomes: ["no-match", "no-match", "no-match"])
            let failed = try await bench.authenticate("fail", service: "alone")
            #expect(failed.status == PAMBench.refused)
            #expect(failed.output.contains("told: Not recognized. 2 attempts are left.\n"))
            // After five misses in a row, no message invites a touch.
            try await bench.daemon.sensor.queue(outcomes: ["no-match", "no-match", "no-match"])
            _ = try await bench.authenticate("fail", service: "alone")
            try await bench.daemon.sensor.queue(outcomes: ["match"])
            let locked = try await bench.authenticate("fail", service: "alone")
            #expect(locked.status == PAMBench.unavailable)
            #expect(!locked.output.contains("told"))
        }
    }

    @Test("Biometry alone: a face is refused at once after its last attempt")
    func faceAlone() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            try await bench.daemon.sensor.setBiometryType(biometryType: 2)
            // A fallback, which no program could use here, would stay on offer until the timeout.
            try bench.stack("alone", "biometry-only timeout=30", takesPasscode: false)
            try await bench.daemon.sensor.queue(outcomes: ["no-match", "no-match"])
            let failed = try await bench.authenticate("fail", service: "alone")
            #expect(failed.status == PAMBench.refused, "\(failed.output)")
        }
    }

    @Test("A typed password is in locked memory, in no core file, and in a protected process")
    func memory() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            // The kernel protects no process of root from root.
            let user = PAMBench.uid
            let words = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups"]
            let launcher = getuid() == 0 ? ["/usr/bin/setpriv"] + words : []
            let program = try bench.start("wait", launcher: launcher)
            try await eventually("a question") { program.output.contains("asked") }
            let maps = try TemporaryFolder.read("/proc/\(program.pid)/smaps")
            let flags = String(decoding: maps, as: UTF8.self).split(separator: "\n")
                .filter { $0.hasPrefix("VmFlags:") }.map { $0.split(separator: " ") }
            // The flags for "locked" and "don't dump".
            #expect(flags.contains { $0.contains("lo") && $0.contains("dd") })
            // The kernel assigns a protected process's files to root.
            #expect(Self.owner(of: program.pid) == user)
            #expect(Self.owner(of: try Self.child(of: program)) == 0)
            try await bench.touch(true, of: program)
            #expect(try await program.exitStatus(within: .seconds(60)) == PAMBench.success)
        }
    }

    /// The owner that the kernel reports for a process's files.
    private static func owner(of process: Int32) -> UInt32? {
        var status = stat()
        return stat("/proc/\(process)/environ", &status) == 0 ? status.st_uid : nil
    }

    /// The child process that runs a program's prompt.
    private static func child(of program: ChildProcess) throws -> Int32 {
        let list = try TemporaryFolder.read("/proc/\(program.pid)/task/\(program.pid)/children")
        let children = String(decoding: list, as: UTF8.self).split(separator: " ")
        return try #require(Int32(children.first ?? ""))
    }

    @Test("A signal that ends the program also ends its prompt")
    func signals() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let noting = try bench.start("wait")
            try await eventually("a question") { noting.output.contains("asked") }
            noting.signal(SIGTERM)
            let ended = try await noting.ended(within: .seconds(60))
            #expect(ended.status == PAMBench.conversationFailed)
            #expect(ended.output.contains(" 1 signals"))
            #expect(!ended.output.contains("changed"), "\(ended.output)")
            let killed = try bench.start("wait")
            try await eventually("a question") { killed.output.contains("asked") }
            let child = try Self.child(of: killed)
            killed.signal(SIGKILL)
            // A zombie process has no `exe`.
            try await eventually("the end of the question") {
                access("/proc/\(child)/exe", F_OK) != 0
            }
        }
    }

    @Test("A helper program of the prompt, for example an askpass, ends with it")
    func askpass() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let program = try bench.start("wait for another")
            try await eventually("a program that asks") { program.output.contains("other: ") }
            let line = try #require(program.output.firstMatch(of: /other: (\d+)/))
            try await bench.touch(true, of: program)
            let ended = try await program.ended(within: .seconds(60))
            #expect(ended.status == PAMBench.success)
            #expect(!ended.output.contains("changed"), "\(ended.output)")
            try await eventually("its end") { access("/proc/\(line.1)/exe", F_OK) != 0 }
        }
    }

    @Test("If the service exits, the password prompt remains")
    func serviceEnds() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let terminal = try Pty()
            let tester = try bench.startTester(on: terminal)
            #expect(terminal.shows("Password: "))
            #expect(terminal.shows("Touch the fingerprint sensor or enter your password."))
            try await bench.daemon.stop()
            #expect(terminal.shows("Enter your password."))
            terminal.type("\(PAMService.passcode)\n")
            #expect(try await tester.exitStatus(within: .seconds(60)) == 0)
        }
    }

    @Test(
        "A password that a later module accepted ends a lockout; a wrong password does not",
        .enabled(if: getuid() == 0, "only root reports unlocks")
    )
    func report() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(
                bus,
                configuration: "[Biometry]\nPasscodeAfterBoot=yes\n"
            )
            for passcode in ["1357", PAMService.passcode] {
                // Biometry needs a password first, so no message invites a touch.
                let ended = try await bench.authenticate("say \(passcode)")
                #expect(ended.output.contains("asked"))
                #expect(!ended.output.contains("told"))
            }
            let program = try bench.start("wait")
            try await bench.touch(true, of: program)
            #expect(try await program.exitStatus(within: .seconds(60)) == PAMBench.success)
        }
    }
}
