@testable import AuthEngine

/// The engine and its witness in a normal form: equal futures are equal values.
struct Node: Hashable {
    var engine: AuthEngine
    var witness = Witness()

    mutating func take(_ event: Event) {
        let moment = event == .timePassed ? engine.now + .seconds(1) : engine.now
        let effects = engine.step(event, at: moment)
        witness.see(event, effects, engine)
        witness.outcomes = [:]
        witness.stages.seen = [:]
    }

    /// Counts time from the present and numbers from one, and caps counters.
    mutating func normalize() {
        let now = engine.now
        let settings = engine.settings
        func relative(_ instant: Instant) -> Instant {
            Instant(nanoseconds: max(-1, instant.nanoseconds - now.nanoseconds))
        }
        func normal(_ record: UserRecord) -> UserRecord {
            var record = record
            record.misses = min(record.misses, settings.lockoutAttempts)
            record.wrongPasscodes = min(record.wrongPasscodes, 7)
            record.delayedUntil = record.delayedUntil.map(relative)
            // All times beyond the longest reuse are equivalent.
            func aged(_ instant: Instant?) -> Instant? {
                instant.map {
                    Instant(nanoseconds: 0) + (.zero - min(now - $0, settings.longestReuse))
                }
            }
            record.lastPasscode = record.lastPasscode.map { _ in Instant(nanoseconds: 0) }
            record.lastBiometricUnlock = aged(record.lastBiometricUnlock)
            return record
        }
        var operations: [OperationID: OperationID] = [:]
        for id in engine.ids(where: { _ in true }) {
            guard let known = engine.evaluations[id] else { continue }
            var evaluation = Evaluation(
                request: known.request,
                deadline: relative(known.deadline),
                phase: known.phase
            )
            if case .beginning(let prompt, let plan, let until) = known.phase {
                evaluation.phase = .beginning(prompt, plan: plan, until: relative(until))
            }
            evaluation.prompt?.stage
                .renumber { operation in
                    let number = OperationID(rawValue: UInt64(operations.count + 1))
                    operations[operation] = number
                    return number
                }
            engine.evaluations[id] = evaluation
        }
        engine.lastOperation = UInt64(operations.count)
        engine.records = engine.records.mapValues(normal)
        for (id, context) in engine.contexts {
            var context = context
            context.successes = context.successes.map { success in
                // Expired successes are equivalent, but stay: the engine must not use them.
                let age = min(now - success.moment, settings.contextLifetime)
                let moment = Instant(nanoseconds: 0) + (.zero - age)
                return .init(
                    grant: success.grant,
                    moment: moment,
                    isOver: success.isOver,
                    operation: success.operation,
                    session: success.session
                )
            }
            engine.contexts[id] = context
        }
        normalizeSaves(normal, operations)
        witness.normalize(now: now, operations: operations, relative, normal)
        engine.now = Instant(nanoseconds: 0)
    }

    private mutating func normalizeSaves(
        _ normal: (UserRecord) -> UserRecord,
        _ operations: [OperationID: OperationID]
    ) {
        let ids = engine.saves.keys.sorted { $0.rawValue < $1.rawValue }
        var saves: [SaveID: PendingSave] = [:]
        var writes: [SaveID: Witness.Write] = [:]
        for (index, id) in ids.enumerated() {
            let number = SaveID(rawValue: UInt64(index + 1))
            saves[number] = engine.saves[id]
            if case .miss(var miss) = saves[number]?.consequence {
                // Operations that have ended are equivalent.
                miss.operation = operations[miss.operation] ?? OperationID(rawValue: 0)
                saves[number]?.consequence = .miss(miss)
            }
            saves[number]?.stricter = engine.saves[id]?.stricter.map(normal)
            writes[number] = witness.writes[id]
            // Numbers are reused here, so an ended evaluation must not be mistaken for a new
            // evaluation.
            if let ended = saves[number]?.evaluation, engine.evaluations[ended] == nil {
                saves[number]?.evaluation = nil
                saves[number]?.consequence = nil
                writes[number]?.evaluation = nil
            }
            for evaluation in engine.evaluations.keys {
                guard engine.evaluations[evaluation]?.prompt?.stage.acceptance == id else {
                    continue
                }
                engine.evaluations[evaluation]?.prompt?.stage.renumber(acceptance: number)
            }
        }
        engine.saves = saves
        engine.lastSave = UInt64(ids.count)
        witness.writes = writes
    }
}

extension Stage {
    /// Renumbers the running operations.
    fileprivate mutating func renumber(_ number: (OperationID) -> OperationID) {
        let operations = self.operations.map { operation in
            Operation(
                id: number(operation.id),
                sensor: operation.sensor,
                attempts: operation.attempts,
                attemptsLeft: operation.attemptsLeft
            )
        }
        switch self {
        case .proving(var proving):
            if case .scanning = proving.proof { proving.proof = .scanning(operations) }
            self = .proving(proving)
        case .revoked(var rest):
            rest.operations = operations
            self = .revoked(rest)
        case .password, .proved: break
        }
    }

    /// Renumbers the write of an accepted proof.
    fileprivate mutating func renumber(acceptance number: SaveID) {
        switch self {
        case .proving(var proving):
            proving.proof = .accepted(number, isBiometric: proving.holdsMatch)
            self = .proving(proving)
        case .revoked(var rest):
            rest.acceptance = number
            self = .revoked(rest)
        case .password, .proved: break
        }
    }
}

extension Witness {
    fileprivate mutating func normalize(
        now: Instant,
        operations: [OperationID: OperationID],
        _ relative: (Instant) -> Instant,
        _ normal: (UserRecord) -> UserRecord
    ) {
        for id in live.keys {
            guard var known = live[id] else { continue }
            known.deadline = relative(known.deadline)
            known.operations = Dictionary(
                uniqueKeysWithValues: known.operations.map { (operations[$0] ?? $0, $1) }
            )
            live[id] = known
        }
        stages.normalize(now: now, operations: operations, relative)
        for save in writes.keys {
            guard let record = writes[save]?.record else { continue }
            writes[save]?.record = normal(record)
        }
        for context in successes.keys {
            let kept = (successes[context] ?? []).filter { now < $0.moment }
            successes[context] =
                kept.isEmpty
                ? nil
                : kept.map {
                    Success(
                        grant: $0.grant,
                        moment: relative($0.moment),
                        session: $0.session
                    )
                }
        }
        disk = disk.mapValues(normal)
        records = records.mapValues(normal)
    }
}

extension StageWitness {
    fileprivate mutating func normalize(
        now: Instant,
        operations: [OperationID: OperationID],
        _ relative: (Instant) -> Instant
    ) {
        for id in live.keys {
            guard let running = live[id]?.running else { continue }
            live[id]?.running = Dictionary(
                uniqueKeysWithValues: running.map { (operations[$0] ?? $0, $1) }
            )
        }
        for context in kept.keys {
            // Order and repetitions do not matter.
            let proofs = Set(
                (kept[context] ?? []).filter { now < $0.end }
                    .map { Kept(proof: $0.proof, operation: $0.operation, end: relative($0.end)) }
            )
            kept[context] = proofs.isEmpty ? nil : proofs.sorted { $0.order < $1.order }
        }
    }
}

extension StageWitness.Kept {
    fileprivate var order: String { "\(proof) \(operation?.rawValue ?? 9) \(end.nanoseconds)" }
}
