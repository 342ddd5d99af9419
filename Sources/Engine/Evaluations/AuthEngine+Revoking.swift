import Contract

/// Revoking proofs after a lockout, an age rule or a changed enrolment.
extension AuthEngine {
    /// Stops biometry everywhere for this user and revokes its proofs.
    ///
    /// The affected evaluations conclude after the reason is written.
    mutating func stopBiometry(of uid: UInt32) {
        dropSuccesses(of: uid)
        for id in ids(where: { $0.request.uid == uid && $0.prompt != nil }) {
            cancelSensors(of: id) { $0.type != .none }
            evaluations[id]?.leaveOutBiometry()
        }
    }

    /// Stops biometry where an age rule or a new setting took effect after a sensor started.
    mutating func stopOverdueBiometry() {
        let uids = Set(evaluations.values.filter(\.usesBiometry).map(\.request.uid))
        for uid in uids.sorted() where isBiometryRefused(uid) {
            stopBiometry(of: uid)
            for id in ids(where: { $0.request.uid == uid }) { concludeIfIdle(id) }
        }
    }

    /// Drops every success of the user and revokes it from the evaluations that rest on it.
    ///
    /// With `keepingPasscodeAge`, a password still authorizes template changes, so that several
    /// changes need only one password.
    private mutating func dropSuccesses(of uid: UInt32, keepingPasscodeAge: Bool = false) {
        for id in ids(where: { $0.request.uid == uid }) { evaluations[id]?.revoke() }
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
        // The match may belong to a template that was removed.
        endAll(.enrolmentChanged) {
            $0.request.uid == uid && ($0.prompt?.isRevoked == true || $0.holdsMatch)
        }
        var record = record(of: uid)
        guard record.lastBiometricUnlock != nil else { return }
        // The template that unlocked the screen may be gone.
        record.lastBiometricUnlock = nil
        save(record, of: uid)
        // Without that unlock, an age rule may refuse biometry.
        if isBiometryRefused(uid) { stopBiometry(of: uid) }
    }

    /// Requires a password before biometry, after a remote lock or a program's request.
    mutating func passcodeRequired(uid: UInt32, cause: PasscodeCause) {
        var record = record(of: uid)
        // A repeated cause is not written again, or a flood of calls would be a flood of writes.
        guard record.passcodeCause?.givesWay(to: cause) ?? true else {
            // A companion or a password may have succeeded since.
            stopBiometry(of: uid)
            writeAgain(uid)
            for id in ids(where: { $0.request.uid == uid }) { concludeIfIdle(id) }
            return
        }
        record.passcodeCause = cause
        save(record, of: uid)
        stopBiometry(of: uid)
    }

    /// Treats a logout like a boot (R50).
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
