import AgentKit
import DBus
import Glibc
import LocalAuthBus
import LocalAuthClient
import Localization

/// A prompt agent on this command's terminal, for this process only, if no other agent serves it.
@BusActor struct OwnAgent {
    private let agent: PromptAgent
    private let view: TerminalPrompt

    /// Whether its prompt is visible; then the prompt itself shows the progress.
    var isShowing: Bool { view.isShowing }

    /// Starts an agent; nil if this process has an agent, has no terminal, or wants no agent.
    static func start(_ service: RemoteService, _ person: PersonArguments) async throws -> OwnAgent?
    {
        try await start(service, isWanted: !person.agent.noAgent && person.uid == nil)
    }

    /// Starts an agent; nil if this process has an agent, has no terminal, or wants no agent.
    static func start(_ service: RemoteService, isWanted: Bool) async throws -> OwnAgent? {
        guard isWanted, try await Interaction(service).lacksAgent else { return nil }
        let view = TerminalPrompt()
        guard view.isUsable else { return nil }
        let (states, continuation) = AsyncStream.makeStream(of: PromptAgent.State.self)
        let process = PromptAgent.Scope.process(UInt32(getpid()))
        let agent = PromptAgent(service.connection, serving: process, view: view) {
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

    func abort() { view.abort() }

    func stop() async { await agent.stop() }
}
