import Contract
import Testing

@testable import AuthEngine

@Suite("Revoked proofs")
struct RevokedTests {
    private func remote(_ desk: inout EngineHarness) {
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.remote)))
    }

    @Test("R35: A lockout revokes the context's proofs even during a prompt")
    func contextLockedOut() throws {
        var desk = EngineHarness(.finger, .key)
        desk.evaluate(.biometrics, context: EngineHarness.context)
        desk.scan(matching: true)
        let id = try desk.access([.biometryAny, .companion], context: EngineHarness.context)
        #expect(desk.operations.map(\.sensor) == ["key"])
        remote(&desk)
        desk.scan("key", matching: true)
        #expect(desk.refusal(id) == .biometryLockout)
    }

    @Test("A password after a lockout does not restore the earlier match")
    func passcodeAfterLockout() throws {
        var desk = EngineHarness(.finger)
        let id = try desk.access([.biometryAny, .devicePasscode])
        desk.scan(matching: true)
        remote(&desk)
        desk.passcode(id, .correct)
        #expect(desk.refusal(id) == .biometryLockout)
        let other = try desk.access(
            [.biometryAny, .applicationPassword],
            context: EngineHarness.context
        )
        #expect(desk.refusal(other) == .biometryLockout)
    }

    @Test("L17: A revoked proof is reported only after the reason is written")
    func toldWhenWritten() throws {
        var desk = EngineHarness(.finger, .key)
        let flags: AccessControl.Flags = [.biometryAny, .companion, .applicationPassword]
        for hasCompanion in [false, true] {
            let id = try desk.access(flags)
            desk.scan(matching: true)
            if hasCompanion { desk.scan("key", matching: true) }
            desk.writes = false
            remote(&desk)
            if !hasCompanion { desk.scan("key", matching: true) }
            #expect(desk.isPending(id))
            #expect(desk.send(.passwordOffered(id)).isEmpty)
            desk.write()
            #expect(desk.refusal(id) == .biometryLockout)
            desk.writes = true
            desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        }
    }

    @Test("Fallback does nothing in a prompt whose match was revoked")
    func fallsBack() throws {
        var desk = EngineHarness(.finger, .key)
        let id = try desk.access([.biometryAny, .companion, .devicePasscode])
        desk.scan(matching: true)
        desk.writes = false
        remote(&desk)
        desk.scan("key", matching: true)
        #expect(!desk.engine.offersFallback(id))
        #expect(desk.send(.fellBack(id)).isEmpty)
        desk.write()
        #expect(desk.refusal(id) == .biometryLockout)
    }

    @Test("L17: A password waits for the write by which an unlock resets its counters")
    func unlockedMeanwhile() throws {
        for isWritten in [true, false] {
            var desk = EngineHarness(.finger)
            let id = try desk.access([.devicePasscode])
            remote(&desk)
            desk.send(.passcodeOffered(id))
            desk.writes = false
            desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
            desk.send(.passcodeVerified(id, .correct))
            #expect(desk.isPending(id))
            if isWritten { desk.write() } else { desk.failToWrite() }
            #expect((desk.grant(id) != nil) == isWritten)
            #expect(!desk.isPending(id))
        }
    }

    @Test("L17: A check of the app's password does not advance the reply")
    func passwordMeanwhile() throws {
        var desk = EngineHarness(.finger)
        let id = try desk.access([.biometryAny, .applicationPassword])
        desk.scan(matching: true)
        desk.send(.passwordOffered(id))
        desk.writes = false
        remote(&desk)
        desk.send(.passwordTried(id, .correct))
        #expect(desk.isPending(id))
        desk.write()
        #expect(desk.refusal(id) == .biometryLockout)
    }

    @Test("A prompt whose match was revoked asks for no further proof")
    func asksNothing() throws {
        var desk = EngineHarness(.finger)
        let id = try desk.access([.biometryAny, .devicePasscode])
        desk.scan(matching: true)
        desk.send(.passcodeOffered(id))
        desk.writes = false
        remote(&desk)
        let told = desk.progress(id)
        desk.send(.passcodeVerified(id, .failed))
        #expect(desk.progress(id) == told)
        #expect(desk.isPending(id))
        desk.write()
        #expect(desk.refusal(id) == .biometryLockout)
    }

    @Test("L11: An age rule between two stages revokes the match")
    func age() throws {
        var desk = EngineHarness(.finger)
        desk.pass(.seconds(48 * 3600 - 10))
        let id = try desk.access([.biometryAny, .devicePasscode])
        desk.scan(matching: true)
        desk.pass(.seconds(10))
        #expect(desk.refusal(id) == .biometryLockout)
    }

    @Test("R50: A logout revokes the match")
    func logout() throws {
        var settings = Settings()
        settings.passcodeAfterBoot = true
        var desk = EngineHarness(.finger, settings: settings)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        let id = try desk.access([.biometryAny, .devicePasscode])
        desk.scan(matching: true)
        desk.send(.loggedOut(uid: EngineHarness.uid))
        #expect(desk.refusal(id) == .biometryLockout)
    }

    @Test("R67: An enrolment change revokes the match, before and after its write")
    func enrolment() throws {
        for isWritten in [true, false] {
            var desk = EngineHarness(.finger)
            desk.fail(1)
            desk.writes = isWritten
            let id = try desk.access([.biometryCurrentSet, .applicationPassword])
            desk.scan(matching: true)
            #expect(desk.isPending(id))
            desk.send(.enrolmentChanged(uid: EngineHarness.uid))
            #expect(desk.refusal(id) == .systemCancel)
        }
    }

    @Test("R67: An enrolment change revokes a match that waits for its confirmation")
    func enrolmentBeforeConfirmation() {
        var desk = EngineHarness(.webcam)
        let id = desk.evaluate(.biometrics)
        desk.scan("webcam", matching: true)
        desk.send(.enrolmentChanged(uid: EngineHarness.uid))
        #expect(desk.refusal(id) == .systemCancel)
    }

    @Test("R35, R67: An enrolment change revokes the context's proofs and no others")
    func contextEnrolment() throws {
        var desk = EngineHarness(.finger)
        desk.evaluate(.biometrics, context: EngineHarness.context)
        desk.scan(matching: true)
        let id = try desk.access(
            [.biometryCurrentSet, .devicePasscode],
            context: EngineHarness.context
        )
        #expect(desk.presentation(id)?.stage == .passcode)
        let waiting = try desk.access([.devicePasscode])
        let looking = desk.evaluate(.biometrics, client: EngineHarness.other)
        desk.send(.enrolmentChanged(uid: EngineHarness.uid))
        #expect(desk.refusal(id) == .systemCancel)
        desk.passcode(waiting, .correct)
        #expect(desk.grant(waiting) != nil)
        desk.scan(matching: true)
        #expect(desk.grant(looking) != nil)
    }

    @Test("An enrolment change keeps a password that was given in the prompt")
    func enrolmentAfterPasscode() throws {
        var desk = EngineHarness(.finger)
        let id = try desk.access([.devicePasscode, .applicationPassword])
        desk.passcode(id, .correct)
        desk.send(.enrolmentChanged(uid: EngineHarness.uid))
        desk.send(.passwordOffered(id))
        desk.send(.passwordTried(id, .correct))
        #expect(desk.grant(id)?.mechanism == .passcode)
    }

    @Test("Each required password revokes the proofs since the last one")
    func requiredAgain() throws {
        var desk = EngineHarness(.key)
        remote(&desk)
        desk.evaluate(.companion, context: EngineHarness.context)
        desk.scan("key", matching: true)
        let granted = try desk.access([.companion], context: EngineHarness.context)
        #expect(desk.grant(granted) != nil)
        let partly = try desk.access([.companion, .devicePasscode], context: EngineHarness.context)
        remote(&desk)
        #expect(desk.refusal(partly) == .biometryLockout)
        let asked = try desk.access([.companion], context: EngineHarness.context)
        #expect(desk.isPending(asked))
    }
}
