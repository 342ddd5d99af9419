import AuthEngine
import DBus
import KeychainStore

/// Turns with the keychain, each on behalf of a user or a sandboxed app.
extension KeychainObject {
    /// Runs a body on the keychain's thread with the enrolment that is known when the turn begins.
    ///
    /// The caller value is created after all waits, directly before the keychain gets the call, and
    /// the keychain runs calls in order. Therefore it never sees an older enrolment after a newer
    /// enrolment. A search is the exception, because it keeps its caller value to the end.
    ///
    /// - Throws: NoReply if the caller left meanwhile, or the body's error.
    func turn<Result: Sendable>(
        as peer: Peer,
        _ body: @escaping @Sendable (KeychainStore, Caller) throws(KeychainError) -> Result
    ) async throws(DBusError) -> Result {
        try await longTurn(as: peer) { keychain, caller throws(KeychainError) in
            try await keychain.run { store throws(KeychainError) in try body(store, caller) }
        }
    }

    /// Runs a body that lets other callers' turns run in between.
    func longTurn<Result: Sendable>(
        as peer: Peer,
        _ body: @Sendable (Keychain, Caller) async throws(KeychainError) -> Result
    ) async throws(DBusError) -> Result {
        // This refuses any method of a sandboxed caller without an id, if no earlier check has.
        let app = try accessGroup(of: peer) == nil ? nil : evaluations.clients[peer].sandbox.id
        return try await longTurn(of: peer.uid, in: app, body)
    }

    /// Runs a body for a user's app; nil means outside sandboxes.
    func longTurn<Result: Sendable>(
        of uid: UInt32,
        in app: String?,
        _ body: @Sendable (Keychain, Caller) async throws(KeychainError) -> Result
    ) async throws(DBusError) -> Result {
        let keychain = try keychain
        try await queue.begin(of: uid)
        defer {
            queue.end(of: uid)
            emptyLogLater()
        }
        do throws(KeychainError) {
            // If a full disk prevents the deletion, the items stay hidden, and the next call tries
            // again.
            if usersWithRemovedPassword.contains(uid) { try? await deletePasscodeItems(of: uid) }
            let caller = Caller(
                uid: uid,
                app: app,
                enrolment: enrolments.mark(of: uid),
                isWithoutPasscode: usersWithRemovedPassword.contains(uid),
                isPasscodeWithheld: usersWithWithheldPassword.contains(uid)
            )
            let result = try await body(keychain, caller)
            report(setAside: keychain.setAside)
            return result
        } catch {
            throw DBusError(error)
        }
    }

    /// Empties the database's log some seconds after a call, once for the calls meanwhile.
    private func emptyLogLater() {
        guard emptying == nil else { return }
        emptying = EventLoop.shared.schedule(after: Self.restBeforeEmptying) { [weak self] in
            guard let self else { return }
            emptying = nil
            onLoop { await self.store?.emptyLog() }
        }
    }

    private static let restBeforeEmptying = Duration.seconds(5)

    /// Returns an item after checking that it is still valid.
    func item(_ id: String, of peer: Peer) async throws(DBusError) -> Item {
        try await current(for: peer) {
            [$0.accessControl]
        } find: { keychain, caller throws(KeychainError) in
            try await keychain.run { store throws(KeychainError) in
                try store.item(id, caller: caller)
            }
        }
    }

    /// The most items to keep in memory during queries to other processes; longer results are
    /// searched again.
    static let itemsKept = 8

    /// Returns the result of a search without items that have become invalid (R67, R69).
    ///
    /// A result with more than `limit` items is not kept during queries to other processes.
    func current<Found: Sendable>(
        for peer: Peer,
        keeping limit: Int = itemsKept,
        _ accessControls: (Found) -> [AccessControl],
        find: @Sendable (Keychain, Caller) async throws(KeychainError) -> Found
    ) async throws(DBusError) -> Found {
        let before = enrolments.mark(of: peer.uid)
        // Items are hidden while the password is withheld, so check first whether it still is.
        if usersWithWithheldPassword.contains(peer.uid) { _ = await verifier.state(of: peer.uid) }
        let wasWithheld = usersWithWithheldPassword.contains(peer.uid)
        var found: Found? = try await longTurn(as: peer, find)
        let controls = found.map(accessControls) ?? []
        let needsEnrolment = controls.contains(where: \.isOfCurrentEnrolment)
        let needsPasscode = controls.contains(where: \.needsPasscodeSet)
        // Results of many calls that wait for one slow sensor would need hundreds of megabytes.
        if needsEnrolment || needsPasscode, controls.count > limit { found = nil }
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

    /// Queries the enrolment or the password that items depend on, for the next turn.
    ///
    /// `before` is the enrolment at the time when the items were read. `wasWithheld` tells whether
    /// the password was withheld at that time; nil means as it is now.
    ///
    /// - Returns: Whether either has changed since.
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
        let wasWithheld = wasWithheld ?? usersWithWithheldPassword.contains(uid)
        // Without the verifier's answer the state is unknown, so neither delete nor open items.
        let state = await verifier.state(of: uid)
        if state == nil {
            usersWithUnknownPassword.insert(uid)
        } else {
            usersWithUnknownPassword.remove(uid)
        }
        if state == .removed {
            usersWithRemovedPassword.insert(uid)
            hasChanged = true
        }
        return hasChanged || wasWithheld != usersWithWithheldPassword.contains(uid)
    }

    // MARK: - Changes outside calls

    /// Deletes items of an earlier enrolment, even if no caller asks for them.
    func enrolmentChanged(_ uid: UInt32) {
        guard let store else { return }
        let caller = Caller(uid: uid, app: nil, enrolment: enrolments.mark(of: uid))
        // If this fails, the next call deletes the items.
        onLoop { _ = try? await store.runIfThere { $0.deleteStaleItems(for: caller) } }
    }

    /// Handles a changed password state.
    ///
    /// A removed password deletes the items that need it, even if the user sets a password again. A
    /// withheld password hides them.
    func passcodeFound(_ uid: UInt32, _ state: PasscodeState) {
        usersWithWithheldPassword.remove(uid)
        switch state {
        case .set: break
        case .withheld: usersWithWithheldPassword.insert(uid)
        case .removed:
            usersWithRemovedPassword.insert(uid)
            onLoop { try? await self.deletePasscodeItems(of: uid) }
        }
    }

    private func deletePasscodeItems(of uid: UInt32) async throws(KeychainError) {
        let deleted = try await store?
            .runIfThere { keychain throws(KeychainError) in
                try keychain.passcodeRemoved(uid: uid)
            }
        usersWithRemovedPassword.remove(uid)
        reportWithoutPasscode(deleted ?? [], of: uid)
    }
}
