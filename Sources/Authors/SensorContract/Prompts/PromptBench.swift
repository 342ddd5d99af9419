package import BusBench
package import DBus
import Glibc
import LocalAuthBus

/// The description of a prompt under test: how the suite starts it and acts as its user.
package struct PromptFixture: Sendable {
    /// The program and its options, without `--bus`; a name without `/` is looked up beside the
    /// test.
    package var program: [String]
    /// Acts as the user; `isAsked` says whether a prompt is up.
    ///
    /// Nil for a prompt on a terminal, where the suite presses keys.
    package var act: (@BusActor @Sendable (PersonAct, _ isAsked: Bool) async throws -> Void)?
    /// Returns the displayed text; nil for the terminal's screen, unless `act` is set.
    package var seen: (@BusActor @Sendable (_ isAsked: Bool) async throws -> String)?
    /// Variables added to the test's own.
    package var environment: [String: String]
    /// The time limit for exits: one second, plus the machine's delay in reporting it.
    ///
    /// Tests that run many programs at once set a longer limit.
    package var patience: Duration

    package init(
        program: [String],
        environment: [String: String] = [:],
        patience: Duration = .milliseconds(1500)
    ) {
        self.program = program
        self.environment = environment
        self.patience = patience
    }

    /// Uses shell commands to act and look.
    ///
    /// `act` gets the words `type TEXT`, `begin TEXT`, `send`, `cancel`, `fallback` or `confirm`.
    /// `seen` prints the displayed text.
    package mutating func use(act: String?, seen: String?) {
        let environment = environment
        if let command = act {
            self.act = { act, _ in _ = try await Self.shell(command, act.words, environment) }
        }
        if let command = seen {
            self.seen = { _ in try await Self.shell(command, [], environment) }
        }
    }

    @BusActor private static func shell(
        _ command: String,
        _ words: [String],
        _ environment: [String: String]
    ) async throws -> String {
        let program = try ChildProcess(
            ["/bin/sh", "-c", command, "sh"] + words,
            environment: environment
        )
        let ended = try await program.ended(within: .seconds(30))
        try expect(ended.status == 0, "“\(command)” to end with 0, got \(ended)")
        return ended.output
    }
}

/// An action of the user.
package enum PersonAct: Hashable, Sendable {
    /// Types a text and sends it.
    case type(String)
    /// Types a text without sending it.
    case begin(String)
    /// Sends the typed text.
    case send
    case cancel
    case fallback
    case confirm

    /// The words for a shell command.
    fileprivate var words: [String] {
        switch self {
        case .type(let text): ["type", text]
        case .begin(let text): ["begin", text]
        case .send: ["send"]
        case .cancel: ["cancel"]
        case .fallback: ["fallback"]
        case .confirm: ["confirm"]
        }
    }

    /// The keys on a terminal.
    fileprivate var keys: String {
        switch self {
        case .type(let text): text + "\n"
        case .begin(let text): text
        case .send, .fallback, .confirm: "\n"
        case .cancel: "\u{3}"
        }
    }
}

package typealias PromptCheck = ContractCheck<PromptBench>

/// A private bus with a prompt's process on a terminal; the suite plays the service and the user.
@BusActor package final class PromptBench: ContractBench {
    package let fixture: PromptFixture
    package let bus: PrivateBus
    /// The stand-in for the service.
    package private(set) var service: StandInPromptService
    package private(set) var program: ChildProcess
    package let terminal: Pty
    private var watch: EventSource?
    /// Handles of the prompts that are up.
    private var begun: Set<String> = []

    private static let password = Variant.string("application-password")

    /// The default details of every prompt.
    var details: [String: Variant] {
        [
            "sandboxed": .bool(false), "pid": .uint32(UInt32(getpid())), "user": .string("jo"),
            "reason": .string("open the diary"), "policy": .uint32(2),
            "stage": .string("passcode"), "passcode-key": .bytes(service.passcodeKey),
            "biometry-types": .array(element: .uint32, []), "sensors": .strings([]),
            "require-confirmation": .bool(false),
        ]
    }

    /// Starts the prompt's process, and waits until it has registered.
    package init(_ fixture: PromptFixture) async throws {
        self.fixture = fixture
        bus = try PrivateBus()
        terminal = try Pty()
        service = try StandInPromptService(on: bus)
        program = try Self.start(fixture, bus, terminal)
        listen()
        do {
            try await meet()
        } catch {
            await end()
            throw error
        }
    }

    private static func start(
        _ fixture: PromptFixture,
        _ bus: PrivateBus,
        _ terminal: Pty
    ) throws -> ChildProcess {
        let variables = ["LC_ALL": "C.UTF-8"].merging(fixture.environment) { $1 }
        return try ChildProcess(
            fixture.program + ["--bus", bus.address],
            environment: variables,
            terminal: terminal.path
        )
    }

    private func listen() {
        watch = EventLoop.shared.watch(descriptor: terminal.descriptor) { [terminal] in
            terminal.look()
        }
    }

    /// Waits until the process is registered with the present service.
    package func meet() async throws {
        do {
            _ = try await service.acts.first("a registration", within: .seconds(20)) {
                $0 == .registered
            }
            try await eventually("the registered caller to be known") { self.service.agent != nil }
        } catch {
            terminal.look()
            let end = program.isRunning ? "runs" : "has ended"
            throw TestFailure("the prompt did not register, and \(end): \(error)")
        }
    }

    /// The output on the terminal.
    package var output: String { terminal.screen }

    package func end() async {
        watch?.cancel()
        await program.end()
        await bus.end()
    }

    /// Starts a new process after the exit of the last.
    package func startAgain() throws { program = try Self.start(fixture, bus, terminal) }

    /// The pid of the registered process, which a script may have started.
    package func process() async throws -> Int32 {
        try await service.connection.peer(named: service.proxy().destination).pid
    }

    /// Ends the prompt's process and starts a new process.
    package func restart(by signal: Int32) async throws {
        program.signal(signal)
        _ = try await program.exitStatus()
        begun = []
        service.acts.forget()
        try startAgain()
        try await meet()
    }

    /// Disconnects the service.
    package func leave() {
        begun = []
        service.connection.close()
    }

    /// Starts another service; call after ``leave()``.
    package func replaceService() async throws {
        let bus = bus
        var next: StandInPromptService?
        try await eventually("the service's name to be free") {
            next = try? StandInPromptService(on: bus)
            return next != nil
        }
        begun = []
        if let next { service = next }
    }

    /// The time after which an unanswered prompt counts as hung.
    var limit: Duration { max(.seconds(5), fixture.patience * 3) }

    // MARK: The service

    /// Begins a prompt, and waits until it is up.
    ///
    /// - Returns: The prompt's handle.
    package func begin(_ more: [String: Variant] = [:]) async throws -> String {
        let handle = service.nextHandle()
        var details = details.merging(more) { $1 }
        if details["stage"] == Self.password { details["passcode-key"] = nil }
        try await service.proxy().begin(prompt: handle, details: details, timeout: limit)
        begun.insert(handle)
        await settle()
        return handle
    }

    /// Begins a prompt with a sensor at work.
    package func beginLooking(
        policy: UInt32 = 1,
        _ more: [String: Variant] = [:]
    ) async throws -> String {
        let looking: [String: Variant] = [
            "policy": .uint32(policy), "stage": .string("biometry"),
            "biometry-types": .array(element: .uint32, [.uint32(2)]), "sensors": .strings(["Face"]),
        ]
        return try await begin(looking.merging(more) { $1 })
    }

    /// Reports progress to a prompt; returns after the prompt's reply.
    package func update(
        _ handle: String,
        _ kind: String,
        _ detail: [String: Variant] = [:]
    ) async throws {
        try await service.proxy()
            .update(prompt: handle, kind: kind, detail: detail, timeout: limit)
        await settle()
    }

    /// Begins a prompt for an item's own password.
    package func beginPassword() async throws -> String {
        try await begin(["stage": Self.password])
    }

    /// Asks for an item's own password in a prompt that is up.
    package func askPassword(_ handle: String) async throws {
        try await update(handle, "application-password-required")
    }

    package func finish(_ handle: String, _ outcome: String = "success") async throws {
        begun.remove(handle)
        try await service.proxy().end(prompt: handle, outcome: outcome, timeout: limit)
        await settle()
    }

    // MARK: The user

    /// Performs an action, and returns when the prompt has seen it.
    package func act(_ act: PersonAct) async throws {
        if let person = fixture.act {
            try await person(act, !begun.isEmpty)
        } else {
            terminal.type(act.keys)
            // The kernel delivers keys asynchronously and does not report the delivery.
            await pause(.milliseconds(20))
        }
        await settle()
    }

    /// Performs an action, and waits for the prompt's reaction.
    package func act(_ act: PersonAct, until wanted: PromptAct) async throws {
        try await self.act(act)
        do {
            _ = try await service.acts.first("\(wanted)", within: limit * 2) { $0 == wanted }
        } catch {
            throw TestFailure("\(error), and shown was: \((try? await shown()) ?? "nothing")")
        }
    }

    /// Types a login password, and waits for its arrival.
    package func type(_ text: String, in handle: String) async throws {
        try await act(.type(text), until: .passcode(handle, Array(text.utf8)))
    }

    /// Types an item's own password, and waits for its arrival.
    package func typePassword(_ text: String, in handle: String) async throws {
        try await act(.type(text), until: .password(handle, Array(text.utf8)))
    }

    /// Types on a terminal without a prompt, and waits for the echo.
    package func typeAtRest(_ text: String) async throws {
        let terminal = terminal
        terminal.type(text)
        let shown = text.filter { !$0.isNewline }
        try await eventually("“\(shown)” on a terminal that was given back") {
            terminal.look()
            return terminal.screen.contains(shown)
        }
        await settle()
    }

    /// Performs an action that must have no effect.
    package func actInVain(_ act: PersonAct) async throws {
        let before = service.acts.seen
        try await self.act(act)
        let more = service.acts.seen.dropFirst(before.count)
        try expect(more.isEmpty, "no call after \(act), got \(Array(more))")
    }

    /// The displayed text, with white space collapsed.
    package func shown() async throws -> String {
        let text: String
        if let look = fixture.seen {
            text = try await look(!begun.isEmpty)
        } else {
            _ = try requireTerminal()
            terminal.look()
            text = terminal.screen
        }
        return text.split { $0 == " " || $0.isNewline }.joined(separator: " ")
    }

    /// Skips a check that does not apply to a prompt in a window.
    func requireTerminal() throws(NotApplicable) -> Pty {
        guard fixture.act == nil else { throw NotApplicable("the prompt is not on a terminal") }
        return terminal
    }

    /// Waits until the process has read all keys and its calls have arrived.
    ///
    /// The reply to a harmless call arrives after earlier calls of the process. A prompt that reads
    /// no keys while it asks for no input is waited for only briefly.
    package func settle() async {
        for _ in 0..<60 where terminal.isUnread && fixture.act == nil {
            await pause(.milliseconds(5))
        }
        for _ in 0..<2 {
            try? await service.proxy().end(prompt: "none", outcome: "system", timeout: limit)
        }
        terminal.look()
    }
}
