import Contract
import Testing

@testable import AuthEngine

@Suite("Access control stages")
struct AccessStageTests {
    @Test("R63: An access control asks for biometry and password in turn, in one prompt")
    func both() throws {
        var desk = EngineHarness(.finger)
        let id = try desk.access([.biometryAny, .devicePasscode])
        #expect(desk.presentation(id)?.stage == .biometry)
        #expect(!desk.engine.takesPasscode(id) && desk.passcode(id, .correct).isEmpty)
        desk.scan(matching: true)
        #expect(desk.isPending(id))
        #expect(desk.progress(id).last == .passcodeRequired(cause: PasscodeCause(.accessControl)))
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.proofs.map(\.mechanism) == [.biometry, .passcode])
        #expect(desk.prompts == 1)
    }

    @Test("R63: With `or`, either proof is enough, and the prompt takes both from the start")
    func either() throws {
        var desk = EngineHarness(.finger)
        let byFinger = try desk.access([.biometryAny, .devicePasscode, .or])
        desk.scan(matching: true)
        #expect(desk.grant(byFinger)?.proofs.map(\.mechanism) == [.biometry])
        let byPasscode = try desk.access([.biometryAny, .devicePasscode, .or])
        desk.passcode(byPasscode, .correct)
        #expect(desk.grant(byPasscode)?.proofs.map(\.mechanism) == [.passcode])
    }

    @Test("R67: A password-only access control starts no sensor")
    func passcodeOnly() throws {
        var desk = EngineHarness(.finger)
        let id = try desk.access([.devicePasscode])
        #expect(desk.presentation(id)?.stage == .passcode)
        #expect(desk.operations.isEmpty)
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.mechanism == .passcode)
    }

    @Test("A stage that can't be proved refuses the evaluation before a prompt appears")
    func unavailableStage() throws {
        var desk = EngineHarness(.finger)
        let id = try desk.access([.biometryAny, .companion])
        #expect(desk.refusal(id) == .companionNotAvailable)
        #expect(desk.prompts == 0)
    }

    @Test("Misses in the first stage end the evaluation before the second")
    func firstStageFails() throws {
        var desk = EngineHarness(.finger)
        let id = try desk.access([.biometryAny, .devicePasscode])
        for _ in 0..<3 { desk.scan(matching: false) }
        #expect(desk.refusal(id) == .authenticationFailed)
    }

    @Test("A lockout between two stages revokes the match")
    func lockoutBetween() throws {
        var desk = EngineHarness(.finger, .key)
        let id = try desk.access([.biometryAny, .companion])
        desk.scan(matching: true)
        #expect(desk.isPending(id))
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.remote)))
        desk.scan("key", matching: true)
        #expect(desk.refusal(id) == .biometryLockout)
    }

    @Test("R64: The app's password comes last, and the service checks it once")
    func applicationPassword() throws {
        for verdict in [PasscodeVerdict.correct, .wrong] {
            var desk = EngineHarness(.finger)
            let id = try desk.access([.biometryAny, .applicationPassword])
            desk.scan(matching: true)
            #expect(desk.progress(id).last == .applicationPasswordRequired)
            #expect(desk.send(.passwordOffered(id)) == [.takePassword(id)])
            desk.send(.passwordTried(id, verdict))
            #expect((desk.grant(id) != nil) == (verdict == .correct))
            #expect(desk.refusal(id) == (verdict == .wrong ? .authenticationFailed : nil))
        }
    }

    @Test("R64: The app's password alone gets a prompt, and proves no presence")
    func applicationPasswordAlone() throws {
        var desk = EngineHarness(.finger)
        let id = try desk.access([.applicationPassword])
        #expect(desk.presentation(id)?.stage == .applicationPassword)
        desk.send(.passwordOffered(id))
        // The login verifier's verdict must not count for the app's password.
        desk.send(.passcodeVerified(id, .correct))
        #expect(desk.isPending(id))
        desk.send(.passwordTried(id, .correct))
        #expect(desk.grant(id)?.mechanism == .applicationPassword)
        #expect(desk.grant(id)?.factor == nil)
    }

    @Test("A password before the prompt is visible counts, and the app's password follows")
    func earlyPasscode() throws {
        var desk = EngineHarness(.finger)
        desk.beginsPrompts = false
        let id = try desk.access([.userPresence, .applicationPassword])
        desk.passcode(id, .correct)
        #expect(desk.operations.isEmpty)
        desk.send(.promptBegan(id))
        #expect(desk.operations.isEmpty)
        #expect(desk.progress(id).last == .applicationPasswordRequired)
        desk.send(.passwordOffered(id))
        desk.send(.passwordTried(id, .correct))
        #expect(desk.grant(id) != nil)
    }

    @Test("R35: A context with a success needs no prompt, a context without one prompts once")
    func context() throws {
        var desk = EngineHarness(.finger)
        desk.evaluate(.biometrics, context: EngineHarness.context)
        desk.scan(matching: true)
        #expect(desk.prompts == 1)
        for operation in [AccessOperation.useItem, .useKeySign] {
            let id = try desk.access([.biometryAny], operation, context: EngineHarness.context)
            #expect(desk.grant(id)?.mechanism == .context)
            #expect(desk.grant(id)?.proofs.map(\.mechanism) == [.biometry, .context])
        }
        #expect(desk.prompts == 1)
        let fresh = ContextID(2)
        let first = try desk.access([.biometryAny], context: fresh)
        desk.scan(matching: true)
        #expect(desk.grant(first)?.mechanism == .biometry)
        let second = try desk.access([.biometryAny], context: fresh)
        #expect(desk.grant(second)?.mechanism == .context)
        #expect(desk.prompts == 2)
    }

    @Test("R35: A proof of an access control counts for its operation only, and for no policy")
    func operations() throws {
        var desk = EngineHarness(.finger)
        _ = try desk.access([.biometryAny], .useKeySign, context: EngineHarness.context)
        desk.scan(matching: true)
        let other = try desk.access([.biometryAny], .useKeyDecrypt, context: EngineHarness.context)
        #expect(desk.isPending(other))
        desk.send(.canceled(other))
        let policy = desk.evaluate(.biometrics, context: EngineHarness.context)
        #expect(desk.isPending(policy))
        desk.send(.canceled(policy))
        let same = try desk.access([.biometryAny], .useKeySign, context: EngineHarness.context)
        #expect(desk.grant(same) != nil)
    }

    @Test("A context with a partial proof asks only for the rest, and the part keeps its age")
    func part() throws {
        var desk = EngineHarness(.finger)
        desk.evaluate(.biometrics, context: EngineHarness.context)
        desk.scan(matching: true)
        desk.pass(.seconds(500))
        let id = try desk.access([.biometryAny, .devicePasscode], context: EngineHarness.context)
        #expect(desk.presentation(id)?.stage == .passcode)
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.proofs.map(\.mechanism) == [.biometry, .passcode])
        desk.pass(.seconds(101))
        let later = try desk.access([.biometryAny], context: EngineHarness.context)
        #expect(desk.isPending(later))
    }

    @Test("L8: A sensor that is too weak neither runs for an item nor proves anything for it")
    func strength() throws {
        var desk = EngineHarness(.webcam)
        desk.evaluate(.biometrics, context: EngineHarness.context) {
            $0.requiresConfirmation = false
        }
        desk.scan("webcam", matching: true)
        let id = try desk.access([.biometryAny], context: EngineHarness.context) {
            $0.minimumStrength = .strong
        }
        #expect(desk.refusal(id) == .biometryNotAvailable)
        let lowered = try desk.access([.biometryAny], context: EngineHarness.context) {
            $0.minimumStrength = .convenience
        }
        #expect(desk.grant(lowered) != nil)
    }

    @Test("R36, R68: Without interaction, a guarded item is always refused as not interactive")
    func interaction() throws {
        var desk = EngineHarness()
        let id = try desk.access([.biometryAny]) { $0.isInteractionNotAllowed = true }
        #expect(desk.refusal(id) == .notInteractive)
    }

    @Test("R34: A recent unlock of the screen reads no item")
    func reuse() throws {
        var desk = EngineHarness(.finger)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        let id = try desk.access([.biometryAny]) { $0.reuseDuration = .seconds(300) }
        #expect(desk.isPending(id))
    }

    @Test("A request without stages is refused")
    func nothing() throws {
        var desk = EngineHarness(.finger)
        let id = try desk.access([])
        #expect(desk.refusal(id) == .systemCancel)
    }

    @Test("A client that disconnects during the check of its app's password leaves no state")
    func leaving() throws {
        var desk = EngineHarness(.finger)
        let id = try desk.access([.applicationPassword])
        desk.send(.passwordOffered(id))
        desk.send(.clientGone(EngineHarness.client))
        #expect(!desk.isPending(id))
        #expect(desk.engine.attempts.isEmpty)
        #expect(desk.send(.passwordTried(id, .correct)).isEmpty)
    }

    @Test("R35: A success by an excluded sensor proves nothing for the caller's item")
    func leftOut() throws {
        var desk = EngineHarness(.finger, .sensor("other", .fingerprint))
        desk.evaluate(.biometrics, context: EngineHarness.context)
        desk.scan("other", matching: true)
        let id = try desk.access([.biometryAny], context: EngineHarness.context) {
            $0.sensors = ["finger"]
        }
        #expect(desk.isPending(id))
        desk.send(.canceled(id))
        let any = try desk.access([.biometryAny], context: EngineHarness.context) {
            $0.sensors = ["finger", "other"]
        }
        #expect(desk.grant(any) != nil)
    }

    @Test("A miss that is written late is reported in no later stage and brings no fallback")
    func lateMismatch() throws {
        var desk = EngineHarness(.finger, .key)
        desk.writes = false
        let flags: AccessControl.Flags = [.biometryAny, .companion, .or, .applicationPassword]
        let id = try desk.access(flags) { $0.offersFallback = true }
        desk.scan(matching: false)
        desk.scan("key", matching: true)
        desk.write()
        let asked = Progress.applicationPasswordRequired
        #expect(desk.progress(id) == [.promptShown, asked])
        #expect(!desk.engine.offersFallback(id))
    }

    @Test("R24: Cancel ends every stage and discards all proofs")
    func cancel() throws {
        let flags: AccessControl.Flags = [
            .biometryAny, .companion, .devicePasscode, .applicationPassword,
        ]
        for proved in 0..<4 {
            var desk = EngineHarness(.finger, .key)
            let id = try desk.access(flags, context: EngineHarness.context)
            if proved > 0 { desk.scan(matching: true) }
            if proved > 1 { desk.scan("key", matching: true) }
            if proved > 2 { desk.passcode(id, .correct) }
            #expect(desk.isPending(id))
            desk.send(.canceled(id))
            #expect(desk.refusal(id) == .userCancel)
            #expect(desk.operations.isEmpty)
            let again = try desk.access(flags, context: EngineHarness.context)
            #expect(desk.operations.map(\.sensor) == ["finger"])
            desk.send(.canceled(again))
        }
    }

    @Test("A sensor fault in a later stage ends the evaluation and discards all proofs")
    func laterFault() throws {
        var desk = EngineHarness(.finger, .key)
        let id = try desk.access([.biometryAny, .companion])
        desk.scan(matching: true)
        desk.fault("key")
        #expect(desk.refusal(id) == .companionNotAvailable)
    }

    @Test("R64: The app's password must be submitted, and a success does not replace it")
    func passwordNotOffered() throws {
        var desk = EngineHarness(.finger)
        desk.evaluate(.biometrics, context: EngineHarness.context)
        desk.scan(matching: true)
        let id = try desk.access(
            [.biometryAny, .applicationPassword],
            context: EngineHarness.context
        )
        #expect(desk.presentation(id)?.stage == .applicationPassword)
        desk.send(.passwordTried(id, .correct))
        #expect(desk.isPending(id))
        desk.send(.passwordOffered(id))
        #expect(!desk.engine.takesPassword(id) && desk.send(.passwordOffered(id)).isEmpty)
        desk.send(.passwordTried(id, .correct))
        #expect(desk.grant(id)?.proofs.map(\.mechanism) == [.biometry])
    }

    @Test("L10: A late password of an earlier stage counts only if it is wrong")
    func latePasscode() throws {
        for verdict in [PasscodeVerdict.correct, .wrong] {
            var desk = EngineHarness(.finger)
            let id = try desk.access([.userPresence, .applicationPassword])
            desk.send(.passcodeOffered(id))
            desk.scan(matching: true)
            #expect(desk.send(.passwordOffered(id)) == [.takePassword(id)])
            desk.send(.passcodeVerified(id, verdict))
            #expect(desk.isPending(id))
            #expect(
                desk.engine.record(of: EngineHarness.uid).wrongPasscodes
                    == (verdict == .wrong ? 1 : 0)
            )
            desk.send(.passwordTried(id, .correct))
            #expect(desk.grant(id)?.proofs.map(\.mechanism) == [.biometry])
        }
    }

    @Test("L8: A grant authorizes only its own user, and only with a strong enough sensor")
    func authorization() throws {
        var desk = EngineHarness(.webcam)
        let id = desk.evaluate(.biometrics) { $0.requiresConfirmation = false }
        desk.scan("webcam", matching: true)
        let proofs = try #require(desk.grant(id)).proofs
        let item = try AccessControl(flags: .biometryAny)
        func opens(uid: UInt32, _ strength: Strength, _ operation: AccessOperation) -> Bool {
            AccessGrant.resting(
                on: proofs,
                for: operation,
                uid: uid,
                accessControl: item,
                minimumStrength: strength
            ) != nil
        }
        #expect(opens(uid: EngineHarness.uid, .convenience, .useItem))
        #expect(!opens(uid: EngineHarness.uid, .weak, .useItem))
        #expect(!opens(uid: EngineHarness.uid, .strong, .useKeyDecrypt))
        #expect(!opens(uid: EngineHarness.uid + 1, .convenience, .useItem))
        #expect(opens(uid: EngineHarness.uid, .strong, .createItem))
    }

    @Test("R64: The app's password is asked for even after a prompt for the login password")
    func askedTwice() throws {
        var desk = EngineHarness(.finger)
        let id = try desk.access([.userPresence, .applicationPassword]) { $0.offersFallback = true }
        desk.send(.fellBack(id))
        #expect(desk.progress(id).last == .passcodeRequired(cause: PasscodeCause(.fallback)))
        desk.scan(matching: true)
        #expect(desk.progress(id).last == .applicationPasswordRequired)
    }

    @Test("R35: A context keeps the proofs of every stage")
    func keptStages() throws {
        var desk = EngineHarness(.finger)
        let flags: AccessControl.Flags = [.biometryAny, .devicePasscode]
        let first = try desk.access(flags, context: EngineHarness.context)
        desk.scan(matching: true)
        desk.passcode(first, .correct)
        let second = try desk.access(flags, context: EngineHarness.context)
        #expect(desk.grant(second)?.proofs.map(\.mechanism) == [.biometry, .passcode, .context])
    }

    @Test("R22: A fallback button does not carry over to the next stage")
    func fallbackOfStage() throws {
        var desk = EngineHarness(.finger, .key)
        let id = try desk.access([.biometryAny, .companion]) { $0.offersFallback = true }
        desk.scan(matching: false)
        #expect(desk.engine.offersFallback(id))
        desk.scan(matching: true)
        #expect(!desk.engine.offersFallback(id))
        desk.scan("key", matching: false)
        #expect(desk.engine.offersFallback(id))
    }
}

extension EngineHarness {
    /// Evaluates an access control.
    @discardableResult
    mutating func access(
        _ flags: AccessControl.Flags,
        _ operation: AccessOperation = .useItem,
        context: ContextID? = nil,
        _ change: (inout Request) -> Void = { _ in }
    ) throws -> EvaluationID {
        let requirement = try AccessControl(flags: flags).requirement(for: operation)
        return evaluate(.biometrics, context: context) { request in
            request = Request(
                id: request.id,
                client: request.client,
                context: context,
                uid: request.uid,
                operation: operation,
                requirement: requirement
            )
            request.offersFallback = false
            change(&request)
        }
    }
}
