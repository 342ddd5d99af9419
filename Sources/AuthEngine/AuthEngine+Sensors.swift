/// All usable sensors run at once; the first match wins (L5).
extension AuthEngine {
    mutating func start(_ sensor: SensorFact, for id: EvaluationID) {
        lastOperation += 1
        let operation = OperationID(rawValue: lastOperation)
        evaluations[id]?.operations.append(.init(id: operation, sensor: sensor))
        effects.append(.startSensor(operation, id, sensor: sensor.name))
    }

    /// Ends those operations of an evaluation that are such.
    mutating func cancelSensors(
        of id: EvaluationID,
        where isSuch: (SensorFact) -> Bool = { _ in true }
    ) {
        for operation in evaluations[id]?.operations ?? [] where isSuch(operation.sensor) {
            effects.append(.cancelSensor(operation.id))
        }
        evaluations[id]?.operations.removeAll { isSuch($0.sensor) }
    }

    /// What a sensor says counts only for an operation that runs.
    mutating func sensorEvent(_ event: Event) {
        switch event {
        case .sensorReady(let operation):
            guard let (id, sensor) = running(operation) else { return }
            tell(id, .sensorReady(sensor: sensor.name, type: sensor.type))
        case .sensorHinted(let operation, let hint):
            guard let (id, _) = running(operation) else { return }
            tell(id, .hint(hint))
        case .sensorMismatched(let operation):
            guard let (id, sensor) = running(operation) else { return }
            mismatched(id, sensor)
        case .sensorMatched(let operation, template: _):
            guard let (id, sensor) = running(operation) else { return }
            evaluations[id]?.operations.removeAll { $0.id == operation }
            matched(id, sensor)
        case .sensorEnded(let operation):
            guard let (id, _) = running(operation) else { return }
            evaluations[id]?.operations.removeAll { $0.id == operation }
            concludeIfIdle(id)
        default: break
        }
    }

    private func running(_ operation: OperationID) -> (EvaluationID, SensorFact)? {
        for id in prompts.values {
            if let found = evaluations[id]?.operations.first(where: { $0.id == operation }) {
                return (id, found.sensor)
            }
        }
        return nil
    }

    private mutating func matched(_ id: EvaluationID, _ sensor: SensorFact) {
        guard let request = evaluations[id]?.request else { return }
        cancelSensors(of: id)
        guard needsConfirmation(sensor, request) else {
            accept(id, .match(sensor))
            return
        }
        evaluations[id]?.candidate = sensor
        tell(id, .confirmationRequired)
    }

    /// A passive sensor sees people who did not mean it (L7).
    func needsConfirmation(_ sensor: SensorFact, _ request: Request) -> Bool {
        guard sensor.type.isPassive else { return false }
        if request.requiresConfirmation == true || settings.faceConfirmation == .always {
            return true
        }
        return sensor.strength < .strong && request.requiresConfirmation == nil
            && settings.faceConfirmation == .automatic
    }

    /// Counts at once, tells when it is written (R1, R2, R3).
    private mutating func mismatched(_ id: EvaluationID, _ sensor: SensorFact) {
        guard let evaluation = evaluations[id] else { return }
        let uid = evaluation.request.uid
        let count = (evaluation.failures[sensor.type] ?? 0) + 1
        evaluations[id]?.failures[sensor.type] = count
        var left = max(0, settings.attempts(of: sensor.type) - count)
        if left == 0 {
            evaluations[id]?.lastExhausted = sensor.type
            cancelSensors(of: id) { $0.type == sensor.type }
        }
        // The lockout is about biometry; a companion only uses up its attempts.
        guard sensor.type != .none else {
            tellMismatch(id, .none, count: count, left: left)
            concludeIfIdle(id)
            return
        }
        var record = record(of: uid)
        record.failures = min(record.failures, Int.max - 1) + 1
        left = min(left, max(0, settings.lockoutAttempts - record.failures))
        save(record, of: uid, for: id, .mismatch(sensor.type, count: count, left: left))
        if isBiometryRefused(uid) { stopBiometry(of: uid) }
    }

    mutating func tellMismatch(_ id: EvaluationID, _ type: BiometryType, count: Int, left: Int) {
        guard let evaluation = evaluations[id] else { return }
        tell(id, .noMatch(attemptsLeft: left))
        if !evaluation.takesPasscode,
            count >= settings.fallbackThreshold(of: type)
        {
            offerFallback(id)
        }
    }

    private mutating func offerFallback(_ id: EvaluationID) {
        guard let evaluation = evaluations[id], evaluation.request.offersFallback,
            !evaluation.offersFallback
        else { return }
        evaluations[id]?.offersFallback = true
        tell(id, .fallbackAvailable)
    }

    /// Biometry stops everywhere for this user, and what it had proved counts no more.
    ///
    /// The evaluations concerned are concluded when the reason is written.
    mutating func stopBiometry(of uid: UInt32) {
        dropSuccesses(of: uid)
        for id in ids(where: { $0.request.uid == uid && $0.agent != nil }) {
            cancelSensors(of: id) { $0.type != .none }
            evaluations[id]?.leaveOutBiometry()
        }
    }

    /// An age rule or a new setting may come between the start of a sensor and its match.
    mutating func stopOverdueBiometry() {
        let uids = Set(evaluations.values.filter(\.usesBiometry).map(\.request.uid))
        for uid in uids.sorted() where isBiometryRefused(uid) {
            stopBiometry(of: uid)
            for id in ids(where: { $0.request.uid == uid }) { concludeIfIdle(id) }
        }
    }

    /// Goes on with what is left when no sensor looks any more, or ends the evaluation.
    mutating func concludeIfIdle(_ id: EvaluationID) {
        guard let evaluation = evaluations[id], evaluation.isIdle,
            !isBeingWritten(evaluation.request.uid)
        else { return }
        let request = evaluation.request
        if unwritten.contains(request.uid) {
            finish(id, .refused(.notWritten))
        } else if evaluation.isTakenBack {
            finish(id, .refused(lockout(of: request.uid, at: now) ?? .biometryStopped))
        } else if evaluation.asksApplicationPassword {
            askPasscode(id, cause: "application-password")
        } else if evaluation.takesPasscode {
            if let end = delayEnd(of: request.uid) {
                finish(id, .refused(.passcodeDelayed(left: end - now)))
            } else {
                askPasscode(id, cause: passcodeCause(of: evaluation))
            }
        } else if evaluation.isLockedOut {
            finish(id, .refused(lockout(of: request.uid, at: now) ?? .biometryStopped))
        } else if let type = evaluation.lastExhausted {
            // A face that failed leaves the choice between fallback and cancel (L6b).
            if type.isPassive, request.offersFallback {
                offerFallback(id)
            } else {
                finish(id, .refused(.attemptsUsedUp))
            }
        } else {
            let isCompanion = evaluation.factors == [.companion]
            finish(id, .refused(isCompanion ? .companionFailed : .sensorsFailed))
        }
    }

    private func passcodeCause(of evaluation: Evaluation) -> String {
        if !evaluation.proved.isEmpty { return "access-control" }
        if evaluation.isLockedOut {
            let record = record(of: evaluation.request.uid)
            return record.passcodeCause ?? overdueCause(of: record, at: now) ?? "lockout"
        }
        return evaluation.lastExhausted == nil ? "sensor-failed" : "attempts"
    }
}
