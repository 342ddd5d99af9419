import AgentKit
import ArgumentParser
import DBus
import Glibc

struct AgentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Show prompts on this terminal.",
        discussion: """
            Serves one process and its children: the one given by --process, or else the parent \
            process, usually the shell. Start it in that shell's background. With --session it \
            serves the whole session from this terminal.
            """
    )

    @Option(help: ArgumentHelp("Serve this process and its children.", valueName: "pid"))
    var process: UInt32?

    @Flag(help: "Serve every process of the session.")
    var session = false

    @Flag(help: "Only while no other agent is there.")
    var fallback = false

    @OptionGroup var bus: BusArguments

    func validate() throws {
        guard process == nil || !session else {
            throw ValidationError("Choose --process or --session.")
        }
    }

    func run() throws {
        let scope = session ? Agent.Scope.session : .process(process ?? UInt32(getppid()))
        let (address, fallback) = (bus.address, fallback)
        try performAlone { end in
            let view = TerminalPrompt()
            guard view.isUsable else {
                throw Failure(.refused, "There is no terminal to ask on.", hint: "a login shell")
            }
            let connection = try connect(address)
            connection.onDisconnect { end.with(Failure(.unreachable, "The bus is gone.")) }
            let agent = Agent(connection, serving: scope, isFallback: fallback, view: view) {
                follow($0, scope, end)
            }
            onInterruption {
                view.abort()
                end.with(nil)
            }
            agent.start()
            return {
                view.abort()
                await agent.stop()
                connection.flush()
            }
        }
    }
}

@BusActor private func follow(_ state: Agent.State, _ scope: Agent.Scope, _ end: End) {
    switch state {
    case .serviceAway:
        tell("Waiting for the service.")
    case .registered:
        switch scope {
        case .session: tell("Ready: serves this session.")
        case .process(let pid): tell("Ready: serves process \(pid) and its children.")
        }
    case .refused(let error):
        end.with(Failure(error))
    }
}

@BusActor func connect(_ address: Connection.Address) throws(Failure) -> Connection {
    do {
        return try Connection(address)
    } catch {
        throw Failure(.unreachable, error)
    }
}
