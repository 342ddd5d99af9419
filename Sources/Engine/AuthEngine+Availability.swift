package import Contract

extension AuthEngine {
    /// Returns why this evaluation is impossible now, or nil if it is possible.
    ///
    /// Shows no prompt and starts no sensor. Refusals come in the order of R10: -6 or -13, -7, -8,
    /// -5. An invalid context precedes all of them (-10).
    package func availability(
        _ policy: Policy,
        uid: UInt32,
        facts: Facts,
        context: ContextID? = nil,
        at moment: Instant
    ) -> Refusal? {
        if let context, isInvalid(context) { return .invalidContext }
        return refusal(
            of: policy.factors,
            uid: uid,
            facts: withholdingDistantSensors(facts, uid),
            at: moment
        )
    }

    /// Returns why none of the factors can be proved now, or nil if at least one can.
    func refusal(
        of factors: Set<Factor>,
        uid: UInt32,
        facts: Facts,
        at moment: Instant
    ) -> Refusal? {
        if factors.contains(.companion), companionRefusal(facts) == nil { return nil }
        if factors.contains(.passcode) { return facts.passcode.refusal }
        if factors.contains(.biometry) {
            return biometryRefusal(uid: uid, facts: facts, at: moment)
        }
        return companionRefusal(facts)
    }

    private func biometryRefusal(uid: UInt32, facts: Facts, at moment: Instant) -> Refusal? {
        let usable = facts.sensors.filter { $0.type != .none && $0.availability == .usable }
        if usable.isEmpty {
            if facts.isRemote { return .remoteSession }
            if facts.isPromptElsewhere { return .promptElsewhere }
            // The sensor's type is unknown until its program has reported it.
            if facts.sensors.contains(where: { $0.availability == .starting }) {
                return .sensorStarting
            }
            let isAway = facts.sensors.contains {
                $0.type != .none && $0.availability == .away && $0.templates > 0
            }
            return isAway ? .sensorAway : .noSensor(facts.sensors.compactMap(\.obstacle))
        }
        if !usable.contains(where: { $0.templates > 0 }) { return .notEnrolled }
        if let lockout = lockout(of: uid, at: moment) { return lockout }
        return facts.passcode.refusal
    }

    private func companionRefusal(_ facts: Facts) -> Refusal? {
        let usable = facts.sensors.filter { $0.type == .none && $0.availability == .usable }
        if usable.isEmpty { return .noCompanion }
        return usable.contains { $0.templates > 0 } ? nil : .companionNotPaired
    }

    /// The sensors to start for a stage in which any of the factors is enough.
    func sensors(for factors: Set<Factor>, uid: UInt32, facts: Facts) -> [SensorFact] {
        let usesBiometry =
            factors.contains(.biometry) && biometryRefusal(uid: uid, facts: facts, at: now) == nil
        let usesCompanions = factors.contains(.companion)
        return facts.sensors.filter { sensor in
            sensor.couldLook && (sensor.type == .none ? usesCompanions : usesBiometry)
        }
    }

    /// The refusal while biometry waits for this user's password, or nil.
    package func lockout(of uid: UInt32, at moment: Instant) -> Refusal? {
        guard let cause = refusingCause(of: uid, at: moment) else { return nil }
        return cause.word == .lockout ? .tooManyFailures : .passcodeFirst(cause: cause)
    }

    /// The cause for which biometry waits for a password, or nil.
    func refusingCause(of uid: UInt32, at moment: Instant? = nil) -> PasscodeCause? {
        let record = record(of: uid)
        if let cause = record.passcodeCause { return cause }
        if record.misses >= settings.lockoutAttempts { return PasscodeCause(.lockout) }
        return overdueCause(of: record, at: moment ?? now)
    }

    func isBiometryRefused(_ uid: UInt32) -> Bool { lockout(of: uid, at: now) != nil }
}

extension PasscodeFact {
    fileprivate var refusal: Refusal? {
        switch self {
        case .set: nil
        case .missing: .passcodeNotSet
        case .unknown: .passcodeUnknown
        }
    }
}

extension SensorFact {
    var couldLook: Bool { availability == .usable && templates > 0 }
}
