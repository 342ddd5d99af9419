import Contract
import Testing

@testable import AuthEngine

@Suite("One password check a user at a time")
struct PasscodeTurnTests {
    private static func record(wrong count: Int) -> UserRecord {
        var record = UserRecord()
        record.wrongPasscodes = count
        return record
    }

    @Test("L20: One password of a user is checked at a time, over all sessions and callers")
    func oneAtATime() {
        var desk = EngineHarness()
        let ids = (1...3).map { desk.evaluateElsewhere($0) }
        let other = desk.evaluateElsewhere(4, uid: 2000)
        for id in ids + [other] { desk.send(.passcodeOffered(id)) }
        #expect(desk.asked == [ids[0], other], "another user has a turn of their own")
        desk.send(.passcodeVerified(ids[0], .wrong))
        #expect(desk.asked == [ids[0], other, ids[1]])
        // The verdict of a waiting password must not count yet.
        desk.send(.passcodeVerified(ids[2], .correct))
        #expect(desk.isPending(ids[2]))
        desk.send(.passcodeVerified(ids[1], .correct))
        #expect(desk.grant(ids[1]) != nil)
        #expect(desk.asked.last == ids[2])
    }

    @Test("L20: An unlock's password precedes others in the queue")
    func unlockFirst() {
        var desk = EngineHarness()
        let ids = (1...2).map { desk.evaluateElsewhere($0) }
        desk.register(AgentID(50), session: "locked")
        desk.facts.session = "locked"
        let unlock = desk.evaluate(.biometricsOrPasscode, client: EngineHarness.other) {
            $0.isUnlock = true
        }
        for id in ids + [unlock] { desk.send(.passcodeOffered(id)) }
        desk.send(.passcodeVerified(ids[0], .wrong))
        #expect(desk.asked == [ids[0], unlock])
    }

    @Test("L20: A waiting password is not checked after its evaluation has ended")
    func leavesTheQueue() {
        var desk = EngineHarness()
        let ids = (1...3).map { desk.evaluateElsewhere($0) }
        for id in ids { desk.send(.passcodeOffered(id)) }
        desk.send(.clientGone(ClientID(2)))
        desk.send(.passcodeVerified(ids[0], .wrong))
        #expect(desk.asked == [ids[0], ids[2]])
        desk.send(.passcodeVerified(ids[2], .wrong))
        #expect(desk.engine.record(of: EngineHarness.uid).wrongPasscodes == 2)
        #expect(desk.engine.attempts.isEmpty && desk.engine.queuedPasswords.isEmpty)
    }

    @Test("L20: An attempt is written as a wrong password before the verifier gets it")
    func countedFirst() {
        var desk = EngineHarness(records: [EngineHarness.uid: Self.record(wrong: 5)])
        desk.writes = false
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.send(.passcodeOffered(id))
        #expect(desk.asked.isEmpty)
        #expect(desk.lastWrite?.wrongPasscodes == 6)
        #expect(desk.lastWrite?.delayedUntil == desk.now + .seconds(60))
        desk.write()
        #expect(desk.asked == [id])
        // Other writes meanwhile must keep the attempt.
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        #expect(desk.lastWrite?.wrongPasscodes == 1)
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.remote)))
        #expect(desk.lastWrite?.wrongPasscodes == 1)
        desk.send(.passcodeVerified(id, .wrong))
        #expect(desk.lastWrite?.wrongPasscodes == 1)
    }

    @Test("L20: Only a right password, or a check without a verdict, revokes an attempt")
    func takenBack() {
        for hasLeft in [false, true] {
            for verdict in [PasscodeVerdict.correct, .wrong, .failed, .refused("locked"), .lost] {
                var desk = EngineHarness(records: [EngineHarness.uid: Self.record(wrong: 2)])
                let id = desk.evaluate(.biometricsOrPasscode)
                desk.send(.passcodeOffered(id))
                if hasLeft { desk.send(.oneShotsInvalidated(EngineHarness.client)) }
                #expect(desk.lastWrite?.wrongPasscodes == 3)
                desk.send(.passcodeVerified(id, verdict))
                let expected =
                    switch verdict {
                    // A right password without a waiting prompt clears no counter.
                    case .correct: hasLeft ? 2 : 0
                    case .failed, .refused: 2
                    case .wrong, .lost: 3
                    }
                #expect(desk.lastWrite?.wrongPasscodes == expected, "\(verdict) \(hasLeft)")
                #expect(desk.engine.record(of: EngineHarness.uid) == desk.lastWrite)
            }
        }
    }

    @Test("L20: An attempt that can't be written never reaches the verifier")
    func notWritten() {
        var desk = EngineHarness()
        let ids = (1...2).map { desk.evaluateElsewhere($0) }
        desk.writes = false
        for id in ids { desk.send(.passcodeOffered(id)) }
        desk.failToWrite()
        #expect(desk.refusal(ids[0]) == .systemCancel)
        #expect(desk.asked.isEmpty)
        #expect(desk.engine.record(of: EngineHarness.uid).wrongPasscodes == 0)
        desk.write()
        #expect(desk.asked == [ids[1]], "the next one has its turn")
    }

    @Test("L20: While another write of the user has failed, no password is checked")
    func otherNotWritten() throws {
        var desk = EngineHarness()
        desk.writes = false
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.send(.passcodeOffered(id))
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.remote)))
        let saves = desk.unwritten
        try #require(saves.count == 2)
        desk.send(.saved(saves[0]))
        desk.send(.saveFailed(saves[1]))
        #expect(desk.asked.isEmpty)
        #expect(desk.refusal(id) == .systemCancel)
    }

    @Test("L20: An evaluation that ends during its attempt's write is not checked")
    func endsWhileWritten() {
        var desk = EngineHarness()
        desk.writes = false
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.send(.passcodeOffered(id))
        desk.send(.canceled(id))
        desk.write()
        #expect(desk.asked.isEmpty)
        #expect(desk.lastWrite?.wrongPasscodes == 0)
        #expect(desk.engine.attempts.isEmpty)
    }

    @Test("L10, L20: Guesses of callers that disconnect count, and the delay refuses more")
    func guessesOfThoseWhoLeave() {
        var desk = EngineHarness()
        var guesses: [EvaluationID] = []
        for _ in 0..<9 {
            let id = desk.evaluate(.biometricsOrPasscode)
            desk.send(.passcodeOffered(id))
            guesses.append(id)
            desk.send(.oneShotsInvalidated(EngineHarness.client))
            // After the delay began, even the right password is refused.
            if desk.asked.last == id { desk.send(.passcodeVerified(id, .wrong)) }
        }
        #expect(desk.asked == Array(guesses.prefix(6)))
        #expect(desk.engine.record(of: EngineHarness.uid).wrongPasscodes == 6)
        #expect(desk.refused(.biometricsOrPasscode) == .authenticationFailed)
    }

    @Test("L10, L20: Of twelve sessions guessing at once, only six reach the verifier")
    func twelveSessions() {
        var desk = EngineHarness()
        let ids = (1...12).map { desk.evaluateElsewhere($0) }
        for id in ids { desk.send(.passcodeOffered(id)) }
        for (index, id) in ids.enumerated() {
            desk.send(.passcodeVerified(id, index == 11 ? .correct : .wrong))
        }
        #expect(desk.asked == Array(ids.prefix(6)))
        for id in ids.suffix(7) {
            #expect(desk.refusal(id) == .authenticationFailed)
            #expect(desk.message(id).contains("you cannot enter a password") || id == ids[5])
        }
        #expect(desk.grant(ids[11]) == nil)
        #expect(desk.engine.record(of: EngineHarness.uid).wrongPasscodes == 6)
    }

    @Test("L10: A sensor continues in a prompt whose password waited when the delay began")
    func waitsWithSensor() {
        var desk = EngineHarness(.finger, records: [EngineHarness.uid: Self.record(wrong: 5)])
        let ids = (1...2).map { desk.evaluateElsewhere($0) }
        for id in ids { desk.send(.passcodeOffered(id)) }
        desk.send(.passcodeVerified(ids[0], .wrong))
        #expect(desk.asked == [ids[0]] && desk.isPending(ids[1]))
        // The prompt must not show a check forever.
        #expect(desk.progress(ids[1]).last == .passcodeNotTaken)
        desk.pass(.seconds(60))
        #expect(desk.progress(ids[1]).last == .passcodeRequired(cause: PasscodeCause(.delayOver)))
        desk.scan(matching: true)
        #expect(desk.grant(ids[1])?.mechanism == .biometry)
    }

    @Test("L10: Every prompt learns once about a delay that another prompt caused")
    func toldOfDelay() {
        var desk = EngineHarness(.finger, records: [EngineHarness.uid: Self.record(wrong: 5)])
        let ids = (1...2).map { desk.evaluateElsewhere($0) }
        desk.send(.passcodeOffered(ids[0]))
        desk.send(.passcodeVerified(ids[0], .wrong))
        #expect(desk.progress(ids[1]) == [.promptShown, .passcodeNotTaken])
        let late = desk.evaluateElsewhere(3)
        #expect(desk.progress(late) == [.promptShown, .passcodeNotTaken])
        #expect(!desk.engine.takesPasscode(ids[1]))
        #expect(desk.send(.passcodeOffered(ids[1])).isEmpty && desk.isPending(ids[1]))
        desk.pass(.seconds(60))
        #expect(desk.progress(ids[1]).last == .passcodeRequired(cause: PasscodeCause(.delayOver)))
        desk.send(.passcodeOffered(ids[1]))
        #expect(desk.asked == ids)
    }

    @Test("L10: A delay restored during an attempt's write keeps it from the verifier")
    func delayedBefore() {
        var record = Self.record(wrong: 6)
        record.delayedUntil = Instant(nanoseconds: 0) + .seconds(100)
        var desk = EngineHarness(.finger, records: [EngineHarness.uid: record])
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.writes = false
        // An unlock ends the delay, but its write fails.
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        desk.send(.passcodeOffered(id))
        let saves = desk.unwritten
        desk.send(.saveFailed(saves[0]))
        desk.send(.saved(saves[1]))
        #expect(desk.asked.isEmpty, "the older failures are not on the disk again")
        for save in desk.unwritten.dropFirst(2) { desk.send(.saved(save)) }
        #expect(desk.asked.isEmpty, "a delay runs")
        #expect(desk.isPending(id))
        #expect(desk.engine.record(of: EngineHarness.uid).wrongPasscodes == 6)
    }

    @Test("L10: A right password is refused if a delay runs when its verdict arrives")
    func delayedMeanwhile() {
        for hasLeft in [false, true] {
            var desk = EngineHarness(.finger)
            let id = desk.evaluate(.biometricsOrPasscode)
            desk.send(.passcodeOffered(id))
            #expect(desk.asked == [id])
            desk.engine.records[EngineHarness.uid, default: UserRecord()].wrongPasscodes = 6
            desk.engine.records[EngineHarness.uid]?.delayedUntil = desk.now + .seconds(60)
            if hasLeft { desk.send(.canceled(id)) }
            desk.send(.passcodeVerified(id, .correct))
            #expect(desk.grant(id) == nil)
            #expect(
                desk.engine.record(of: EngineHarness.uid).wrongPasscodes == 7,
                "like a wrong one"
            )
            #expect(desk.isPending(id) || hasLeft)
        }
    }

    /// Starts a prompt with two stages that a password can prove.
    ///
    /// No access control has such stages yet.
    private static func twoStages(_ desk: inout EngineHarness, _ first: Set<Factor>) -> EvaluationID
    {
        desk.evaluate(.biometricsOrPasscode) { $0.stages = [first, [.passcode]] }
    }

    @Test("A late verdict on an earlier stage does not block the next stage's password")
    func lateVerdict() {
        for verdict in [PasscodeVerdict.correct, .wrong, .failed, .refused("locked"), .lost] {
            var desk = EngineHarness(.finger)
            let id = Self.twoStages(&desk, [.biometry, .passcode])
            desk.send(.passcodeOffered(id))
            desk.scan(matching: true)
            #expect(desk.isPending(id))
            desk.send(.passcodeVerified(id, verdict))
            #expect(desk.engine.takesPasscode(id), "\(verdict)")
            desk.passcode(id, .correct)
            #expect(desk.grant(id)?.proofs.map(\.mechanism) == [.biometry, .passcode])
        }
        // A wrong password is being written as the stage ends.
        var desk = EngineHarness(.key)
        let id = Self.twoStages(&desk, [.companion, .passcode])
        desk.send(.passcodeOffered(id))
        desk.writes = false
        desk.send(.passcodeVerified(id, .wrong))
        desk.scan("key", matching: true)
        #expect(desk.engine.takesPasscode(id))
        desk.write()
        desk.writes = true
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.proofs.map(\.mechanism) == [.companion, .passcode])
    }

    @Test("L10: Two wrong passwords of one prompt count even if no prompt waits for either")
    func twoLateVerdicts() {
        var desk = EngineHarness(.finger)
        let id = Self.twoStages(&desk, [.biometry, .passcode])
        desk.send(.passcodeOffered(id))
        desk.scan(matching: true)
        desk.send(.passcodeOffered(id))
        desk.send(.passcodeVerified(id, .wrong))
        #expect(desk.asked == [id, id])
        desk.send(.canceled(id))
        desk.send(.passcodeVerified(id, .wrong))
        #expect(desk.engine.record(of: EngineHarness.uid).wrongPasscodes == 2)
    }

    @Test("L22: The app's password is refused before the prompt asks for it")
    func beforePasswordIsAsked() throws {
        var desk = EngineHarness(.finger)
        let id = try desk.access([.biometryAny, .applicationPassword])
        desk.writes = false
        desk.scan(matching: false)
        desk.scan(matching: true)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        let saves = desk.unwritten
        for save in saves.prefix(2) { desk.send(.saved(save)) }
        // The stage is proved, but another write of the user delays the next stage.
        #expect(!desk.engine.takesPassword(id) && desk.send(.passwordOffered(id)).isEmpty)
        desk.send(.saved(saves[2]))
        #expect(desk.progress(id).last == .applicationPasswordRequired)
        #expect(desk.send(.passwordOffered(id)) == [.takePassword(id)])
    }
}
