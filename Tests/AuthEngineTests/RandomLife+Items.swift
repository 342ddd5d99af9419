import Contract

@testable import AuthEngine

/// Guarded items and the apps that use them.
extension RandomLife {
    /// Turns most requests into uses of items.
    ///
    /// Items may use the successes of the other requests.
    mutating func forItem(_ request: Request) -> Request {
        guard hasItems, !request.isUnlock else { return request }
        guard chance(70) else {
            var policy = request
            if chance(60) { policy.context = ContextID(request.client.rawValue * 2) }
            return policy
        }
        let flags = legalFlags()
        guard let accessControl = try? AccessControl(flags: flags) else {
            ledger.complaints.append("\(flags) are refused")
            return request
        }
        var operation = AccessOperation.useItem
        if chance(40) { operation = one(of: AccessOperation.allCases) ?? .useItem }
        var item = Request(
            id: request.id,
            client: request.client,
            context: chance(70) ? ContextID(request.client.rawValue * 2) : request.context,
            uid: request.uid,
            operation: operation,
            requirement: accessControl.requirement(for: operation)
        )
        item.timeout = request.timeout
        item.offersFallback = chance(20)
        item.isInteractionNotAllowed = request.isInteractionNotAllowed
        item.sensors = request.sensors
        item.minimumStrength = chance(70) ? .strong : request.minimumStrength
        item.requiresConfirmation = request.requiresConfirmation
        item.reuseDuration = request.reuseDuration
        // An app password that was passed in is not asked for (R37).
        if chance(30) { item.asksApplicationPassword = false }
        witness.stages.flags[item.id] = flags
        return item
    }

    private mutating func legalFlags() -> AccessControl.Flags {
        var flags: AccessControl.Flags = []
        if chance(15) {
            flags = .userPresence
        } else {
            flags = one(of: [.biometryAny, .biometryCurrentSet, []]) ?? []
            if chance(50) { flags.insert(.devicePasscode) }
            if chance(40) { flags.insert(.companion) }
            if chance(60) { flags.insert(chance(50) ? .or : .and) }
        }
        if chance(40) { flags.insert(.applicationPassword) }
        if chance(20) { flags.insert(.privateKeyUsage) }
        return flags
    }

    /// Sends an event between Evaluate and the use of an item, or during that use.
    mutating func disturbItems() {
        let uid = one(of: RandomLife.users) ?? 1000
        switch Int.random(in: 0..<20, using: &random) {
        case 0: take(.enrolmentChanged(uid: uid))
        case 1: isPasscodeRemoved = chance(30)
        case 2 where chance(30): requirePasscode(uid)
        case 3..<7: take(.unlocked(uid: uid, byPasscode: true))
        case 7: take(.passwordTried(anyEvaluation(), passwordVerdict()))
        case 8: take(.passcodeVerified(anyEvaluation(), .correct))
        case 9: take(chance(50) ? .passcodeOffered(anyEvaluation()) : typed(anyEvaluation()))
        default: succeed()
        }
    }

    private mutating func anyEvaluation() -> EvaluationID {
        one(of: engine.ids { _ in true }) ?? EvaluationID(lastEvaluation)
    }

    /// Proves the current stage of an evaluation.
    private mutating func succeed() {
        let id = anyEvaluation()
        guard let evaluation = engine.evaluations[id] else { return }
        if let operation = evaluation.operations.first {
            take(.sensorMatched(operation.id, template: "t"))
            take(.confirmed(id))
        } else if evaluation.isBeingChecked {
            take(
                evaluation.channel == .trying
                    ? .passwordTried(id, .correct) : .passcodeVerified(id, .correct)
            )
        } else {
            take(typed(id))
        }
    }

    mutating func passwordVerdict() -> PasscodeVerdict {
        chance(60) ? .correct : chance(80) ? .wrong : .failed
    }

    /// Expects that every user can finally read every item.
    mutating func recoverItems(of uid: UInt32) {
        let passcode: AccessControl.Flags = [.userPresence, .applicationPassword]
        let all: [AccessControl.Flags] = [
            [.devicePasscode], passcode, [.biometryCurrentSet], [.companion],
            [.biometryAny, .companion, .devicePasscode, .applicationPassword],
            [.biometryAny, .companion, .devicePasscode, .or], [.applicationPassword],
        ]
        for flags in all {
            guard let requirement = try? AccessControl(flags: flags).requirement(for: .useItem)
            else { continue }
            lastEvaluation += 1
            let id = EvaluationID(lastEvaluation)
            witness.stages.flags[id] = flags
            let request = Request(
                id: id,
                client: ClientID(50),
                context: nil,
                uid: uid,
                operation: .useItem,
                requirement: requirement
            )
            expectGrant(request, RandomLife.sensors, "\(flags)") { life, id in
                for _ in 0..<4 { life.proveStage(of: id) }
            }
        }
    }

    private mutating func proveStage(of id: EvaluationID) {
        if let operation = engine.evaluations[id]?.operations.first {
            take(.sensorMatched(operation.id, template: "t"))
            take(.confirmed(id))
        } else if engine.takesPassword(id) {
            take(.passwordOffered(id))
            take(.passwordTried(id, .correct))
        } else if engine.evaluations[id] != nil {
            give(id, .correct)
        }
        while !unwritten.isEmpty { settle(isWritten: true) }
    }
}
