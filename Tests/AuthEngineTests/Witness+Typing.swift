import Contract

@testable import AuthEngine

/// Checks when a password is accepted, and when a prompt is told to ask for it.
extension Witness {
    /// Checks that a refused password has no effect.
    mutating func checkSubmission(_ event: Event, _ effects: [Effect]) {
        switch event {
        case .passcodeOffered(let id):
            if live[id]?.takesPasscode != true, !effects.isEmpty {
                complain("a passcode that is not taken has effects: \(id)")
            }
        case .passwordOffered(let id):
            let isTaken = live[id]?.takesPassword == true
            if effects != (isTaken ? [.takePassword(id)] : []) {
                complain("a password has other effects: \(id)")
            }
        default: break
        }
    }

    mutating func seeDelay(_ id: EvaluationID, _ progress: Progress, _ engine: AuthEngine) {
        guard let known = live[id] else { return }
        let isDelayed = engine.delayEnd(of: known.request.uid) != nil
        switch progress {
        case .passcodeNotTaken:
            if known.isHeldBack { complain("\(id) is told twice of a delay") }
            live[id]?.isHeldBack = true
        case .passcodeRejected(let left) where isDelayed:
            if left != 0 { complain("\(id) is told of attempts in a delay") }
            live[id]?.isHeldBack = true
        case .passcodeRequired(let cause) where cause.word == .delayOver:
            if !known.isHeldBack { complain("\(id) is told of the end of no delay") }
            live[id]?.isHeldBack = false
        default: break
        }
    }

    /// Checks the messages that a prompt must have received by the end of a step.
    mutating func checkTold(_ event: Event, _ effects: [Effect], _ engine: AuthEngine) {
        if case .revalidationFailed(let id, _) = event, live[id]?.isBegun == true {
            complain("\(id) goes on, unconfirmed")
        }
        for id in live.keys {
            live[id]?.takesPasscode = engine.takesPasscode(id)
            live[id]?.takesPassword = engine.takesPassword(id)
            checkDelay(of: id, isOfTime: event.isOfTime, engine)
            if effects.contains(.tell(id, .promptShown)) { checkCause(of: id, effects, engine) }
        }
    }

    /// Checks that a visible prompt is told once of a delay, and once of its end (L10).
    private mutating func checkDelay(
        of id: EvaluationID,
        isOfTime: Bool,
        _ engine: AuthEngine
    ) {
        guard let known = live[id], let evaluation = engine.evaluations[id],
            evaluation.isShowing, evaluation.prompt?.stage.takesPasscode == true
        else { return }
        let uid = known.request.uid
        let isDelayed = engine.delayEnd(of: uid) != nil
        if isDelayed, known.takesPasscode { complain("\(id) takes a passcode in a delay") }
        if isDelayed, !known.isHeldBack, !engine.isBeingWritten(uid) {
            complain("\(id) is not told of the delay")
        }
        if !isDelayed, known.isHeldBack, isOfTime {
            complain("\(id) is not told that the delay is over")
        }
    }

    /// Checks that a prompt names the rule if it begins with the password because biometry is
    /// refused.
    private mutating func checkCause(
        of id: EvaluationID,
        _ effects: [Effect],
        _ engine: AuthEngine
    ) {
        guard let known = live[id], known.beginsWithPasscode else { return }
        let (request, uid) = (known.request, known.request.uid)
        let isRefused =
            engine.isBiometryRefused(uid) && engine.delayEnd(of: uid) == nil
            && request.stages.contains { $0.isSuperset(of: [.biometry, .passcode]) }
            && known.usableSensors.contains { $0.type != .none }
        let isTold = effects.contains { effect in
            if case .tell(id, .passcodeRequired) = effect { true } else { false }
        }
        if isTold, !isRefused { complain("\(id) says a cause that is none") }
        let isDue = engine.evaluations[id]?.isIdle == true && !engine.isBeingWritten(uid)
        if isDue, isRefused, !isTold { complain("\(id) does not say the cause") }
    }
}

extension Witness.Live {
    /// The sensors that the request allows and that have templates of the user.
    var usableSensors: [SensorFact] {
        (facts?.sensors ?? [])
            .filter { sensor in
                sensor.availability == .usable && sensor.templates > 0
                    && sensor.strength >= (request.minimumStrength ?? .convenience)
                    && request.sensors?.contains(sensor.name) != false
            }
    }
}
