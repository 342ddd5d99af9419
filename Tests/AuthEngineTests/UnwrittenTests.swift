import Contract
import Testing

@testable import AuthEngine

/// L17: what could not be written is written before anybody is told of it.
@Suite("Records that could not be written")
struct UnwrittenTests {
    @Test("L17: RequirePasscode that could not be written is written when it is asked for again")
    func requirePasscode() {
        var desk = Desk(.finger)
        desk.writes = false
        desk.send(.passcodeRequired(uid: Desk.uid, cause: PasscodeCause(.remote)))
        desk.failToWrite()
        #expect(desk.unwritten.isEmpty && !desk.engine.isWritten(Desk.uid))
        desk.send(.passcodeRequired(uid: Desk.uid, cause: PasscodeCause(.remote)))
        #expect(desk.unwritten.count == 1)
        desk.write()
        #expect(desk.engine.isWritten(Desk.uid))
    }

    @Test("L17: an unlock that changes nothing has what could not be written before it written")
    func unlock() {
        var desk = Desk(.finger)
        desk.writes = false
        desk.send(.passcodeRequired(uid: Desk.uid, cause: PasscodeCause(.remote)))
        desk.failToWrite()
        // Biometry is refused: it doesn't count.
        desk.send(.unlocked(uid: Desk.uid, byPasscode: false))
        #expect(desk.unwritten.count == 1)
        desk.write()
        #expect(desk.engine.isWritten(Desk.uid))
    }

    @Test("L17: a match that could not be written puts back what it had put back, once")
    func match() {
        var record = UserRecord()
        record.failures = 1
        record.wrongPasscodes = 2
        var desk = Desk(.finger, records: [Desk.uid: record])
        desk.writes = false
        desk.evaluate(.biometrics)
        desk.scan(matching: true)
        #expect(desk.engine.record(of: Desk.uid).failures == 0)
        desk.failToWrite()
        #expect(desk.engine.record(of: Desk.uid) == record)
    }

    @Test("L17: a prompt that a lockout stops isn't told of it when that could not be written")
    func stopped() {
        var desk = Desk(.finger)
        desk.writes = false
        let id = desk.evaluate(.biometrics)
        desk.send(.passcodeRequired(uid: Desk.uid, cause: PasscodeCause(.remote)))
        #expect(desk.isPending(id))
        desk.failToWrite()
        #expect(desk.refusal(id) == .systemCancel)
    }

    @Test("L17: a lockout that could not be written is told when it is written, not before")
    func lockout() {
        var desk = Desk(.finger)
        desk.writes = false
        desk.send(.passcodeRequired(uid: Desk.uid, cause: PasscodeCause(.remote)))
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
