import Contract
import Testing

@testable import AuthEngine

extension PromptTests {
    @Test("Agent limits: one normal and one fallback a session, one a process, four a connection")
    func agentLimits() {
        var desk = EngineHarness()
        desk.register(AgentID(3), kind: .process(100))
        func may(_ kind: Agent.Kind, _ client: UInt64 = 50) -> Bool {
            desk.engine.canRegister(
                uid: EngineHarness.uid,
                session: EngineHarness.session,
                kind: kind,
                client: ClientID(client)
            )
        }
        #expect(!may(.normal))
        #expect(may(.fallback))
        #expect(!may(.process(100)))
        #expect(may(.process(101)))
        for number in UInt64(0)..<4 {
            let agent = Agent(
                id: AgentID(60 + number),
                client: ClientID(50),
                uid: EngineHarness.uid,
                session: "s\(number)",
                kind: .normal
            )
            desk.send(.agentRegistered(agent))
        }
        #expect(!may(.fallback))
        #expect(may(.fallback, 51))
    }

    @Test("Only the evaluation that holds the prompt names its agent")
    func promptsAgent() {
        var desk = EngineHarness(.finger)
        let first = desk.evaluate(.biometrics)
        let second = desk.evaluate(.biometrics)
        #expect(desk.engine.promptsAgent(of: first) == EngineHarness.agent)
        #expect(desk.engine.promptsAgent(of: second) == nil)
        desk.send(.canceled(second))
        #expect(desk.isPending(second), "what waits has no prompt to cancel")
        #expect(desk.engine.pendingCount(of: EngineHarness.client) == 2)
    }
}
