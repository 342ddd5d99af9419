import AgentKit
import DBus
import Glibc
import LocalAuthBus
import Localization

/// Asks on this command's own terminal, for this process only, while nothing else would.
@BusActor struct OwnAgent {
    private let agent: Agent
    private let view: TerminalPrompt

    /// Whether a prompt of ours is up: it says itself what happens.
    var isShowing: Bool { view.isShowing }

    /// nil when an agent serves this process already, there is no terminal, or it isn't wanted.
    static func start(_ service: Service, _ person: PersonArguments) async throws -> OwnAgent? {
        try await start(service, isWanted: !person.noAgent && person.uid == nil)
    }

    /// nil when an agent serves this process already, there is no terminal, or it isn't wanted.
    static func start(_ service: Service, isWanted: Bool) async throws -> OwnAgent? {
        guard isWanted, try await !service.manager.interactive() else { return nil }
        let view = TerminalPrompt()
        guard view.isUsable else { return nil }
        let (states, continuation) = AsyncStream.makeStream(of: Agent.State.self)
        let process = Agent.Scope.process(UInt32(getpid()))
        let agent = Agent(service.connection, serving: process, view: view) {
            continuation.yield($0)
        }
        agent.start()
        for await state in states {
            if case .refused(let error) = state {
                let reason = Failure(error).message
                tell("localauthctl: " + localized("No prompt on this terminal: %1$s", reason))
            }
            break
        }
        return OwnAgent(agent: agent, view: view)
    }

    /// Cancels what is up and gives the terminal back.
    func abort() { view.abort() }

    func stop() async { await agent.stop() }
}
