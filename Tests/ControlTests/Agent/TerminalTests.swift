import DBus
import Glibc
import TestSupport
import Testing

/// Tests `localauthctl` as a process with its own terminal.
@Suite(.serialized) struct TerminalTests {
    private let bus: PrivateBus
    private let pty: Pty
    private let service: StandInService

    init() async throws {
        let bus = try PrivateBus()
        self.bus = bus
        pty = try Pty()
        service = try await onBus { try StandInService(bus) }
    }

    private func start(_ arguments: String...) throws -> ChildProcess {
        try ChildProcess(
            ["localauthctl"] + arguments + ["--bus", bus.address],
            terminal: pty.path
        )
    }

    @Test("evaluate prompts on its own terminal without an agent, and shows no secret")
    func evaluate() throws {
        let process = try start("evaluate", "--reason", "test")
        #expect(pty.shows("is trying to test"))
        #expect(pty.shows("Password of jo: "))
        pty.type("wrong\n")
        #expect(pty.shows("Wrong password. 2 attempts are left."))
        #expect(pty.shows("Password of jo: ", times: 2))
        pty.type("\(StandInService.passcode)\n")
        #expect(pty.shows("Yes: password"))
        #expect(try process.wait() == 0)
        #expect(pty.isPlain)
        #expect(!pty.screen.contains("correct") && !pty.screen.contains("horse"))
    }

    @Test("Ctrl-C cancels an evaluation and restores the terminal")
    func interrupt() throws {
        let process = try start("evaluate")
        #expect(pty.shows("Password of jo: "))
        #expect(!pty.isPlain)
        pty.type("half\u{3}")
        #expect(try process.wait() == 1)
        #expect(pty.shows("localauthctl: It was canceled."))
        #expect(pty.isPlain)
        #expect(!pty.screen.contains("half"))
    }

    @Test("A signal restores the terminal", arguments: [SIGTERM, SIGHUP, SIGINT])
    func signals(number: Int32) throws {
        let process = try start("evaluate")
        #expect(pty.shows("Password of jo: "))
        process.signal(number)
        #expect(try process.wait() == 1)
        #expect(pty.isPlain)
    }

    @Test("If the service exits before its answer, the status is 3")
    func departure() async throws {
        let process = try start("evaluate")
        #expect(pty.shows("Password of jo: "))
        try await onBus { [service] in service.leave() }
        #expect(try process.wait() == 3)
        #expect(pty.shows("localauthctl: The service can't be reached"))
        #expect(pty.isPlain)
    }

    @Test("evaluate --no-agent never prompts on its own terminal")
    func noAgent() throws {
        let process = try start("evaluate", "--no-agent")
        #expect(try process.wait() == 1)
        #expect(pty.shows("localauthctl agent"))
    }

    @Test("agent serves the parent process, shows prompts and exits with 0 at SIGTERM")
    func agent() async throws {
        let process = try start("agent")
        #expect(pty.shows("Ready: serves process \(getpid()) and its children."))
        let happened = try await onBus { [service] in
            let registered = await service.next()
            _ = try await service.begin([
                "reason": .string("test"), "stage": .string("passcode"), "policy": .uint32(2),
            ])
            return registered
        }
        #expect(happened == .registered(process: UInt32(getpid()), isFallback: false))
        #expect(pty.shows("Password: "))
        process.signal(SIGTERM)
        #expect(try process.wait() == 0)
        #expect(pty.isPlain)
        let last = try await onBus { [service] in
            (await service.next(), await service.next())
        }
        #expect(last == (.canceled, .unregistered))
    }

    @Test("An agent in a shell's background takes the terminal for a prompt and returns it")
    func background() async throws {
        try await onBus { [service] in service.isInteractive = true }
        let shell = try ChildProcess(["/bin/bash", "--norc", "-i"], terminal: pty.path)
        pty.type(
            "PS1='ready> '; set -m; \(ChildProcess.folder)/localauthctl agent "
                + "--bus \(bus.address) &\n"
        )
        #expect(pty.shows("Ready: serves process \(shell.pid) and its children."))
        pty.type(
            "\(ChildProcess.folder)/localauthctl evaluate --bus \(bus.address); echo ended=$?\n"
        )
        #expect(pty.shows("Password of jo: "))
        pty.type("\(StandInService.passcode)\n")
        #expect(pty.shows("ended=0"))
        pty.type("echo again=$((1 + 1))\n")
        #expect(pty.shows("again=2"))
        #expect(!pty.screen.contains("horse"))
        pty.type("kill %1; wait %1; echo agent=$?; exit 7\n")
        #expect(pty.shows("agent=0"))
        #expect(try shell.wait() == 7)
    }

    @Test("A prompt is refused while the shell is reading")
    func shellReads() async throws {
        let shell = try ChildProcess(["/bin/bash", "--norc", "-i"], terminal: pty.path)
        pty.type(
            "PS1='ready> '; set -m; \(ChildProcess.folder)/localauthctl agent "
                + "--bus \(bus.address) &\n"
        )
        #expect(pty.shows("Ready: serves process \(shell.pid) and its children."))
        await #expect(throws: DBusError.self) {
            try await onBus { [service] in
                _ = await service.next()
                _ = try await service.begin([
                    "reason": .string("test"), "stage": .string("passcode"), "policy": .uint32(2),
                ])
            }
        }
        pty.type("kill %1; exit 7\n")
        #expect(try shell.wait() == 7)
    }

    @Test(
        "The agent's memory does not contain a sent password",
        .enabled(if: geteuid() == 0, "only root can look into a protected process")
    )
    func memory() async throws {
        let process = try start("agent", "--session")
        #expect(pty.shows("Ready"))
        let secret = "xyzzy-plugh-4711"
        // Later keys may have overwritten only the beginning.
        let part = "plugh-4711"
        let handle = try await onBus { [service] in
            _ = await service.next()
            return try await service.begin([
                "reason": .string("test"), "stage": .string("passcode"), "policy": .uint32(2),
            ])
        }
        #expect(pty.shows("Password: "))
        pty.type(secret)
        // The argument is certainly in memory, so this proves that the search works.
        #expect(try occurrences(of: bus.address, in: process.pid) > 0)
        pty.type("\n")
        let sent = try await onBus { [service] in await service.next() }
        #expect(sent == .passcode(Array(secret.utf8)))
        // The answer to an update proves that the agent has processed all keys. The prompt is still
        // open.
        try await onBus { [service] in try await service.update(handle, "prompt-shown") }
        #expect(try occurrences(of: part, in: process.pid) == 0)
        try await onBus { [service] in try await service.end(handle, "success") }
        #expect(pty.shows("Done."))
        #expect(try occurrences(of: part, in: process.pid) == 0)
        process.signal(SIGTERM)
        #expect(try process.wait() == 0)
    }

    @Test("agent --session --fallback registers as the session's fallback")
    func fallback() async throws {
        let process = try start("agent", "--session", "--fallback")
        let happened = try await onBus { [service] in await service.next() }
        #expect(happened == .registered(process: nil, isFallback: true))
        process.signal(SIGTERM)
        #expect(try process.wait() == 0)
    }

    @Test("A second agent exits with 1 and names the remedy")
    func agentExists() async throws {
        try await onBus { [service] in
            service.registrationError = DBusError("org.localauth.Error.AgentExists", "Taken.")
        }
        let process = try start("agent")
        #expect(try process.wait() == 1)
        #expect(pty.shows("--fallback"))
    }

    @Test("monitor shows added and removed sensors until Ctrl-C")
    func monitor() async throws {
        let process = try start("monitor")
        #expect(pty.shows("name org.localauth.Authentication1"))
        #expect(pty.shows("Watching."))
        let path = try await onBus { [service] in
            let sensor = StandInSensor("Finger", at: service)
            sensor.remove()
            return TestDaemon.root.rawValue + "/sensor/Finger"
        }
        #expect(pty.shows("added \(path)"))
        #expect(pty.shows("removed \(path)"))
        pty.type("\u{3}")
        #expect(try process.wait() == 0)
    }
}
