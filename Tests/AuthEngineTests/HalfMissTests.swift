import Contract
import Testing

@testable import AuthEngine

/// R3, L5: A face's miss counts half towards the lockout, and no other count is lost.
@Suite("Half misses")
struct HalfMissTests {
    /// Misses with the face this many times, in as many evaluations as needed.
    private func miss(_ desk: inout EngineHarness, _ times: Int) {
        for _ in 0..<times {
            if !desk.operations.contains(where: { $0.sensor == "face" }) {
                cancelAll(&desk)
                desk.evaluate(.biometrics)
            }
            desk.scan("face", matching: false)
        }
        cancelAll(&desk)
    }

    private func cancelAll(_ desk: inout EngineHarness) {
        let all = Set(
            desk.effects.compactMap { if case .begin(let id, _, _) = $0 { id } else { nil } }
        )
        for id in all where desk.isPending(id) { desk.send(.canceled(id)) }
    }

    @Test("R3, L5: Ten misses of a face lock biometry, nine do not; five of a finger do")
    func halves() {
        var desk = EngineHarness(.face, .finger)
        miss(&desk, 9)
        #expect(desk.available(.biometrics) == nil)
        #expect(desk.lastWrite?.misses == 4)
        #expect(desk.lastWrite?.hasHalfMiss == true, "it is on the disk")
        miss(&desk, 1)
        #expect(desk.available(.biometrics) == .biometryLockout)
        #expect(desk.lastWrite?.misses == 5)
        #expect(desk.lastWrite?.hasHalfMiss == false)
    }

    @Test("R3, L5: Half and whole misses add up in any order", arguments: 0..<16)
    func mixed(_ order: Int) {
        var desk = EngineHarness(.face, .finger)
        // Two face misses and four finger misses make five. `order` places the first face miss.
        var isFirst = true
        for step in 0..<4 {
            if order & (1 << step) != 0, isFirst {
                miss(&desk, 1)
                isFirst = false
            }
            desk.fail(1)
        }
        #expect(desk.available(.biometrics) == nil)
        miss(&desk, isFirst ? 2 : 1)
        #expect(desk.available(.biometrics) == .biometryLockout)
    }

    @Test("R2, R3: A face's attempts left are its own, or those left until the lockout")
    func attemptsLeft() throws {
        var record = UserRecord()
        record.misses = 4
        record.hasHalfMiss = true
        var desk = EngineHarness(.face, .finger, records: [EngineHarness.uid: record])
        let id = desk.evaluate(.biometrics)
        desk.scan("face", matching: false)
        #expect(desk.refusal(id) == .biometryLockout)
        #expect(desk.progress(id).contains(.miss(attemptsLeft: 0)))
        var settings = Settings()
        settings.faceAttempts = 4
        settings.lockoutAttempts = 2
        desk = EngineHarness(.face, .finger, settings: settings)
        let other = desk.evaluate(.biometrics)
        for left in [3, 2, 1] {
            desk.scan("face", matching: false)
            #expect(desk.progress(other).contains(.miss(attemptsLeft: left)))
        }
        desk.scan("face", matching: false)
        #expect(desk.refusal(other) == .biometryLockout)
        // Nine misses remain until the lockout.
        desk = EngineHarness(.face, .finger)
        let own = desk.evaluate(.biometrics)
        desk.scan("face", matching: false)
        #expect(desk.progress(own).contains(.miss(attemptsLeft: 1)))
    }

    @Test("R3: With a limit of one, a finger's first or a face's second miss locks")
    func strictest() {
        var settings = Settings()
        settings.lockoutAttempts = 1
        var desk = EngineHarness(.face, .finger, settings: settings)
        miss(&desk, 1)
        #expect(desk.available(.biometrics) == nil)
        miss(&desk, 1)
        #expect(desk.available(.biometrics) == .biometryLockout)
        desk = EngineHarness(.face, .finger, settings: settings)
        desk.fail(1)
        #expect(desk.available(.biometrics) == .biometryLockout)
    }

    @Test("R3, R5: A match, a password and an unlock also clear the half miss")
    func cleared() {
        for proof in 0..<4 {
            var record = UserRecord()
            record.hasHalfMiss = true
            var desk = EngineHarness(.face, .finger, records: [EngineHarness.uid: record])
            let id = desk.evaluate(.biometricsOrPasscode)
            switch proof {
            case 0: desk.scan(matching: true)
            case 1: desk.passcode(id, .correct)
            default: desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: proof == 2))
            }
            #expect(desk.lastWrite?.hasHalfMiss == false)
            #expect(desk.engine.record(of: EngineHarness.uid).hasHalfMiss == false)
        }
    }

    @Test("L17: A match that could not be written restores the half and adds later misses")
    func restored() {
        var record = UserRecord()
        record.misses = 1
        record.hasHalfMiss = true
        var desk = EngineHarness(.face, .finger, records: [EngineHarness.uid: record])
        desk.writes = false
        desk.evaluate(.biometrics)
        desk.scan(matching: true)
        #expect(desk.engine.record(of: EngineHarness.uid) == UserRecord())
        desk.failToWrite()
        #expect(desk.engine.record(of: EngineHarness.uid) == record)
        desk.evaluate(.biometrics)
        desk.write()
        let match = desk.evaluateElsewhere(7)
        desk.scan(matching: true)
        #expect(desk.isPending(match))
        let unwritten = desk.unwritten
        desk.scan("face", matching: false)
        for save in unwritten { desk.send(.saveFailed(save)) }
        let after = desk.engine.record(of: EngineHarness.uid)
        #expect(after.misses == 2)
        #expect(!after.hasHalfMiss, "two halves are one")
    }

    @Test("A record at the maximum count locks without overflow")
    func overflow() {
        var record = UserRecord()
        record.misses = Int.max
        record.hasHalfMiss = true
        record.countMiss(of: .face)
        #expect(record.misses == Int.max)
        record.countMiss(of: .fingerprint)
        #expect(record.misses == Int.max)
        #expect(record.missesLeft(of: .face, until: 5) == 0)
        #expect(UserRecord().missesLeft(of: .face, until: Int.max) == Int.max)
    }
}
