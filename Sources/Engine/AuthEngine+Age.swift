import Contract

/// Age rules: the recent password that biometry needs (L11), and the unlock that answers an
/// evaluation (R34).
extension AuthEngine {
    /// The age rule that refuses biometry until the password is given; nil if no rule does.
    func overdueCause(of record: UserRecord, at moment: Instant) -> PasscodeCause? {
        if settings.passcodeAfterBoot, record.lastPasscode == nil { return PasscodeCause(.boot) }
        let passcode = record.lastPasscode ?? since
        // The start of the service is no unlock, so it must not count as a later biometric success.
        let biometry = record.lastBiometricUnlock ?? min(since, passcode)
        if let limit = settings.passcodeAfter, moment - max(passcode, biometry) >= limit {
            return PasscodeCause(.hours)
        }
        if let limit = settings.passcodeAfterWithBiometry, moment - passcode >= limit,
            moment - biometry >= settings.withoutBiometry
        {
            return PasscodeCause(.hoursWithBiometry)
        }
        return nil
    }

    func afterPasscode(of uid: UInt32) -> UserRecord {
        var record = UserRecord()
        record.lastPasscode = now
        // An unlock from before biometry was refused must not be reused afterwards.
        if !isBiometryRefused(uid) {
            record.lastBiometricUnlock = self.record(of: uid).lastBiometricUnlock
        }
        return record
    }

    /// Returns a biometric unlock that is recent enough to answer the request; nil if there is
    /// none.
    ///
    /// The record does not say which sensor matched. A caller that restricts sensors, strength or
    /// operation therefore gets a prompt.
    func reusableUnlock(for request: Request, _ plan: [SensorFact]) -> Grant.Evidence? {
        guard !request.isUnlock, request.operation == nil, request.sensors == nil,
            request.minimumStrength == nil, !request.isForLockScreen,
            let unlock = record(of: request.uid).lastBiometricUnlock,
            now - unlock < min(request.reuseDuration, settings.longestReuse),
            let sensor = plan.filter({ $0.type != .none }).max(by: { $0.strength < $1.strength })
        else { return nil }
        return .unlock(sensor.type)
    }

    /// A correct password at a screen lock counts like a password in a prompt (R5).
    mutating func unlocked(_ uid: UInt32, byPasscode: Bool) {
        let before = record(of: uid)
        var unlocked = before
        if byPasscode {
            unlocked = afterPasscode(of: uid)
        } else if !isBiometryRefused(uid) {
            unlocked.clearMisses()
            unlocked.lastBiometricUnlock = now
        }
        guard unlocked != before else { return writeAgain(uid) }
        save(unlocked, of: uid, stricter: before)
    }

    /// Records a granted biometric unlock.
    ///
    /// A canceled unlock is never recorded.
    mutating func noteUnlock(of uid: UInt32) {
        var record = record(of: uid)
        record.lastBiometricUnlock = now
        save(record, of: uid, mustSurviveCrash: false)
    }
}

extension UserRecord {
    /// The fields that a crash must not lose.
    ///
    /// Losing the times only makes the rules stricter.
    var fieldsThatMustSurvive: UserRecord {
        var copy = self
        copy.lastPasscode = nil
        copy.lastBiometricUnlock = nil
        return copy
    }
}
