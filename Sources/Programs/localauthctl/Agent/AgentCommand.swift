import AgentKit
import ArgumentParser
import DBus
import Glibc
import LocalAuthClient
import Localization

struct AgentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: localized("Show prompts on this terminal."),
        discussion: localized(
            "Serves a process and its children: the process of --process, or the parent process, "
                + "usually the shell. Start the command in the background of that shell. With "
                + "--session it serves the whole session from this terminal."
        )
    )

    @Option(help: ArgumentHelp(localized("Serve this process and its children."), valueName: "pid"))
    var process: UInt32?

    @Flag(help: ArgumentHelp(localized("Serve every process of the session.")))
    var session = false

    @Flag(help: ArgumentHelp(localized("Only while no other agent is there.")))
    var fallback = false

    @OptionGroup var bus: BusArguments

    func validate() throws {
        guard process == nil || !session else {
            throw ValidationError(localized("Choose --process or --session."))
        }
    }

    func run() throws {
        let scope = session ? PromptAgent.Scope.session : .process(process ?? UInt32(getppid()))
        let (bus, fallback) = (bus.bus, fallback)
        try performAlone { end in
            let view = TerminalPrompt()
            guard view.isUsable else {
                throw Failure(
                    .refused,
                    localized("There is no terminal to ask on."),
                    hint: localized("a login shell")
                )
            }
            let connection = try await connect(bus)
            connection.onDisconnect {
                end.with(Failure(.unreachable, localized("The bus is gone.")))
            }
            let agent = PromptAgent(connection, serving: scope, isFallback: fallback, view: view) {
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

@BusActor private func follow(_ state: PromptAgent.State, _ scope: PromptAgent.Scope, _ end: End) {
    switch state {
    case .serviceAway:
        tell(localized("Waiting for the service."))
    case .registered:
        switch scope {
        case .session: tell(localized("Ready: serves this session."))
        case .process(let pid):
            tell(localized("Ready: serves process %1$s and its children.", "\(pid)"))
        }
    case .refused(let error):
        let hint =
            switch scope {
            case .session:
                localized("leave --session out, or start it in a session at this machine")
            case .process: localized("start it in a login session")
            }
        end.with(Failure(.refused, error, hint: error.name == .accessDenied ? hint : nil))
    }
}

/// Connects to the given bus, with or without a running service; nil: the bus of the installed
/// service.
@BusActor func connect(_ bus: String?) async throws(Failure) -> Connection {
    guard let bus else { return try await RemoteService.reach(nil).connection }
    Advice.bus = bus
    do {
        return try Connection(Connection.Address(argument: bus))
    } catch {
        throw Failure(.unreachable, error)
    }
}
