import AuthEngine
import DBus
import KeychainStore

/// Turns with the keychain: whose items, and whether they are still there.
extension KeychainObject {
    /// Has a turn with the keychain, with the enrolment that is known when it begins.
    ///
    /// The caller is made in the turn of the loop that hands the call over, after any wait, and the
    /// keychain takes calls in order: but for a search, which goes on with the caller that it began
    /// with, it never meets an enrolment after a newer one.
    ///
    /// - Throws: NoReply when the caller has left meanwhile; what the body throws.
    func turn<Result: Sendable>(
        as peer: Peer,
        _ body: @escaping @Sendable (KeychainStore, Caller) throws(KeychainError) -> Result
    ) async throws(DBusError) -> Result {
        try await longTurn(as: peer) { keychain, caller throws(KeychainError) in
            try await keychain.run { store throws(KeychainError) in try body(store, caller) }
        }
    }

    /// The same, with others' turns in between.
    func longTurn<Result: Sendable>(
        as peer: Peer,
        _ body: @Sendable (Keychain, Caller) async throws(KeychainError) -> Result
    ) async throws(DBusError) -> Result {
        // Each method of a sandboxed caller without an id is refused here at the latest.
        let app = try accessGroup(of: peer) == nil ? nil : evaluations.clients[peer].sandbox.id
        return try await longTurn(of: peer.uid, in: app, body)
    }

    /// The same for a user's app; nil: outside sandboxes.
    func longTurn<Result: Sendable>(
        of uid: UInt32,
        in app: String?,
        _ body: @Sendable (Keychain, Caller) async throws(KeychainError) -> Result
    ) async throws(DBusError) -> Result {
        let keychain = try keychain
        try await turns.begin(of: uid)
        defer { turns.end(of: uid) }
        do throws(KeychainError) {
            // What a full disk leaves is hidden, and tried again by the next call.
            if withoutPasscode.contains(uid) { try? await deletePasscodeItems(of: uid) }
            let caller = Caller(
                uid: uid,
                app: app,
                enrolment: enrolments.mark(of: uid),
                isWithoutPasscode: withoutPasscode.contains(uid),
                isPasscodeWithheld: withheld.contains(uid)
            )
            let result = try await body(keychain, caller)
            report(setAside: keychain.setAside)
            return result
        } catch {
            throw DBusError(error)
        }
    }

    /// An item as it is now.
    func item(_ id: String, of peer: Peer) async throws(DBusError) -> Item {
        try await current(for: peer) {
            [$0.accessControl]
        } find: { keychain, caller throws(KeychainError) in
            try await keychain.run { store throws(KeychainError) in
                try store.item(id, caller: caller)
            }
        }
    }

    /// So many items are kept while sensors and verifier are asked; more are looked for again.
    private static let itemsKept = 8

    /// What a call finds, without what is gone by now (R67, R69).
    func current<Found: Sendable>(
        for peer: Peer,
        _ accessControls: (Found) -> [AccessControl],
        find: @Sendable (Keychain, Caller) async throws(KeychainError) -> Found
    ) async throws(DBusError) -> Found {
        let before = enrolments.mark(of: peer.uid)
        // What is hidden would not be found, and nobody would ask whether it still has to be.
        if withheld.contains(peer.uid) { _ = await verifier.state(of: peer.uid) }
        let wasWithheld = withheld.contains(peer.uid)
        var found: Found? = try await longTurn(as: peer, find)
        let controls = found.map(accessControls) ?? []
        let needsEnrolment = controls.contains(where: \.isOfCurrentEnrolment)
        let needsPasscode = controls.contains(where: \.needsPasscodeSet)
        // The results of many calls that wait for one sensor would be hundreds of megabytes.
        if needsEnrolment || needsPasscode, controls.count > Self.itemsKept { found = nil }
        let isOutdated = await refresh(
            enrolment: needsEnrolment,
            passcode: needsPasscode,
            of: peer.uid,
            since: before,
            wasWithheld: wasWithheld
        )
        if let found, !isOutdated { return found }
        return try await longTurn(as: peer, find)
    }

    /// Asks anew for what items hold on to, so that the next turn knows it.
    ///
    /// `before` is the enrolment, and `wasWithheld` whether the passcode was withheld, when the
    /// items were looked at; nil: as that is now.
    ///
    /// - Returns: Whether it has changed since.
    @discardableResult
    func refresh(
        enrolment: Bool,
        passcode: Bool,
        of uid: UInt32,
        since before: EnrolmentMark?,
        wasWithheld: Bool? = nil
    ) async -> Bool {
        var hasChanged = false
        if enrolment {
            await enrolments.refresh(uid)
            hasChanged = enrolments.mark(of: uid) != before
        }
        guard passcode else { return hasChanged }
        let wasWithheld = wasWithheld ?? withheld.contains(uid)
        // A verifier that is away says nothing, and that is no reason to delete anything, nor to
        // open it.
        let state = await verifier.state(of: uid)
        if state == nil { unsaid.insert(uid) } else { unsaid.remove(uid) }
        if state == .removed {
            withoutPasscode.insert(uid)
            hasChanged = true
        }
        return hasChanged || wasWithheld != withheld.contains(uid)
    }

    // MARK: - Without a call

    /// The enrolment is another one: items of the last one go, even if nobody asks for them.
    func enrolmentChanged(_ uid: UInt32) {
        guard let store else { return }
        let caller = Caller(uid: uid, app: nil, enrolment: enrolments.mark(of: uid))
        // What fails here is done by the next call.
        onLoop { _ = try? await store.runIfThere { $0.settle(caller) } }
    }

    /// A user's passcode is another way than it was: items that need one go with it, even if it is
    /// set again, and are hidden while it is withheld.
    func passcodeFound(_ uid: UInt32, _ state: PasscodeState) {
        withheld.remove(uid)
        switch state {
        case .set: break
        case .withheld: withheld.insert(uid)
        case .removed:
            withoutPasscode.insert(uid)
            onLoop { try? await self.deletePasscodeItems(of: uid) }
        }
    }

    private func deletePasscodeItems(of uid: UInt32) async throws(KeychainError) {
        let deleted = try await store?
            .runIfThere { keychain throws(KeychainError) in
                try keychain.passcodeRemoved(uid: uid)
            }
        withoutPasscode.remove(uid)
        reportWithoutPasscode(deleted ?? [], of: uid)
    }
}
