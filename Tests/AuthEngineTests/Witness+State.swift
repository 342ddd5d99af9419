import Contract

@testable import AuthEngine

/// Invariants of the engine between two steps.
extension Witness {
    /// The evaluations with a proof that is not yet written.
    var writing: Set<EvaluationID> {
        Set(writes.values.filter { $0.kind == .acceptance }.compactMap(\.evaluation))
    }

    mutating func checkState(_ engine: AuthEngine, _ now: Instant) {
        if Set(engine.evaluations.keys) != Set(live.keys) { complain("an evaluation is forgotten") }
        if Set(engine.saves.keys) != Set(writes.keys) { complain("a write is forgotten") }
        if (engine.nextDeadline == nil) != live.isEmpty { complain("nothing would ever happen") }
        if let next = engine.nextDeadline, next <= now { complain("a deadline has been missed") }
        for (session, queue) in engine.queues {
            let ordinary = queue.filter { engine.evaluations[$0]?.request.isUnlock == false }
            if !isReconfigured, ordinary.count > engine.settings.queuePerSession {
                complain("a queue is too long")
            }
            if engine.promptHolders[session] == nil { complain("a queue waits for nothing") }
        }
        for (session, id) in engine.promptHolders where engine.evaluations[id]?.session != session {
            complain("a prompt is lost")
        }
        var waiting: [ClientID: Int] = [:]
        var pending: [ClientID: Int] = [:]
        for (id, evaluation) in engine.evaluations {
            pending[evaluation.request.client, default: 0] += 1
            if evaluation.isWaiting { waiting[evaluation.request.client, default: 0] += 1 }
            check(evaluation, id, engine)
        }
        let isCrowded =
            waiting.values.contains { $0 > engine.settings.waitingPerConnection }
            || pending.values.contains { $0 > engine.settings.pendingPerConnection }
        if isCrowded, !isReconfigured {
            complain("a connection has too many")
        }
        for (uid, record) in engine.records where !unsure.contains(uid) {
            let isWriting = writes.values.contains { $0.uid == uid }
            if !isWriting, !isKept(record, of: uid, engine) { complain("the disk lags behind") }
        }
    }

    /// Whether the disk has the record, with a pending password counted as wrong.
    private func isKept(_ record: UserRecord, of uid: UInt32, _ engine: AuthEngine) -> Bool {
        let kept = disk[uid] ?? UserRecord()
        guard engine.attempts[uid] != nil else { return kept == record }
        // The normal form caps the counter at seven.
        return kept.isAsStrict(as: record) && kept.wrongPasscodes > min(record.wrongPasscodes, 6)
    }

    private mutating func check(
        _ evaluation: Evaluation,
        _ id: EvaluationID,
        _ engine: AuthEngine
    ) {
        let uid = evaluation.request.uid
        let running = Set(evaluation.operations.map(\.id))
        if running != Set(live[id]?.operations.keys.map(\.self) ?? []) {
            complain("\(id) has forgotten a sensor")
        }
        if evaluation.operations.contains(where: { $0.sensor.type != .none }),
            engine.isBiometryRefused(uid)
        {
            complain("biometry runs although it is refused: \(id)")
        }
        for (type, count) in evaluation.prompt?.misses ?? [:]
        where count > engine.settings.attempts(of: type) && !isReconfigured {
            complain("too many attempts: \(id)")
        }
        guard evaluation.isIdle, !engine.isBeingWritten(uid) else { return }
        if evaluation.prompt?.stage.asks != true || engine.isDelayed(id) {
            complain("\(id) waits for nothing")
        }
    }
}

extension Evaluation {
    var operations: [Operation] { prompt?.stage.operations ?? [] }

    var channel: Prompt.Channel { prompt?.channel ?? .idle }

    /// Whether a password is being checked.
    var isBeingChecked: Bool { channel == .verifying || channel == .trying }
}

extension Stage {
    /// Whether the user has something to type or choose.
    fileprivate var asks: Bool {
        switch self {
        case .proving(let proving):
            switch (proving.entry, proving.setback) {
            case (.passcode(let ask), _): ask != .unasked
            case (.fallback(isShown: true), .exhausted(let type)): type.isPassive
            case (.fallback, _): false
            }
        case .password(let isAsked): isAsked
        case .revoked, .proved: false
        }
    }
}

extension Event {
    /// Whether the event only concerns time and deadlines.
    var isOfTime: Bool {
        switch self {
        case .timePassed, .configured: true
        default: false
        }
    }
}
