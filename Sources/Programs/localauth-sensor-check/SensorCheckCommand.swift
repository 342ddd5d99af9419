import ArgumentParser
import BusBench
import DBus
import SensorContract
import Synchronization

/// Checks a sensor or a prompt against the whole contract with the service.
@main struct SensorCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "localauth-sensor-check",
        abstract:
            "Checks that a sensor or a prompt keeps the contract with the authentication service.",
        usage: """
            localauth-sensor-check [options] COMMAND...
            localauth-sensor-check --agent [options] COMMAND...
            localauth-sensor-check [--agent] --list
            localauth-sensor-check --new NAME --language LANGUAGE
            """,
        discussion: """
            Starts COMMAND with “--bus ADDRESS” added, once for each check, on a bus of its \
            own, where this program plays the service. COMMAND must take a name below \
            org.localauth.Sensor1.

            The program touches the sensor by --present. Without that option it uses the \
            interface org.localauth.SimulatedSensor1 of the sensor's object. Other sensors get a \
            line “match” or “no-match” on standard input, and “unplug” or “plug” for the device.

            With --agent COMMAND is a prompt. The prompt gets a terminal of its own, on which this \
            program types. Enter sends typed letters; without letters it confirms or takes the \
            fallback. Ctrl-C cancels. For a prompt in a window, --act acts.

            Exit status: 0 if all checks hold, 1 if a check fails or the program doesn't start or \
            can't be measured, 64 for wrong usage.
            """,
        version: "localauth-sensor-check 0.1.0"
    )

    @Option(
        help: ArgumentHelp(
            "A shell command that touches the sensor; $1 is “match” or “no-match”. The "
                + "command is repeated until the sensor has seen enough.",
            valueName: "command"
        )
    )
    var present: String?

    @Option(
        help: ArgumentHelp(
            "A shell command that takes the device away (“out” as $1) or gives it back "
                + "(“in”).",
            valueName: "command"
        )
    )
    var plug: String?

    @Flag(help: "COMMAND is a prompt, not a sensor.")
    var agent = false

    @Option(
        help: ArgumentHelp(
            "With --agent: a shell command that acts as a person; $1 is “type” or “begin” "
                + "with a text as $2, “send”, “cancel”, “fallback” or “confirm”.",
            valueName: "command"
        )
    )
    var act: String?

    @Option(
        help: ArgumentHelp(
            "With --agent: a shell command that prints the text of the prompt.",
            valueName: "command"
        )
    )
    var seen: String?

    @Flag(help: "The sensor can't be shown a miss.")
    var noMiss = false

    @Option(
        help: ArgumentHelp(
            "The limit for duties of one second, for a busy machine: from 1 to 600 seconds.",
            valueName: "seconds"
        )
    )
    var patience = 1.5

    @Option(help: ArgumentHelp("Only checks with this text in their sentence.", valueName: "text"))
    var only: [String] = []

    @Flag(help: "Write JSON.")
    var json = false

    @Flag(help: "Leave the table of latencies out, as --only does.")
    var noLatency = false

    @Flag(help: "Print the checks with their places in the contract.")
    var list = false

    @Option(
        help: ArgumentHelp(
            "Write a working sensor into a new folder of this name, with the files of an "
                + "installation.",
            valueName: "name"
        )
    )
    var new: String?

    @Option(
        help: ArgumentHelp(
            "The language of the new sensor: python, c, swift or rust.",
            valueName: "language"
        )
    )
    var language = Skeleton.Language.python

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The sensor or prompt, and its own options.", valueName: "command")
    )
    var command: [String] = []

    func validate() throws {
        guard list || new != nil || !command.isEmpty else {
            throw ValidationError(agent ? "Which prompt?" : "Which sensor?")
        }
        guard (1...600).contains(patience) else {
            throw ValidationError("--patience is from 1 to 600 seconds.")
        }
        guard agent || act == nil && seen == nil else {
            throw ValidationError("--act and --seen are for prompts: --agent.")
        }
        guard !agent || present == nil && plug == nil && new == nil && !noMiss else {
            throw ValidationError("--present, --plug, --no-miss and --new are for sensors.")
        }
    }

    /// Rejects an option in the place of the command: the sensor's own options are not parsed.
    private func refuseOptions() throws {
        switch command.first {
        case "--help", "-h": throw CleanExit.helpRequest(self)
        case "--version": throw CleanExit.message(Self.configuration.version)
        case let word? where word.hasPrefix("-"):
            throw ValidationError("Unknown option “\(word)”.")
        default: return
        }
    }

    func run() throws {
        try refuseOptions()
        if let new { return try Skeleton(new, language).write() }
        if agent {
            try runPrompt(try chosen(PromptContractSuite.checks))
        } else {
            try runSensor(try chosen(SensorContractSuite.checks))
        }
    }

    /// The selected checks.
    ///
    /// - Throws: A clean exit once `--list` has printed them.
    private func chosen<Bench>(_ all: [ContractCheck<Bench>]) throws -> [ContractCheck<Bench>] {
        let checks = all.filter { check in
            only.isEmpty || only.contains { check.description.contains($0) }
        }
        guard !checks.isEmpty else { throw ValidationError("No check has this text.") }
        guard list else { return checks }
        for check in checks { print("\(check)\n    \(check.line?.description ?? "")") }
        throw CleanExit.message("")
    }

    private func runSensor(_ checks: [SensorCheck]) throws {
        let touching = Touching(
            present: present,
            plug: plug,
            canMiss: !noMiss,
            patience: .seconds(patience)
        )
        let (words, report) = (command, Report(isJSON: json))
        let measures = !noLatency && only.isEmpty
        try onThisThread {
            let subject = try await Subject(words, touching)
            report.begin(subject)
            await report.make(checks, subject.fixture)
            let isMeasured = measures ? await report.measure(subject.fixture) : true
            return report.end() && isMeasured
        }
    }

    private func runPrompt(_ checks: [PromptCheck]) throws {
        let (words, act, seen, report) = (command, act, seen, Report(isJSON: json))
        let patience = Duration.seconds(patience)
        try onThisThread {
            let program = [try Subject.program(words[0])] + words.dropFirst()
            var described = PromptFixture(program: program, patience: patience)
            described.use(act: act, seen: seen)
            let fixture = described
            // A program that doesn't start would fail every check: report it once.
            try await PromptBench(fixture).end()
            report.begin(fixture)
            await report.make(checks, fixture)
            return report.end()
        }
    }
}

private let exitStatus = Mutex<Int32>(0)

/// Runs a body on the event loop, on this thread, until the body returns.
///
/// - Throws: Always: the exit status.
private func onThisThread(_ body: @escaping @BusActor @Sendable () async throws -> Bool) throws {
    onLoop {
        let status: Int32
        do {
            status = try await body() ? 0 : 1
        } catch {
            complain("localauth-sensor-check: \(error)")
            status = 1
        }
        exitStatus.withLock { $0 = status }
        EventLoop.shared.stop()
    }
    EventLoop.shared.run()
    throw ExitCode(exitStatus.withLock { $0 })
}
