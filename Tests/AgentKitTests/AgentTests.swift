import AgentKit
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

private let details: [String: Variant] = [
    "reason": .string("unlock"), "stage": .string("passcode"), "policy": .uint32(2),
    "sandboxed": .bool(false),
]

@Suite(.serialized, .timeLimit(.minutes(10))) struct AgentTests {
    @Test("An agent registers with its scope and receives prompts")
    func registers() async throws {
        try await onBus {
            let desk = try await TestDesktop(serving: .process(77), isFallback: true)
            #expect(await desk.service.next() == .registered(process: 77, isFallback: true))
            let handle = try await desk.service.begin(details)
            try await desk.service.update(handle, "no-match", ["attempts-left": .uint32(2)])
            try await desk.service.update(handle, "dance")
            try await desk.service.end(handle, "success")
            #expect(desk.view.seen == ["begin unlock", "noMatch(attemptsLeft: 2)", "end success"])
        }
    }

    @Test("L33: The agent verifies the calling program itself, whatever name the service sends")
    func asking() async throws {
        try await onBus {
            let desk = try await TestDesktop()
            _ = await desk.service.next()
            let told: [String: Variant] = [
                "app-name": .string("Bank"), "app-icon": .string("bank"),
                "pid": .uint32(UInt32(getpid())),
            ]
            let own = try #require(CallerProgram(pid: UInt32(getpid())))
            #expect(own.path.hasSuffix("/" + own.name))
            _ = try await desk.service.begin(details.merging(told) { $1 })
            let shown = try #require(desk.view.prompts.last).details
            #expect(shown.appName == own.name && shown.program == own && shown.appIcon == "")
            #expect(PromptText.origin(shown) == own.path)
            let facts = PromptText.facts(shown)
            #expect(facts.contains("Process: \(getpid())"))
            let chain = own.ancestors.joined(separator: " ← ")
            #expect(chain.isEmpty || facts.contains("Started by: \(chain)"))
            let child = try ChildProcess(["/bin/sleep", "600"])
            let found = try #require(CallerProgram(pid: UInt32(child.pid)))
            await child.end()
            #expect(found.ancestors.first == own.name)
            #expect(found.ancestors.dropFirst().prefix(3).elementsEqual(own.ancestors.prefix(3)))
            let nobody: [String: Variant] = ["pid": .uint32(UInt32(Int32.max))]
            _ = try await desk.service.begin(
                details.merging(told) { $1 }.merging(nobody) { $1 }
            )
            let hidden = try #require(desk.view.prompts.last).details
            #expect(hidden.program == nil && hidden.appName == "" && hidden.appIcon == "")
            let sandbox: [String: Variant] = [
                "sandboxed": .bool(true), "sandbox-id": .string("org.example.Bank"),
            ]
            _ = try await desk.service.begin(
                details.merging(told) { $1 }.merging(sandbox) { $1 }
            )
            let app = try #require(desk.view.prompts.last).details
            #expect(app.program == nil && app.appName == "Bank" && app.appIcon == "bank")
        }
    }

    /// Starts a copy of the shell under this name, with `sleep` as its child.
    @BusActor private func sleeper(
        _ name: String,
        in folder: TemporaryFolder
    ) async throws -> (program: ChildProcess, child: Int32) {
        let file = "\(folder.path)/\(name)"
        // Copy in another process: a child started meanwhile would keep the file open for writing.
        let words = ["/usr/bin/install", "-m", "755", "/bin/sh", file]
        try expect(try ChildProcess.run(words).status == 0, "expected a copy")
        let program = try ChildProcess([file, "-c", "/bin/sleep 600 & echo $!; wait"])
        try await eventually("a child of it") { program.output.hasSuffix("\n") }
        let child = try #require(Int32(program.output.dropLast()))
        // The shell prints the pid before the child executes its program.
        try await eventually("its program") { CallerProgram(pid: UInt32(child))?.name == "sleep" }
        return (program, child)
    }

    @Test("L33: A program whose path is cut or changed on the screen has no name")
    func hostileFile() async throws {
        try await onBus {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            let long = String(repeating: "x", count: 140)
            let (program, child) = try await sleeper(long, in: folder)
            defer { kill(child, SIGKILL) }
            let found = try #require(CallerProgram(pid: UInt32(program.pid)))
            #expect(found.path == "\(folder.path)/\(long)" && found.name == long.prefix(128))
            let started = try #require(CallerProgram(pid: UInt32(child)))
            #expect(started.ancestors.first == String(long.prefix(64)))
            let place = String(repeating: "p", count: 255)
            mkdir("\(folder.path)/\(place)", 0o700)
            // Invisible characters, and marks that overprint other lines.
            let marks = "a" + String(repeating: "\u{301}", count: 60)
            for name in ["a\u{1B}[2Jb\nc\u{202E}d", "\(place)/x", "x\u{200B}y", marks] {
                let (program, child) = try await sleeper(name, in: folder)
                defer { kill(child, SIGKILL) }
                #expect(CallerProgram(pid: UInt32(program.pid)) == nil)
                #expect(CallerProgram(pid: UInt32(child))?.ancestors == [])
            }
        }
    }

    @Test("L33: A program whose file is deleted or replaced has no name")
    func replacedFile() async throws {
        try await onBus {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            let (program, child) = try await sleeper("bank", in: folder)
            defer { kill(child, SIGKILL) }
            #expect(CallerProgram(pid: UInt32(program.pid))?.name == "bank")
            unlink(folder.path + "/bank")
            #expect(CallerProgram(pid: UInt32(program.pid)) == nil)
            try folder.write("bank", "another".utf8)
            #expect(CallerProgram(pid: UInt32(program.pid)) == nil)
            #expect(CallerProgram(pid: UInt32(child))?.ancestors == [])
        }
    }

    @Test("L33: A program in another mount namespace has no name")
    func otherMounts() async throws {
        try await onBus {
            let words = ["/usr/bin/unshare", "--user", "--mount", "/bin/sleep", "600"]
            let program = try ChildProcess(words)
            let pid = UInt32(program.pid)
            try await eventually("another program, or its end") {
                !program.isRunning || CallerProgram(pid: pid)?.name != "unshare"
            }
            // If namespaces are forbidden, the program has already exited.
            if program.isRunning { #expect(CallerProgram(pid: pid) == nil) }
            await program.end()
        }
    }

    @Test("L32: A login password is sealed to the verifier, for its prompt")
    func answers() async throws {
        try await onBus {
            let desk = try await TestDesktop()
            _ = await desk.service.next()
            _ = try await desk.service.begin(details)
            let prompt = try #require(desk.view.prompts.last)
            try prompt.submit(passcode: Array("sésame".utf8).span.bytes)
            prompt.confirm()
            prompt.fallBack()
            prompt.cancel()
            var happened: Set<ClientAction> = []
            for _ in 0..<4 { happened.insert(try #require(await desk.service.next())) }
            let expected: Set<ClientAction> = [
                .passcode(Array("sésame".utf8)), .confirmed, .fellBack, .canceled,
            ]
            #expect(happened == expected)
        }
    }

    @Test("L22, L32: An item's password is sealed to the service, and never to the verifier")
    func applicationPassword() async throws {
        try await onBus {
            let desk = try await TestDesktop()
            _ = await desk.service.next()
            let handle = try await desk.service.begin(details)
            let prompt = try #require(desk.view.prompts.last)
            try await desk.service.askPassword(handle)
            try prompt.submit(passcode: Array("sésame".utf8).span.bytes)
            #expect(await desk.service.next() == .password(Array("sésame".utf8)))
            let stage: [String: Variant] = ["stage": .string("application-password")]
            _ = try await desk.service.begin(details.merging(stage) { $1 })
            let second = try #require(desk.view.prompts.last)
            try second.submit(passcode: Array("open".utf8).span.bytes)
            #expect(await desk.service.next() == .password(Array("open".utf8)))
        }
    }

    @Test("L32: A new key of the verifier replaces the old key")
    func newKey() async throws {
        try await onBus {
            let desk = try await TestDesktop()
            _ = await desk.service.next()
            let handle = try await desk.service.begin(details)
            let prompt = try #require(desk.view.prompts.last)
            let key = desk.service.renewPasscodeKey()
            try prompt.submit(passcode: Array("typed".utf8).span.bytes)
            #expect(await desk.service.next() == .unopened)
            let detail: [String: Variant] = [
                "cause": .string("verifier-failed"), "passcode-key": key,
            ]
            try await desk.service.update(handle, "passcode-required", detail)
            try prompt.submit(passcode: Array("typed".utf8).span.bytes)
            #expect(await desk.service.next() == .passcode(Array("typed".utf8)))
        }
    }

    @Test("A refused secret is asked for again")
    func refusedSecret() async throws {
        try await onBus {
            let desk = try await TestDesktop()
            _ = await desk.service.next()
            _ = try await desk.service.begin(details)
            let prompt = try #require(desk.view.prompts.last)
            desk.service.submitError = DBusError(.invalidArgs, "Not now.")
            try prompt.submit(passcode: Array("typed".utf8).span.bytes)
            try await eventually("the question again") {
                desk.view.seen == ["begin unlock", "secretRefused"]
            }
            desk.service.submitError = nil
            try prompt.submit(passcode: Array("again".utf8).span.bytes)
            #expect(await desk.service.next() == .passcode(Array("typed".utf8)))
            #expect(await desk.service.next() == .passcode(Array("again".utf8)))
            // The prompt has ended, but the End call was lost.
            desk.service.submitError = DBusError(.accessDenied, "No prompt of yours.")
            try prompt.submit(passcode: Array("late".utf8).span.bytes)
            try await eventually("the prompt to go") { desk.view.seen.last == "end system" }
        }
    }

    @Test("A password that is empty or cannot be sealed is never sent")
    func emptyPasscode() async throws {
        try await onBus {
            let desk = try await TestDesktop()
            _ = await desk.service.next()
            _ = try await desk.service.begin(details)
            let prompt = try #require(desk.view.prompts.last)
            let nothing: [UInt8] = []
            #expect(throws: DBusError.self) { try prompt.submit(passcode: nothing.span.bytes) }
            try await desk.begin("keyless")
            let keyless = try #require(desk.view.prompts.last)
            #expect(throws: DBusError.self) {
                try keyless.submit(passcode: Array("typed".utf8).span.bytes)
            }
            prompt.cancel()
            #expect(await desk.service.next() == .canceled)
        }
    }

    @Test("A prompt submits no answer after its end")
    func nothingAfterEnd() async throws {
        try await onBus {
            let desk = try await TestDesktop()
            _ = await desk.service.next()
            let handle = try await desk.service.begin(details)
            let prompt = try #require(desk.view.prompts.last)
            try await desk.service.end(handle, "failed")
            prompt.cancel()
            try prompt.submit(passcode: Array("late".utf8).span.bytes)
            await desk.agent.stop()
            #expect(await desk.service.next() == .unregistered)
        }
    }

    @Test("Calls from other processes than the service are refused")
    func strangers() async throws {
        try await onBus {
            let desk = try await TestDesktop()
            _ = await desk.service.next()
            let stranger = try desk.bus.connect()
            let refusal = await #expect(throws: DBusError.self) {
                try await desk.begin("prompt1", on: stranger)
            }
            #expect(refusal?.name == .accessDenied)
            for (member, signature) in [("Update", "ssa{sv}"), ("End", "ss")] {
                let error = await #expect(throws: DBusError.self) {
                    _ = try await stranger.call(
                        to: desk.connection.uniqueName,
                        path: ObjectPath(trusted: "/org/localauth/Agent1"),
                        interface: "org.localauth.Agent1",
                        member: member,
                        signature: signature,
                        timeout: nil
                    ) { writer throws(DBusError) in
                        try writer.write("prompt1")
                        try writer.write("success")
                        if member == "Update" { try writer.write([String: Variant]()) }
                    }
                }
                #expect(error?.name == .accessDenied)
            }
            #expect(desk.view.seen.isEmpty)
        }
    }

    @Test("A malformed prompt is refused, and the agent goes on")
    func malformed() async throws {
        try await onBus {
            let desk = try await TestDesktop()
            _ = await desk.service.next()
            await #expect(throws: DBusError.self) {
                _ = try await desk.service.begin(["stage": .string("dance")])
            }
            _ = try await desk.service.begin(details)
            #expect(desk.view.seen == ["begin unlock"])
        }
    }

    @Test("A prompt with an invalid key, or with a handle in use, is refused")
    func wrongKey() async throws {
        try await onBus {
            let desk = try await TestDesktop()
            _ = await desk.service.next()
            let used = try await desk.service.begin(details)
            let zero = [UInt8](repeating: 0, count: 32)
            let keys: [Variant] = [.bytes([1]), .bytes(zero), .bool(true)]
            let wrong = keys.map { ("new", ["passcode-key": $0]) }
            for (handle, more) in wrong + [(used, [:])] {
                let error = await #expect(throws: DBusError.self) {
                    try await desk.begin(handle, more)
                }
                #expect(error?.name == .invalidArgs, "\(handle)")
            }
            #expect(desk.view.seen == ["begin unlock"])
            let error = await #expect(throws: DBusError.self) {
                try await desk.service.update(used, "passcode-required", ["passcode-key": keys[0]])
            }
            #expect(error?.name == .invalidArgs)
            try await desk.begin("new")
            #expect(desk.view.seen == ["begin unlock", "begin unlock"])
        }
    }

    @Test("More prompts than the limit are refused")
    func limit() async throws {
        try await onBus {
            let desk = try await TestDesktop()
            _ = await desk.service.next()
            for _ in 0..<PromptAgent.promptLimit { _ = try await desk.service.begin(details) }
            await #expect(throws: DBusError.self) { _ = try await desk.service.begin(details) }
        }
    }

    @Test("After a restart of the service its prompts are gone and the agent registers again")
    func comesBack() async throws {
        try await onBus {
            let desk = try await TestDesktop()
            _ = await desk.service.next()
            _ = try await desk.service.begin(details)
            desk.service.leave()
            await desk.waits(for: .serviceAway)
            #expect(desk.view.seen == ["begin unlock", "end system"])
            let second = try StandInService(desk.bus)
            #expect(await second.next() == .registered(process: nil, isFallback: false))
            await desk.waits(for: .registered(session: "session"))
        }
    }

    @Test("L20: An agent registers again if the signal of the service's restart is lost")
    func comesBackUnheard() async throws {
        try await onBus {
            let desk = try await TestDesktop(interval: .milliseconds(20))
            _ = await desk.service.next()
            _ = try await desk.service.begin(details)
            try await desk.bus.lose(.nameOwnerChanged)
            desk.service.leave()
            var next: StandInService?
            try await eventually("the name to be free") {
                next = try? StandInService(desk.bus)
                return next != nil
            }
            let second = try #require(next)
            #expect(await second.next() == .registered(process: nil, isFallback: false))
            #expect(desk.view.seen == ["begin unlock", "end system"])
        }
    }

    @Test("L20: An undeliverable password makes the agent look for a new service")
    func sendsUnheard() async throws {
        try await onBus {
            // With this interval, the agent does not poll during the test.
            let desk = try await TestDesktop(interval: .seconds(3600))
            _ = await desk.service.next()
            _ = try await desk.service.begin(details)
            let prompt = try #require(desk.view.prompts.last)
            try await desk.bus.lose(.nameOwnerChanged)
            desk.service.leave()
            let other = try desk.bus.connect()
            // Until then the bus still names the former service.
            try await eventually("the bus to have seen it leave") {
                try await other.nameOwner("org.localauth.Authentication1") == nil
            }
            try prompt.submit(passcode: Array("typed".utf8).span.bytes)
            await desk.waits(for: .serviceAway)
            #expect(desk.view.seen == ["begin unlock", "secretRefused", "end system"])
        }
    }

    @Test("L21: A prompt whose End call is lost ends when the user cancels it")
    func endUnheard() async throws {
        try await onBus {
            let desk = try await TestDesktop()
            _ = await desk.service.next()
            _ = try await desk.service.begin(details)
            desk.service.isForgetful = true
            try #require(desk.view.prompts.last).cancel()
            try await eventually("the prompt to go") {
                desk.view.seen == ["begin unlock", "end system"]
            }
        }
    }

    @Test("A refused registration is reported with the service's error")
    func refused() async throws {
        try await onBus {
            let error = DBusError("org.localauth.Error.AgentExists", "There is one.")
            let desk = try await TestDesktop(refusing: error)
            await desk.waits(for: .refused(error))
        }
    }

    @Test("L21: An agent that found no room registers as soon as there is room")
    func noRoom() async throws {
        try await onBus {
            let desk = try await TestDesktop(interval: .milliseconds(20), refusals: 2)
            await desk.waits(for: .registered(session: "session"))
            let none = try await TestDesktop(interval: .milliseconds(20), refusals: 99)
            await none.waits(for: .refused(DBusError(.limitsExceeded, "Not now.")))
        }
    }
}

@BusActor private final class TestDesktop {
    let bus: PrivateBus
    let service: StandInService
    let connection: Connection
    let view = RecordingView()
    let agent: PromptAgent
    private let states: AsyncStream<PromptAgent.State>

    init(
        serving scope: PromptAgent.Scope = .session,
        isFallback: Bool = false,
        refusing error: DBusError? = nil,
        interval: Duration? = nil,
        refusals: Int = 0
    ) async throws {
        bus = try PrivateBus()
        service = try StandInService(bus)
        service.registrationError = error
        service.refusals = refusals
        connection = try bus.connect()
        let (states, continuation) = AsyncStream.makeStream(of: PromptAgent.State.self)
        self.states = states
        agent = PromptAgent(connection, serving: scope, isFallback: isFallback, view: view) {
            continuation.yield($0)
        }
        if let interval { agent.interval = interval }
        agent.start()
    }

    /// Begins a prompt without a key, on behalf of the service or another caller.
    func begin(
        _ handle: String,
        _ more: [String: Variant] = [:],
        on caller: Connection? = nil
    ) async throws {
        let agent = Agent1Proxy(
            caller ?? service.connection,
            destination: connection.uniqueName,
            path: ObjectPath(trusted: "/org/localauth/Agent1")
        )
        try await agent.begin(prompt: handle, details: details.merging(more) { $1 })
    }

    func waits(for wanted: PromptAgent.State) async {
        for await state in states where state == wanted { return }
    }
}

@BusActor private final class RecordingView: PromptView {
    private(set) var prompts: [Prompt] = []
    private(set) var seen: [String] = []

    func begin(_ prompt: Prompt) throws(DBusError) {
        prompts.append(prompt)
        seen.append("begin \(prompt.details.reason)")
    }

    func update(_ prompt: Prompt, _ progress: PromptProgress) { seen.append("\(progress)") }

    func end(_ prompt: Prompt, _ outcome: PromptOutcome) { seen.append("end \(outcome)") }
}
