import AuthEngine
import Testing

/// L17: what could not be written is written before anybody is told of it.
@Suite("Records that could not be written")
struct UnwrittenTests {
    @Test("L17: RequirePasscode that could not be written is written when it is asked for again")
    func requirePasscode() {
        var desk = Desk(.finger)
        desk.writes = false
        desk.send(.passcodeRequired(uid: Desk.uid, cause: "remote"))
        desk.failToWrite()
        #expect(desk.unwritten.isEmpty)
        desk.send(.passcodeRequired(uid: Desk.uid, cause: "remote"))
        #expect(desk.unwritten.count == 1)
    }

    @Test("L17: a lockout that could not be written is told when it is written, not before")
    func lockout() {
        var desk = Desk(.finger)
        desk.writes = false
        desk.send(.passcodeRequired(uid: Desk.uid, cause: "remote"))
        desk.failToWrite()
        let first = desk.evaluate(.biometrics)
        #expect(desk.isPending(first))
        desk.failToWrite()
        #expect(desk.refusal(first) == .systemCancel)
        let second = desk.evaluate(.biometrics)
        desk.write()
        #expect(desk.refusal(second) == .biometryLockout)
    }
}
