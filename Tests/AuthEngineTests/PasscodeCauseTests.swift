import AuthEngine
import Contract
import Testing

@Suite("Causes of a required password")
struct PasscodeCauseTests {
    @Test(
        "A text that an earlier version stored as a cause reads as a program's",
        arguments: ["the device was reported as lost", "remote lock", "required", ""]
    )
    func earlierFormat(_ stored: String) {
        #expect(PasscodeCause(stored: stored) == PasscodeCause(.program))
    }

    @Test("Only an administrator's cause replaces an earlier cause")
    func replaced() {
        let (program, lost) = (PasscodeCause(.program), PasscodeCause.remote("lost"))
        let (remote, damaged) = (PasscodeCause(.remote), PasscodeCause(.damaged))
        let rows = [
            (program, lost, lost), (lost, remote, remote), (lost, program, lost),
            (program, damaged, program), (damaged, lost, damaged),
        ]
        for (first, second, kept) in rows {
            var desk = EngineHarness(.finger)
            for cause in [first, second] {
                desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: cause))
            }
            #expect(
                desk.engine.records[EngineHarness.uid]?.passcodeCause == kept,
                "\(first), \(second)"
            )
            #expect(desk.lastWrite?.passcodeCause == kept)
        }
    }

    @Test("L34: A program's cause does not replace a cause that a failed write restored")
    func failedWrite() throws {
        var desk = EngineHarness(.finger)
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: .remote("lost")))
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.send(.passcodeOffered(id))
        desk.writes = false
        desk.send(.passcodeVerified(id, .correct))
        let success = try #require(desk.unwritten.last)
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.program)))
        desk.send(.saveFailed(success))
        #expect(desk.engine.records[EngineHarness.uid]?.passcodeCause == .remote("lost"))
    }

    @Test("L34: A prompt that begins during a write receives its cause after the write")
    func causeAfterWrite() throws {
        var desk = EngineHarness(.finger)
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.program)))
        desk.beginsPrompts = false
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.writes = false
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: .remote("lost")))
        let told = Effect.tell(id, .passcodeRequired(cause: .remote("lost")))
        #expect(!desk.send(.promptBegan(id)).contains(told))
        #expect(desk.send(.saved(try #require(desk.unwritten.last))).contains(told))
    }
}
