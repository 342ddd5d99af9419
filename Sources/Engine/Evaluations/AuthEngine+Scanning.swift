import Contract

/// Running sensors.
///
/// All usable sensors run at once, and the first match wins (L5).
extension AuthEngine {
    /// Starts the sensors of the current stage, or continues without them.
    mutating func startSensors(_ plan: [SensorFact], for id: EvaluationID) {
        let operations = plan.map { sensor in
            lastOperation += 1
            return Operation(id: OperationID(rawValue: lastOperation), sensor: sensor)
        }
        evaluations[id]?.prompt?.startSensors(operations)
        for operation in operations {
            effects.append(.startSensor(operation.id, id, sensor: operation.sensor.name))
        }
        awaitDelayEnd(id)
        concludeIfIdle(id)
    }

    mutating func cancelSensors(
        of id: EvaluationID,
        where matches: (SensorFact) -> Bool = { _ in true }
    ) {
        let dropped = evaluations[id]?.prompt?.dropOperations { matches($0.sensor) } ?? []
        for operation in dropped { effects.append(.cancelSensor(operation.id)) }
    }

    /// Handles a sensor's event.
    ///
    /// Events of operations that do not run are ignored.
    mutating func sensorEvent(_ event: Event) {
        switch event {
        case .sensorReady(let operation):
            guard let (id, running) = running(operation) else { return }
            tell(id, .sensorReady(sensor: running.sensor.name, type: running.sensor.type))
        case .sensorBusy(let operation, let program):
            // The sensor starts as soon as its device is free. Until then it counts as a sensor
            // without a match (L25).
            guard let (id, running) = running(operation) else { return }
            let sensor = running.sensor
            tell(id, .sensorBusy(sensor: sensor.name, type: sensor.type, by: program))
        case .sensorHinted(let operation, let hint):
            guard let (id, _) = running(operation) else { return }
            tell(id, .hint(hint))
        case .sensorMissed(let operation, let attempt): missed(operation, attempt)
        case .sensorMatched(let operation, template: _):
            guard let (id, sensor) = end(operation) else { return }
            if mayUpdateTemplate(sensor, for: id) {
                evaluations[id]?.prompt?.keep(Prompt.Match(operation, sensor.name))
            }
            matched(id, sensor)
        case .sensorEnded(let operation):
            guard let (id, _) = end(operation) else { return }
            concludeIfIdle(id)
        case .templateRemoved(let operation):
            guard let (id, _) = end(operation) else { return }
            evaluations[id]?.prompt?.loss = .templateRemoved
            concludeIfIdle(id)
        case .sensorFailed(let operation, let fault):
            guard let (id, sensor) = end(operation) else { return }
            if sensor.type != .none { evaluations[id]?.prompt?.loss = .fault(fault) }
            tell(id, .sensorFailed(sensor: sensor.name, type: sensor.type, fault))
            concludeIfIdle(id)
        default: break
        }
    }

    /// The sensor of a running operation, as it was at the start; nil if the operation does not
    /// run.
    package func sensor(of operation: OperationID) -> SensorFact? {
        running(operation)?.1.sensor
    }

    func running(_ operation: OperationID) -> (EvaluationID, Operation)? {
        for id in promptHolders.values {
            let operations = evaluations[id]?.prompt?.stage.operations ?? []
            if let found = operations.first(where: { $0.id == operation }) { return (id, found) }
        }
        return nil
    }

    /// Removes an operation that ended by itself; nil if it did not run.
    private mutating func end(_ operation: OperationID) -> (EvaluationID, SensorFact)? {
        guard let (id, running) = running(operation) else { return nil }
        _ = evaluations[id]?.prompt?.dropOperations { $0.id == operation }
        return (id, running.sensor)
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

    /// Whether the match needs a confirmation: a passive sensor also sees people who did not intend
    /// to authenticate (L7).
    func needsConfirmation(_ sensor: SensorFact, _ request: Request) -> Bool {
        guard sensor.type.isPassive else { return false }
        if request.requiresConfirmation == true || settings.faceConfirmation == .always {
            return true
        }
        return sensor.strength < .strong && request.requiresConfirmation == nil
            && settings.faceConfirmation == .automatic
    }

    /// Counts each attempt number once, however often the sensor reports it.
    ///
    /// A number that skips others is refused. Otherwise a sensor could reserve numbers and report
    /// later misses as repetitions, which do not count.
    private mutating func missed(_ operation: OperationID, _ attempt: UInt32) {
        // The first report is answered after its write, and that answer serves this repetition too.
        let isBeingWritten = saves.values.contains { save in
            guard case .miss(let miss) = save.consequence else { return false }
            return miss.operation == operation && miss.attempt == attempt
        }
        if isBeingWritten { return }
        guard let (id, running) = running(operation), attempt > 0,
            attempt - 1 <= running.attempts
        else {
            effects.append(.answerMiss(operation, attempt: attempt, .refused))
            return
        }
        if attempt > running.attempts {
            count(running, in: id)
        } else {
            let left = running.attemptsLeft
            effects.append(
                .answerMiss(operation, attempt: attempt, .counted(attemptsLeft: left))
            )
        }
    }

    /// Counts a miss at once; reports it and answers the sensor after the write (R1, R2, R3).
    private mutating func count(_ running: Operation, in id: EvaluationID) {
        let type = running.sensor.type
        guard let uid = evaluations[id]?.request.uid,
            let count = evaluations[id]?.prompt?.countMiss(of: type)
        else { return }
        var record = record(of: uid)
        let ofPrompt = max(0, settings.attempts(of: type) - count)
        var left = ofPrompt
        // The lockout concerns biometry. A companion only uses up the attempts of the prompt.
        if type != .none {
            record.countMiss(of: type)
            left = min(left, record.missesLeft(of: type, until: settings.lockoutAttempts))
        }
        var operation = running
        operation.attempts += 1
        operation.attemptsLeft = left
        evaluations[id]?.prompt?.update(operation)
        if ofPrompt == 0 {
            evaluations[id]?.prompt?.exhaust(type)
            cancelSensors(of: id) { $0.type == type }
        }
        let miss = PendingSave.Miss(
            operation: operation.id,
            attempt: operation.attempts,
            type: type,
            count: count,
            left: left
        )
        guard type != .none else {
            tellMiss(id, miss)
            concludeIfIdle(id)
            answer(miss)
            return
        }
        save(record, of: uid, for: id, .miss(miss))
        if isBiometryRefused(uid) { stopBiometry(of: uid) }
    }

    mutating func tellMiss(_ id: EvaluationID, _ miss: PendingSave.Miss) {
        tell(id, .miss(attemptsLeft: miss.left))
        if miss.count >= settings.fallbackThreshold(of: miss.type) { showFallback(id) }
    }

    /// Tells the sensor whether it may continue.
    mutating func answer(_ miss: PendingSave.Miss) {
        let left = running(miss.operation) == nil ? 0 : miss.left
        let answer = MissAnswer.counted(attemptsLeft: left)
        effects.append(.answerMiss(miss.operation, attempt: miss.attempt, answer))
    }

    mutating func showFallback(_ id: EvaluationID) {
        guard let evaluation = evaluations[id], evaluation.request.offersFallback,
            evaluations[id]?.prompt?.showFallback() == true
        else { return }
        tell(id, .fallbackAvailable)
    }
}
