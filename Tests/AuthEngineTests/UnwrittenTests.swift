import Contract
import Testing

@testable import AuthEngine

/// L17: A change that could not be written is written before it is reported.
@Suite("Failed writes")
struct UnwrittenTests {
    @Test("L17: A repeated RequirePasscode writes a record whose write failed")
    func requirePasscode() {
        var desk = EngineHarness(.finger)
        desk.writes = false
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.remote)))
        desk.failToWrite()
        #expect(desk.unwritten.isEmpty && !desk.engine.isWritten(EngineHarness.uid))
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.remote)))
        #expect(desk.unwritten.count == 1)
        desk.write()
        #expect(desk.engine.isWritten(EngineHarness.uid))
    }

    @Test("L17: An unlock without an effect still retries a failed write")
    func unlock() {
        var desk = EngineHarness(.finger)
        desk.writes = false
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.remote)))
        desk.failToWrite()
        // Biometry is refused, so this unlock does not count.
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        #expect(desk.unwritten.count == 1)
        desk.write()
        #expect(desk.engine.isWritten(EngineHarness.uid))
    }

    @Test("L17: A match whose write fails restores the counters it reset, once")
    func match() {
        var record = UserRecord()
        record.misses = 1
        record.wrongPasscodes = 2
        var desk = EngineHarness(.finger, records: [EngineHarness.uid: record])
        desk.writes = false
        desk.evaluate(.biometrics)
        desk.scan(matching: true)
        #expect(desk.engine.record(of: EngineHarness.uid).misses == 0)
        desk.failToWrite()
        #expect(desk.engine.record(of: EngineHarness.uid) == record)
    }

    @Test("L17: A prompt stopped by a lockout is not told of it if the write failed")
    func stopped() {
        var desk = EngineHarness(.finger)
        desk.writes = false
        let id = desk.evaluate(.biometrics)
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.remote)))
        #expect(desk.isPending(id))
        desk.failToWrite()
        #expect(desk.refusal(id) == .systemCancel)
    }

    @Test("L17: A lockout whose write failed is reported after a successful write")
    func lockout() {
        var desk = EngineHarness(.finger)
        desk.writes = false
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.remote)))
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
