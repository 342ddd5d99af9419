import Contract

/// What lies how long ago: the passcode that biometry needs (L11), and the unlock that answers an
/// evaluation (R34).
extension AuthEngine {
    /// The age rule by which biometry waits for a passcode; nil: none does.
    func overdueCause(of record: UserRecord, at moment: Instant) -> PasscodeCause? {
        if settings.passcodeAfterBoot, record.lastPasscode == nil { return PasscodeCause(.boot) }
        let passcode = record.lastPasscode ?? since
        // A service that began after that passcode is no unlock.
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

    /// The record of a user who gave the passcode just now.
    func afterPasscode(of uid: UInt32) -> UserRecord {
        var record = UserRecord()
        record.lastPasscode = now
        // An unlock from before biometry was refused is not reused after it.
        if !isBiometryRefused(uid) {
            record.lastBiometricUnlock = self.record(of: uid).lastBiometricUnlock
        }
        return record
    }

    /// A biometric unlock that is recent enough to answer the request; nil: there is none.
    ///
    /// With which sensor it was is not known: a caller that is choosy about it gets a prompt.
    func reusableUnlock(for request: Request, _ plan: [SensorFact]) -> Grant.Evidence? {
        guard !request.isUnlock, request.operation == nil, request.sensors == nil,
            request.minimumStrength == nil,
            let unlock = record(of: request.uid).lastBiometricUnlock,
            now - unlock < min(request.reuseDuration, settings.longestReuse),
            let sensor = plan.filter({ $0.type != .none }).max(by: { $0.strength < $1.strength })
        else { return nil }
        return .unlock(sensor.type)
    }

    /// A correct passcode at a screen lock counts like one in a prompt (R5).
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

    /// A biometric unlock counts only once it is granted; a canceled one never does.
    mutating func noteUnlock(of uid: UInt32) {
        var record = record(of: uid)
        record.lastBiometricUnlock = now
        save(record, of: uid, matters: false)
    }
}

extension UserRecord {
    /// What must never be forgotten: all but the times, without which the rules are stricter.
    var counts: UserRecord {
        var copy = self
        copy.lastPasscode = nil
        copy.lastBiometricUnlock = nil
        return copy
    }
}
