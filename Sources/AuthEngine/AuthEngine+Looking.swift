/// All usable sensors run at once; the first match wins (L5).
extension AuthEngine {
    /// The sensors of the present stage look, or what comes without them is done.
    mutating func look(_ plan: [SensorFact], for id: EvaluationID) {
        let operations = plan.map { sensor in
            lastOperation += 1
            return Operation(id: OperationID(rawValue: lastOperation), sensor: sensor)
        }
        evaluations[id]?.prompt?.look(operations)
        for operation in operations {
            effects.append(.startSensor(operation.id, id, sensor: operation.sensor.name))
        }
        noteDelay(id)
        concludeIfIdle(id)
    }

    /// Ends every operation of an evaluation that matches.
    mutating func cancelSensors(
        of id: EvaluationID,
        where matches: (SensorFact) -> Bool = { _ in true }
    ) {
        let dropped = evaluations[id]?.prompt?.dropOperations { matches($0.sensor) } ?? []
        for operation in dropped { effects.append(.cancelSensor(operation.id)) }
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
            guard let (id, sensor) = end(operation) else { return }
            matched(id, sensor)
        case .sensorEnded(let operation):
            guard let (id, _) = end(operation) else { return }
            concludeIfIdle(id)
        default: break
        }
    }

    private func running(_ operation: OperationID) -> (EvaluationID, SensorFact)? {
        for id in prompts.values {
            let operations = evaluations[id]?.prompt?.stage.operations ?? []
            if let found = operations.first(where: { $0.id == operation }) {
                return (id, found.sensor)
            }
        }
        return nil
    }

    /// The operation ended by itself; nil: it did not run.
    private mutating func end(_ operation: OperationID) -> (EvaluationID, SensorFact)? {
        guard let (id, sensor) = running(operation) else { return nil }
        _ = evaluations[id]?.prompt?.dropOperations { $0.id == operation }
        return (id, sensor)
    }

    private mutating func matched(_ id: EvaluationID, _ sensor: SensorFact) {
        guard let request = evaluations[id]?.request else { return }
        guard needsConfirmation(sensor, request) else {
            accept(id, .match(sensor))
            return
        }
        cancelSensors(of: id)
        evaluations[id]?.prompt?.confirm(sensor)
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
        guard let uid = evaluations[id]?.request.uid,
            let count = evaluations[id]?.prompt?.countFailure(of: sensor.type)
        else { return }
        var left = max(0, settings.attempts(of: sensor.type) - count)
        if left == 0 {
            evaluations[id]?.prompt?.exhaust(sensor.type)
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
        tell(id, .noMatch(attemptsLeft: left))
        if count >= settings.fallbackThreshold(of: type) { showFallback(id) }
    }

    mutating func showFallback(_ id: EvaluationID) {
        guard let evaluation = evaluations[id], evaluation.request.offersFallback,
            evaluations[id]?.prompt?.showFallback() == true
        else { return }
        tell(id, .fallbackAvailable)
    }
}
