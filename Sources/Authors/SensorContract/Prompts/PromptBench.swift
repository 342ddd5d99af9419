package import BusBench
package import DBus
import Glibc
import LocalAuthBus

/// How a suite starts a prompt, and acts as the person at it.
package struct PromptFixture: Sendable {
    /// Program and options, without `--bus`; a name without `/` is looked for beside the test.
    package var program: [String]
    /// Acts as the person, and is told whether a prompt was begun and has not ended.
    ///
    /// Nil: the prompt is on its terminal, where keys are pressed.
    package var act: (@BusActor @Sendable (PersonAct, _ isAsked: Bool) async throws -> Void)?
    /// Says what is shown, likewise; nil: the terminal's screen, unless `act` is set.
    package var seen: (@BusActor @Sendable (_ isAsked: Bool) async throws -> String)?
    /// Variables beside the test's own.
    package var environment: [String: String]
    /// How long it may take to end: a second, and what a machine needs to tell.
    ///
    /// Tests that run many programs at once give it more.
    package var patience: Duration

    /// Describes a prompt to test.
    package init(
        program: [String],
        environment: [String: String] = [:],
        patience: Duration = .milliseconds(1500)
    ) {
        self.program = program
        self.environment = environment
        self.patience = patience
    }

    /// Has shell commands act and look: `type TEXT`, `begin TEXT`, `send`, `cancel`, `fallback` or
    /// `confirm` are the words of the one, and the other prints what is shown.
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

/// What the person does.
package enum PersonAct: Hashable, Sendable {
    /// Types something, and sends it.
    case type(String)
    /// Types something, and leaves it there.
    case begin(String)
    /// Sends what is there.
    case send
    case cancel
    case fallback
    case confirm

    /// What a shell command is told.
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

    /// What is pressed on a terminal.
    fileprivate var keys: String {
        switch self {
        case .type(let text): text + "\n"
        case .begin(let text): text
        case .send, .fallback, .confirm: "\n"
        case .cancel: "\u{3}"
        }
    }
}

/// A check of a prompt.
package typealias PromptCheck = ContractCheck<PromptBench>

/// A private bus with one prompt's process on a terminal; the suite plays the service and the
/// person.
@BusActor package final class PromptBench: ContractBench {
    /// What is tested.
    package let fixture: PromptFixture
    /// Where it runs.
    package let bus: PrivateBus
    /// The service.
    package private(set) var desk: PromptDesk
    /// The prompt's process.
    package private(set) var program: ChildProcess
    /// Its terminal.
    package let terminal: Pty
    private var watch: EventSource?
    /// The prompts that were begun and have not ended.
    private var begun: Set<String> = []

    private static let password = Variant.string("application-password")

    /// What every prompt is about, unless a check says more.
    var details: [String: Variant] {
        [
            "sandboxed": .bool(false), "pid": .uint32(UInt32(getpid())), "user": .string("jo"),
            "reason": .string("open the diary"), "policy": .uint32(2),
            "stage": .string("passcode"), "passcode-key": .bytes(desk.passcodeKey),
            "biometry-types": .array(element: .uint32, []), "sensors": .strings([]),
            "require-confirmation": .bool(false),
        ]
    }

    /// Starts it, and waits until it has registered.
    package init(_ fixture: PromptFixture) async throws {
        self.fixture = fixture
        bus = try PrivateBus()
        terminal = try Pty()
        desk = try PromptDesk(on: bus)
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

    /// Waits until it is registered at the present service.
    package func meet() async throws {
        do {
            _ = try await desk.acts.first("a registration", within: .seconds(20)) {
                $0 == .registered
            }
            try await eventually("who registered to be known") { self.desk.agent != nil }
        } catch {
            terminal.look()
            let end = program.isRunning ? "runs" : "has ended"
            throw TestFailure("it did not register, and \(end): \(error)")
        }
    }

    /// What it wrote to its terminal.
    package var said: String { terminal.screen }

    /// Ends the prompt and the bus.
    package func end() async {
        watch?.cancel()
        await program.end()
        await bus.end()
    }

    /// Starts another process, after the end of the one before.
    package func startAgain() throws { program = try Self.start(fixture, bus, terminal) }

    /// The prompt's own process, which a script may have started.
    package func process() async throws -> Int32 {
        try await desk.connection.peer(named: desk.proxy().destination).pid
    }

    /// Ends the prompt's process and starts another one.
    package func restart(by signal: Int32) async throws {
        program.signal(signal)
        _ = try await program.exitStatus()
        begun = []
        desk.acts.forget()
        try startAgain()
        try await meet()
    }

    /// The service goes, with its connection.
    package func leave() {
        begun = []
        desk.connection.close()
    }

    /// Another service comes; after ``leave()``.
    package func replaceService() async throws {
        let bus = bus
        var next: PromptDesk?
        try await eventually("the service's name to be free") {
            next = try? PromptDesk(on: bus)
            return next != nil
        }
        begun = []
        if let next { desk = next }
    }

    /// How long an answer may take before the prompt counts as hung.
    var limit: Duration { max(.seconds(5), fixture.patience * 3) }

    // MARK: The service

    /// Begins a prompt, and waits until it is up.
    ///
    /// - Returns: its handle.
    package func begin(_ more: [String: Variant] = [:]) async throws -> String {
        let handle = desk.nextHandle()
        var details = details.merging(more) { $1 }
        if details["stage"] == Self.password { details["passcode-key"] = nil }
        try await desk.proxy().begin(prompt: handle, details: details, timeout: limit)
        begun.insert(handle)
        await settle()
        return handle
    }

    /// Begins a prompt in which a sensor looks.
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

    /// Tells what happens in a prompt; returns when that was taken.
    package func update(
        _ handle: String,
        _ kind: String,
        _ detail: [String: Variant] = [:]
    ) async throws {
        try await desk.proxy()
            .update(prompt: handle, kind: kind, detail: detail, timeout: limit)
        await settle()
    }

    /// Begins a prompt for an item's own password.
    package func beginPassword() async throws -> String {
        try await begin(["stage": Self.password])
    }

    /// Asks for an item's own password, in a prompt that is up.
    package func askPassword(_ handle: String) async throws {
        try await update(handle, "application-password-required")
    }

    /// Takes a prompt down.
    package func finish(_ handle: String, _ outcome: String = "success") async throws {
        begun.remove(handle)
        try await desk.proxy().end(prompt: handle, outcome: outcome, timeout: limit)
        await settle()
    }

    // MARK: The person

    /// Does something, and returns when the prompt has seen it.
    package func act(_ act: PersonAct) async throws {
        if let person = fixture.act {
            try await person(act, !begun.isEmpty)
        } else {
            terminal.type(act.keys)
            // The kernel hands keys on behind the call's back, and says nowhere when it has.
            await pause(.milliseconds(20))
        }
        await settle()
    }

    /// Does something, and waits for what the prompt is to make of it.
    package func act(_ act: PersonAct, until wanted: PromptAct) async throws {
        try await self.act(act)
        do {
            _ = try await desk.acts.first("\(wanted)", within: limit * 2) { $0 == wanted }
        } catch {
            throw TestFailure("\(error), and shown was: \((try? await shown()) ?? "nothing")")
        }
    }

    /// Types a password of the login, and waits until it arrives.
    package func type(_ text: String, in handle: String) async throws {
        try await act(.type(text), until: .passcode(handle, Array(text.utf8)))
    }

    /// Types an item's own password, and waits until it arrives.
    package func typePassword(_ text: String, in handle: String) async throws {
        try await act(.type(text), until: .password(handle, Array(text.utf8)))
    }

    /// Types on a terminal on which nothing is asked, and waits until that is shown there.
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

    /// Does something that has to have no effect.
    package func actInVain(_ act: PersonAct) async throws {
        let before = desk.acts.seen
        try await self.act(act)
        let more = desk.acts.seen.dropFirst(before.count)
        try expect(more.isEmpty, "nothing after \(act), got \(Array(more))")
    }

    /// What is shown now, with single blanks.
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

    /// Leaves a check that a prompt in a window can't be put through.
    func requireTerminal() throws(NotApplicable) -> Pty {
        guard fixture.act == nil else { throw NotApplicable("it is not on a terminal") }
        return terminal
    }

    /// Returns when it has read the keys that were pressed, and what it sent has arrived.
    ///
    /// The answer to a call that changes nothing comes behind what it sent before. A prompt that
    /// reads no key while nothing is asked is not waited for long.
    package func settle() async {
        for _ in 0..<60 where terminal.isUnread && fixture.act == nil {
            await pause(.milliseconds(5))
        }
        for _ in 0..<2 {
            try? await desk.proxy().end(prompt: "none", outcome: "system", timeout: limit)
        }
        terminal.look()
    }
}
