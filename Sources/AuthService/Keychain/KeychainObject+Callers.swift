import AuthEngine
import DBus
import KeychainStore
import LocalAuthBus

/// Whose items, and whether they are still there.
extension KeychainObject {
    /// Makes a call on the keychain, with the enrolment that is known now; nobody vouches for an
    /// app here.
    ///
    /// The caller is made in the turn of the loop that hands the call over, after any wait, and the
    /// keychain takes calls in order: it never meets an enrolment after a newer one.
    ///
    /// - Throws: LimitsExceeded when too many calls of the user wait; what the body throws.
    func run<Result: Sendable>(
        as peer: Peer,
        _ body: @escaping @Sendable (KeychainStore, Caller) throws(KeychainError) -> Result
    ) async throws(DBusError) -> Result {
        let keychain = try keychain
        let uid = peer.uid
        try await turns.begin(of: uid)
        defer { turns.end(of: uid) }
        do throws(KeychainError) {
            // What a full disk leaves is hidden, and tried again by the next call.
            if withoutPasscode.contains(uid) { try? await deletePasscodeItems(of: uid) }
            let caller = Caller(
                uid: uid,
                app: nil,
                enrolment: service.enrolments.mark(of: uid),
                isWithoutPasscode: withoutPasscode.contains(uid)
            )
            let (result, setAside) = try await keychain.run { store throws(KeychainError) in
                (try body(store, caller), store.setAside)
            }
            report(setAside: setAside)
            return result
        } catch {
            throw DBusError(error)
        }
    }

    /// Stores an item, once what it holds on to was asked for anew.
    ///
    /// - Throws: NotAvailable for an item that needs a passcode where none is set (R69).
    func store<Result: Sendable>(
        _ new: NewItem,
        _ operation: String,
        replacing replaced: String? = nil,
        as peer: Peer,
        id: (Result) -> String,
        storing body: @escaping @Sendable (KeychainStore, Caller) throws(KeychainError) -> Result
    ) async throws(DBusError) -> Result {
        let result = try await audited(.itemAdded, operation, by: peer) {
            $0.map { [id($0)] } ?? []
        } _: { () throws(DBusError) in
            if let replaced { _ = try await item(replaced, of: peer) }
            let (uid, accessControl) = (peer.uid, new.accessControl)
            if accessControl.isOfCurrentEnrolment {
                await service.enrolments.refresh(uid)
                guard service.enrolments.isWritten(uid) else {
                    throw DBusError(
                        .keychainNotAvailable,
                        "The state can't be written: try again."
                    )
                }
            }
            if accessControl.needsPasscodeSet, await !service.verifier.isSet(for: uid) {
                throw DBusError(
                    .keychainNotAvailable,
                    "Such an item needs a passcode, and this user has none."
                )
            }
            return try await placing(as: peer, body)
        }
        if let replaced { report(.itemDeleted, "replace", by: peer, replaced) }
        return result
    }

    /// Changes an item that is still there.
    func change(
        _ id: String,
        _ operation: String,
        as peer: Peer,
        _ body: @escaping @Sendable (KeychainStore, Caller) throws(KeychainError) -> Void
    ) async throws(DBusError) {
        try await audited(.itemChanged, operation, by: peer) { _ in
            [id]
        } _: { () throws(DBusError) in
            _ = try await item(id, of: peer)
            try await placing(as: peer, body)
        }
    }

    /// Deletes items; one that is gone by now is no longer there to be deleted.
    func delete(_ ids: [String], as peer: Peer) async throws(DBusError) -> [String] {
        _ = try await current(for: peer) {
            $0
        } find: { keychain, caller in
            ids.compactMap { try? keychain.item($0, caller: caller).accessControl }
        }
        return try await run(as: peer) { keychain, caller throws(KeychainError) in
            try keychain.delete(ids, caller: caller)
        }
    }

    /// Gives an item its primary key; one that has it, and is gone by now, is not in the way.
    private func placing<Result: Sendable>(
        as peer: Peer,
        _ body: @escaping @Sendable (KeychainStore, Caller) throws(KeychainError) -> Result
    ) async throws(DBusError) -> Result {
        let before = service.enrolments.mark(of: peer.uid)
        do throws(DBusError) {
            return try await run(as: peer, body)
        } catch {
            guard error.name == .keychainDuplicate,
                await isOutdated(peer.uid, since: before, enrolment: true, passcode: true)
            else { throw error }
            return try await run(as: peer, body)
        }
    }

    /// An item as it is now.
    func item(_ id: String, of peer: Peer) async throws(DBusError) -> Item {
        try await current(for: peer) {
            [$0.accessControl]
        } find: { store, caller throws(KeychainError) in
            try store.item(id, caller: caller)
        }
    }

    /// What a call finds, without what is gone by now (R67, R69).
    func current<Found: Sendable>(
        for peer: Peer,
        _ accessControls: (Found) -> [AccessControl],
        find: @escaping @Sendable (KeychainStore, Caller) throws(KeychainError) -> Found
    ) async throws(DBusError) -> Found {
        let before = service.enrolments.mark(of: peer.uid)
        let found = try await run(as: peer, find)
        let controls = accessControls(found)
        let isOutdated = await isOutdated(
            peer.uid,
            since: before,
            enrolment: controls.contains(where: \.isOfCurrentEnrolment),
            passcode: controls.contains(where: \.needsPasscodeSet)
        )
        return isOutdated ? try await run(as: peer, find) : found
    }

    /// Whether what items hold on to, asked for anew, is another than it was.
    private func isOutdated(
        _ uid: UInt32,
        since before: EnrolmentMark?,
        enrolment: Bool,
        passcode: Bool
    ) async -> Bool {
        var isOutdated = false
        if enrolment {
            await service.enrolments.refresh(uid)
            isOutdated = service.enrolments.mark(of: uid) != before
        }
        // A verifier that is away says nothing, and that is no reason to delete anything.
        if passcode, await service.verifier.answer(for: uid) == false {
            withoutPasscode.insert(uid)
            isOutdated = true
        }
        return isOutdated
    }

    // MARK: - Without a call

    /// The enrolment is another one: items of the last one go, even if nobody asks for them.
    func enrolmentChanged(_ uid: UInt32) {
        guard let store else { return }
        let caller = Caller(uid: uid, app: nil, enrolment: service.enrolments.mark(of: uid))
        // What fails here is done by the next call.
        onLoop { _ = try? await store.runIfThere { $0.settle(caller) } }
    }

    /// A user has no passcode any more: items that need one go, even if it is set again.
    func passcodeRemoved(_ uid: UInt32) {
        withoutPasscode.insert(uid)
        onLoop { try? await self.deletePasscodeItems(of: uid) }
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

/// What Add and CreateKey are given, checked.
struct NewItem: Sendable {
    let attributes: Attributes
    let accessControl: AccessControl
    let password: SecretBytes?
    let date = KeychainValues.date

    @BusActor
    init(
        _ attributes: [String: Variant],
        _ accessControl: [String: Variant],
        _ options: [String: Variant],
        _ call: IncomingCall,
        _ service: AuthService
    ) throws(DBusError) {
        var attributes = attributes
        let accessible = attributes.removeValue(forKey: "pdmn")
        self.accessControl = try KeychainValues.accessControl(accessControl, attribute: accessible)
        let values = try KeychainValues.attributes(attributes)
        do throws(KeychainError) {
            self.attributes = try Attributes(values)
        } catch {
            throw DBusError(error)
        }
        let lent = try Self.password(options, call, service)
        // A context that was evaluated for something else may have a password as well.
        password = self.accessControl.flags.contains(.applicationPassword) ? lent : nil
    }

    /// The application password of the context that the call names.
    @BusActor
    static func password(
        _ options: [String: Variant],
        _ call: IncomingCall,
        _ service: AuthService
    ) throws(DBusError) -> SecretBytes? {
        try service.lentContext(options, of: call.peer)?.applicationPassword
    }
}
