import Contract

/// What was proved counts no more: a lockout, an age rule, a changed enrolment.
extension AuthEngine {
    /// Biometry stops everywhere for this user, and what it had proved counts no more.
    ///
    /// The evaluations concerned are concluded when the reason is written.
    mutating func stopBiometry(of uid: UInt32) {
        dropSuccesses(of: uid)
        for id in ids(where: { $0.request.uid == uid && $0.prompt != nil }) {
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

    /// Ends every success of the user, and takes it back from the evaluations that rest on it.
    ///
    /// A passcode still says who changes templates: one passcode is enough for several changes.
    private mutating func dropSuccesses(of uid: UInt32, keepingPasscodeAge: Bool = false) {
        for id in ids(where: { $0.request.uid == uid }) { evaluations[id]?.takeBack() }
        for (id, context) in contexts {
            contexts[id]?.successes = context.successes.compactMap { success in
                guard success.grant.uid == uid else { return success }
                guard keepingPasscodeAge, success.grant.mechanism == .passcode else { return nil }
                var over = success
                over.isOver = true
                return over
            }
        }
    }

    mutating func enrolmentChanged(_ uid: UInt32) {
        dropSuccesses(of: uid, keepingPasscodeAge: true)
        // A match may be that of a template that is gone.
        endAll(.enrolmentChanged) {
            $0.request.uid == uid && ($0.prompt?.isTakenBack == true || $0.holdsMatch)
        }
        var record = record(of: uid)
        guard record.lastBiometricUnlock != nil else { return }
        // Who unlocked may be no template any more.
        record.lastBiometricUnlock = nil
        save(record, of: uid)
        // Without that unlock the last one may be too long ago.
        if isBiometryRefused(uid) { stopBiometry(of: uid) }
    }

    /// A passcode is required before biometry: remote lock, age rules.
    mutating func passcodeRequired(uid: UInt32, cause: PasscodeCause) {
        var record = record(of: uid)
        // A repeated cause is not written again: a flood of calls would be a flood of writes.
        guard record.passcodeCause?.givesWay(to: cause) ?? true else {
            // A companion or a passcode may have succeeded since.
            stopBiometry(of: uid)
            writeAgain(uid)
            for id in ids(where: { $0.request.uid == uid }) { concludeIfIdle(id) }
            return
        }
        record.passcodeCause = cause
        save(record, of: uid)
        stopBiometry(of: uid)
    }

    /// A logout is like a boot (R50).
    mutating func loggedOut(_ uid: UInt32) {
        var record = record(of: uid)
        guard settings.passcodeAfterBoot,
            record.lastPasscode != nil || record.lastBiometricUnlock != nil
        else { return }
        record.lastPasscode = nil
        record.lastBiometricUnlock = nil
        save(record, of: uid)
        stopBiometry(of: uid)
    }
}
