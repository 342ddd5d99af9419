@testable import AuthEngine

/// Checks the answers to sensors: each miss counts once, and is answered after its write.
struct MissChecker {
    private struct Miss: Hashable {
        var operation: OperationID
        var attempt: UInt32
    }

    /// The counted misses of each running operation.
    private var counted: [OperationID: UInt32] = [:]
    /// Misses that wait for their write.
    private var writes: [SaveID: Miss] = [:]
    private(set) var complaints: [String] = []

    /// Checks a step that the engine has taken.
    ///
    /// - Returns: The event without attempt numbers, for books that ignore repetitions.
    mutating func see(_ event: Event, _ effects: [Effect]) -> Event {
        var answers: [Miss: MissAnswer] = [:]
        for case .answerMiss(let operation, let attempt, let answer) in effects {
            let miss = Miss(operation: operation, attempt: attempt)
            if answers.updateValue(answer, forKey: miss) != nil { complain("two answers", miss) }
        }
        var seen = event
        switch event {
        case .sensorMissed(let operation, let attempt):
            let miss = Miss(operation: operation, attempt: attempt)
            if !arrive(miss, effects, answers) { seen = .sensorEnded(OperationID(rawValue: 0)) }
        case .saved(let save):
            settle(save, answers) { if case .counted = $0 { true } else { false } }
        case .saveFailed(let save): settle(save, answers) { $0 == .notWritten }
        default: if let miss = answers.keys.first { complain("an answer out of nothing", miss) }
        }
        follow(event, effects)
        for (miss, answer) in answers {
            guard case .counted(let left) = answer else { continue }
            if (left > 0) != (counted[miss.operation] != nil) { complain("told \(left)", miss) }
        }
        return seen
    }

    /// Expects that every miss was answered once no write is in progress.
    mutating func close() {
        for miss in writes.values { complain("never answered", miss) }
    }

    /// Whether the miss counts.
    private mutating func arrive(
        _ miss: Miss,
        _ effects: [Effect],
        _ answers: [Miss: MissAnswer]
    ) -> Bool {
        if writes.values.contains(miss) {
            if !effects.isEmpty { complain("a repetition does something", miss) }
            return false
        }
        let count = counted[miss.operation]
        if let count, miss.attempt == count + 1 {
            counted[miss.operation] = miss.attempt
            for case .save(let save, uid: _, _) in effects {
                writes[save] = miss
                if !answers.isEmpty { complain("answered before it is written", miss) }
                return true
            }
            // A companion's miss needs no write.
            if answers[miss] == nil { complain("not answered", miss) }
            return true
        }
        let isRepeated = count.map { (1...max(1, $0)).contains(miss.attempt) && $0 > 0 } == true
        if (answers[miss] == .refused) == isRepeated || effects.count != 1 {
            complain("a number that is not the next", miss)
        }
        return false
    }

    private mutating func settle(
        _ save: SaveID,
        _ answers: [Miss: MissAnswer],
        _ isRight: (MissAnswer) -> Bool
    ) {
        let miss = writes.removeValue(forKey: save)
        if answers.keys.map(\.self) != (miss.map { [$0] } ?? []) {
            complaints.append("\(save) answers \(answers)")
        } else if let miss, answers[miss].map(isRight) != true {
            complain("the wrong answer", miss)
        }
    }

    private mutating func follow(_ event: Event, _ effects: [Effect]) {
        switch event {
        case .sensorMatched(let operation, template: _), .sensorEnded(let operation),
            .templateRemoved(let operation):
            counted[operation] = nil
        default: break
        }
        for effect in effects {
            switch effect {
            case .startSensor(let operation, _, sensor: _): counted[operation] = 0
            case .cancelSensor(let operation): counted[operation] = nil
            default: break
            }
        }
    }

    private mutating func complain(_ text: String, _ miss: Miss) {
        complaints.append("\(text): attempt \(miss.attempt) of \(miss.operation)")
    }
}
