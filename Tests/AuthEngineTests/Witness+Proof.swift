import Contract

@testable import AuthEngine

/// Checks that every grant was proved.
extension Witness {
    /// Checks that a template update follows a match and a right password in the same prompt.
    mutating func seeLesson(
        _ operation: OperationID,
        _ id: EvaluationID,
        _ name: String,
        _ engine: AuthEngine
    ) {
        guard let known = live[id], let sensor = known.seen[operation] else {
            complain("something is learned of \(operation), which did not match in \(id)")
            return
        }
        if sensor.name != name || sensor.type != .face && sensor.type != .iris {
            complain("\(name) is to learn from \(sensor.name)")
        }
        if !known.isPasscodeCorrect || known.isEnded {
            complain("something is learned without a passcode: \(id)")
        }
        if !engine.settings.updatesFaceTemplates {
            complain("something is learned, and must not be")
        }
        live[id]?.seen[operation] = nil
    }

    mutating func seeGrant(
        _ id: EvaluationID,
        _ grant: Grant,
        _ known: Live,
        _ write: Write?,
        _ engine: AuthEngine
    ) {
        let now = engine.now
        if grant.uid != known.request.uid { complain("\(id) is granted for another user") }
        if now >= known.deadline { complain("\(id) is granted after its deadline") }
        // `StageWitness` checks the proofs of access controls.
        let isItem = known.request.operation != nil
        if !isItem, !isProved(grant, known, now) { complain("\(id) is granted without proof") }
        if grant.type != .none, engine.isBiometryRefused(grant.uid) {
            complain("\(id) is granted by biometry, which waits for a passcode")
        }
        if grant.mechanism == .biometry, known.request.isUnlock { unlocks[grant.uid] = now }
        let isWritten = write?.evaluation == id && write?.kind == .acceptance
        let record = engine.records[grant.uid] ?? UserRecord()
        let hadNothingToWrite =
            switch grant.mechanism {
            case .biometry: record.halves == 0
            case .passcode: record.fieldsThatMustSurvive == UserRecord()
            case .companion, .context, .reuse, .applicationPassword: true
            }
        if !isItem, !isWritten, !hadNothingToWrite {
            complain("\(id) is granted before it is written")
        }
        if !isItem { remember(grant, known, now) }
    }

    /// Whether the match needs a confirmation, by the settings at that time.
    func mustConfirm(_ match: SensorFact, _ request: Request?) -> Bool {
        guard match.type.isPassive else { return false }
        let wish = request?.requiresConfirmation
        return wish == true || confirmation == .always
            || (wish == nil && match.strength != .strong && confirmation == .automatic)
    }

    private func isProved(_ grant: Grant, _ known: Live, _ now: Instant) -> Bool {
        let request = known.request
        switch grant.mechanism {
        case .passcode:
            return known.isPasscodeCorrect
                && request.stages.contains { $0.contains(.passcode) }
        case .applicationPassword: return false
        case .biometry, .companion:
            guard let match = known.match, match.name == grant.sensor, match.type == grant.type,
                match.strength == grant.strength,
                (match.type == .none) == (grant.mechanism == .companion)
            else { return false }
            return known.isConfirmed
        case .context:
            guard let context = request.context, !invalid.contains(context) else { return false }
            return (successes[context] ?? [])
                .contains { success in
                    let earlier = success.grant
                    let policies: [Policy] =
                        switch earlier.mechanism {
                        case .biometry:
                            [.biometrics, .biometricsOrPasscode, .biometricsOrCompanion]
                        case .companion: [.companion, .biometricsOrCompanion]
                        default: [.biometricsOrPasscode]
                        }
                    return earlier.uid == grant.uid && earlier.sensor == grant.sensor
                        && policies.contains(request.policy) && now < success.moment
                        && (earlier.strength.map { $0 >= (request.minimumStrength ?? $0) } ?? true)
                }
        case .reuse:
            guard let unlock = unlocks[grant.uid], !request.isUnlock, request.policy != .companion,
                known.facts?.session != nil
            else { return false }
            return now < unlock + min(request.reuseDuration, .seconds(300))
        }
    }

    private mutating func remember(_ grant: Grant, _ known: Live, _ now: Instant) {
        guard grant.mechanism != .context, grant.mechanism != .reuse,
            let context = known.request.context
        else { return }
        if invalid.contains(context) { return }
        successes[context]?
            .removeAll {
                $0.grant.mechanism == grant.mechanism && $0.grant.strength == grant.strength
            }
        successes[context, default: []]
            .append(
                Success(
                    grant: grant,
                    moment: now + lifetime,
                    session: known.facts?.session
                )
            )
    }
}
