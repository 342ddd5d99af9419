import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// pam_localauth on a terminal, in pamtester.
@Suite("PAM module on a terminal", .timeLimit(.minutes(10)))
struct PAMTerminalTests {
    @Test("After a miss, the user can type the password")
    func mismatch() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let terminal = try Pty()
            let tester = try bench.startTester(on: terminal)
            #expect(terminal.shows("Touch the fingerprint sensor or enter your password."))
            #expect(terminal.shows("Password: "))
            try await bench.daemon.sensor.queue(outcomes: ["no-match"])
            #expect(terminal.shows("Not recognized. 2 attempts are left."))
            terminal.type("\(PAMService.passcode)\n")
            #expect(try await tester.exitStatus(within: .seconds(60)) == 0)
            #expect(!terminal.screen.contains(PAMService.passcode))
            #expect(terminal.isPlain)
        }
    }

    @Test("A half-typed password is neither shown nor left for the shell after a match")
    func halfTyped() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let terminal = try Pty()
            let tester = try bench.startTester(on: terminal)
            #expect(terminal.shows("Password: "))
            terminal.type("half a pass")
            try await bench.daemon.sensor.queue(outcomes: ["match"])
            #expect(terminal.shows("Recognized."))
            #expect(try await tester.exitStatus(within: .seconds(60)) == 0)
            #expect(terminal.isPlain)
            let next = try ChildProcess(
                ["/bin/sh", "-c", "echo then; read line; echo \"[$line]\""],
                terminal: terminal.path
            )
            #expect(terminal.shows("then"))
            terminal.type("typed\n")
            #expect(try await next.exitStatus(within: .seconds(60)) == 0)
            #expect(terminal.shows("[typed]"))
            #expect(!terminal.screen.contains("half"))
        }
    }

    @Test("Ctrl-C ends the program and restores the terminal's echo")
    func interrupted() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let terminal = try Pty()
            let tester = try bench.startTester(on: terminal)
            #expect(terminal.shows("Password: "))
            terminal.type([3])
            #expect(try await tester.exitStatus(within: .seconds(60)) == 128 + SIGINT)
            #expect(terminal.isPlain)
        }
    }

    @Test("Ctrl-\\ ends the program and restores the terminal's echo")
    func quit() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let terminal = try Pty()
            // SIGQUIT would leave a core file.
            let launcher = ["/usr/bin/prlimit", "--core=0:0"]
            let program = try bench.start("terminal", launcher: launcher, terminal: terminal)
            #expect(terminal.shows("asked: Password: "))
            terminal.type([0x1C])
            #expect(try await program.exitStatus(within: .seconds(60)) == 128 + SIGQUIT)
            #expect(terminal.isPlain)
        }
    }

    /// Turns the sensor into a face sensor with the strength "convenience".
    @BusActor private static func weaken(_ bench: PAMBench) async throws {
        try await bench.daemon.sensor.setBiometryType(biometryType: 2)
        try await bench.daemon.sensor.setStrength(strength: "convenience")
    }

    @Test("A face that is not strong counts once the user presses Enter")
    func confirmation() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            try await Self.weaken(bench)
            let terminal = try Pty()
            let tester = try bench.startTester(on: terminal)
            #expect(terminal.shows("Look at the camera or enter your password."))
            #expect(terminal.shows("Password: "))
            try await bench.daemon.sensor.queue(outcomes: ["match"])
            #expect(terminal.shows("Press Enter to confirm."))
            try await Self.confirm(on: terminal, tester)
        }
    }

    /// Presses Enter until accepted: an early Enter is ignored.
    @BusActor private static func confirm(on terminal: Pty, _ tester: ChildProcess) async throws {
        try await eventually("an Enter that is taken") {
            terminal.type("\n")
            terminal.look()
            return !tester.isRunning
        }
        #expect(try await tester.exitStatus(within: .seconds(60)) == 0)
    }

    @Test("Enter right after a match does not confirm, and the prompt appears again")
    func earlyEnter() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            try await Self.weaken(bench)
            var isAskedAgain = false
            // On a busy machine the program may read Enter after the settling time.
            for _ in 0..<8 where !isAskedAgain {
                let terminal = try Pty()
                let tester = try bench.startTester(on: terminal)
                #expect(terminal.shows("Password: "))
                let start = ContinuousClock.now
                try await bench.daemon.sensor.queue(outcomes: ["match"])
                #expect(terminal.shows("Press Enter to confirm."))
                terminal.type("\n")
                try await eventually("what comes of Enter") {
                    terminal.look()
                    isAskedAgain = terminal.screen.ranges(of: "Password: ").count > 1
                    return isAskedAgain || !tester.isRunning
                }
                if isAskedAgain {
                    try await Self.confirm(on: terminal, tester)
                } else {
                    let time = ContinuousClock.now - start
                    try expect(time >= .milliseconds(400), "it was taken after \(time)")
                }
            }
            #expect(isAskedAgain)
        }
    }

    @Test("A password typed in place of Enter is checked")
    func passwordForEnter() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            try await Self.weaken(bench)
            for (word, isRight) in [(PAMService.passcode, true), ("1357", false)] {
                let terminal = try Pty()
                let tester = try bench.startTester(on: terminal)
                #expect(terminal.shows("Password: "))
                try await bench.daemon.sensor.queue(outcomes: ["match"])
                #expect(terminal.shows("Press Enter to confirm."))
                terminal.type("\(word)\n")
                let status = try await tester.exitStatus(within: .seconds(60))
                #expect((status == 0) == isRight)
            }
        }
    }

    /// valgrind logs each process separately, because no process checks the exit status of the
    /// conversation's child.
    @Test(
        "valgrind finds no lost memory and no invalid access",
        arguments: [
            "finger", "terminal", "say \(PAMService.passcode)", "say 1", "nothing", "huge",
        ]
    )
    func valgrind(conversation: String) async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let logs = try TemporaryFolder()
            let launcher = [
                "/usr/bin/valgrind", "--quiet", "--error-exitcode=99", "--leak-check=full",
                "--errors-for-leak-kinds=definite,indirect,possible", "--track-fds=no",
                "--log-file=\(logs.path)/%p",
            ]
            let isFinger = conversation == "finger"
            let terminal = conversation == "terminal" ? try Pty() : nil
            if terminal != nil { try await Self.weaken(bench) }
            let program = try bench.start(
                isFinger ? "wait" : conversation,
                launcher: launcher,
                terminal: terminal
            )
            if isFinger { try await bench.touch(true, of: program) }
            if let terminal {
                #expect(terminal.shows("asked: Password: "))
                try await bench.daemon.sensor.queue(outcomes: ["match"])
                #expect(terminal.shows("told: Press Enter to confirm."))
                try await Self.confirm(on: terminal, program)
            }
            let ended = try await program.ended(within: .seconds(100))
            let expected =
                switch conversation {
                case "say 1": PAMBench.refused
                case "nothing", "huge": PAMBench.conversationFailed
                default: PAMBench.success
                }
            #expect(ended.status == expected, "\(ended.errors)")
            let said = terminal?.screen ?? ended.output
            if isFinger || terminal != nil { #expect(said.contains("told")) }
            let reports = TemporaryFolder.names(in: logs.path)
            #expect(reports.count >= 2, "\(reports)")
            for report in reports {
                #expect(String(decoding: try logs.read(report), as: UTF8.self) == "")
            }
        }
    }
}
