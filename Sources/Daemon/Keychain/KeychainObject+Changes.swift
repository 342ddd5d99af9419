import AuthEngine
import DBus
import KeychainStore
import LocalAuthBus
import Sealing

/// Calls that add, change and delete items without authentication (R66).
extension KeychainObject {
    /// Stores an item after querying the enrolment and the password that it depends on.
    ///
    /// - Throws: NotAvailable for an item that needs a password if the user has none (R69).
    func store<Result: Sendable>(
        _ new: NewItem,
        _ operation: ItemOperation,
        replacing replaced: ReplacedItem? = nil,
        as peer: Peer,
        id: (Result) -> String,
        storing body: @escaping @Sendable (KeychainStore, Caller) throws(KeychainError) -> Result
    ) async throws(DBusError) -> Result {
        let isChange = replaced?.isInPlace == true
        let result = try await audited(
            isChange ? .itemChanged : .itemAdded,
            isChange ? .replace : operation,
            by: peer
        ) {
            $0.map { [id($0)] } ?? []
        } _: { () throws(DBusError) in
            if let replaced { _ = try await item(replaced.id, of: peer) }
            let (uid, accessControl) = (peer.uid, new.accessControl)
            if accessControl.isOfCurrentEnrolment {
                await enrolments.refresh(uid)
                guard enrolments.isWritten(uid) else {
                    throw DBusError(
                        .keychainNotAvailable,
                        "The state can't be written: try again."
                    )
                }
                guard enrolments.isKnown(uid) else {
                    throw DBusError(
                        .keychainNotAvailable,
                        "A sensor doesn't say whether the enrolled biometry has changed."
                    )
                }
            }
            if accessControl.needsPasscodeSet { try await requirePasscode(of: uid) }
            return try await placing(as: peer, body)
        }
        if let replaced {
            temporary.forget([replaced.id])
            if !isChange { report(.itemDeleted, .replace, by: peer, replaced.id) }
        }
        return result
    }

    private func requirePasscode(of uid: UInt32) async throws(DBusError) {
        switch await verifier.passcode(of: uid) {
        case .set: return
        case .missing:
            throw DBusError(
                .keychainNotAvailable,
                "The item needs a password, and this user has none."
            )
        case .unknown:
            throw DBusError(
                .keychainNotAvailable,
                "The item needs a password, and the password verifier does not answer."
            )
        }
    }

    /// Changes an item that still exists.
    func change(
        _ id: String,
        _ operation: ItemOperation,
        _ changes: [String: Variant],
        as peer: Peer,
        _ body: @escaping @Sendable (KeychainStore, Caller) throws(KeychainError) -> Void
    ) async throws(DBusError) {
        try await audited(.itemChanged, operation, by: peer) { _ in
            [id]
        } _: { () throws(DBusError) in
            let item = try await item(id, of: peer)
            try checkMove(of: item, changes, by: peer)
            try await placing(as: peer, body)
        }
    }

    /// Deletes items, except items that are invalid by now.
    func delete(_ ids: [String], as peer: Peer) async throws(DBusError) -> [String] {
        _ = try await current(for: peer) {
            $0
        } find: { keychain, caller throws(KeychainError) in
            try await keychain.run { store throws(KeychainError) in
                try store.accessControls(of: ids, caller: caller)
            }
        }
        let deleted = try await turn(as: peer) { keychain, caller throws(KeychainError) in
            try keychain.delete(ids, caller: caller)
        }
        temporary.forget(deleted)
        return deleted
    }

    /// Deletes a key when the connection that created it leaves.
    func bind(_ id: String, to peer: Peer) {
        // Look up the sandbox before the process ends, because afterwards it is unknown.
        let sandbox = evaluations.clients[peer].sandbox
        let app = sandbox.isSandboxed ? sandbox.id : nil
        temporary.add(id, of: peer) { ids in
            guard !ids.isEmpty else { return }
            onLoop {
                _ = try? await self.audited(.itemDeleted, .delete, by: peer) {
                    $0 ?? ids
                } _: { () throws(DBusError) in
                    try await self.deleteTemporary(ids, of: peer.uid, in: app)
                }
            }
        }
    }

    private func deleteTemporary(
        _ ids: [String],
        of uid: UInt32,
        in app: String?
    ) async throws(DBusError) -> [String] {
        let deleted = try await longTurn(of: uid, in: app) {
            keychain,
            caller throws(KeychainError) in
            try await keychain.run { store throws(KeychainError) in
                try store.delete(ids, caller: caller)
            }
        }
        temporary.forget(deleted)
        return deleted
    }

    /// Stores a primary key, and retries if the item that has the key turns out to be invalid by
    /// now.
    private func placing<Result: Sendable>(
        as peer: Peer,
        _ body: @escaping @Sendable (KeychainStore, Caller) throws(KeychainError) -> Result
    ) async throws(DBusError) -> Result {
        let before = enrolments.mark(of: peer.uid)
        do throws(DBusError) {
            return try await turn(as: peer, body)
        } catch {
            guard error.name == .keychainDuplicate,
                await refresh(enrolment: true, passcode: true, of: peer.uid, since: before)
            else { throw error }
            return try await turn(as: peer, body)
        }
    }
}

struct ReplacedItem: Sendable {
    let id: String
    /// Whether the new item takes over the id, so that references stay valid.
    let isInPlace: Bool

    /// Reads the options of Add that name a replaced item; nil if there are none.
    ///
    /// - Throws: Parameter for `in-place` without `replaces`.
    init?(_ options: [String: Variant]) throws(DBusError) {
        let reader = OptionReader(options)
        isInPlace = try reader.value("in-place", \.asBool) ?? false
        guard let id = try reader.value("replaces", \.asString) else {
            guard !isInPlace else {
                throw .parameter("the option in-place is for an item that replaces another")
            }
            return nil
        }
        self.id = id
    }
}

/// The checked arguments of Add and CreateKey.
struct NewItem: Sendable {
    let attributes: Attributes
    let accessControl: AccessControl
    let password: SecretBytes?
    let date = KeychainValues.date
    /// The creation time that the caller states; nil means now.
    let created: Int64?
    /// Whether the secret is key material that the caller supplies.
    let isKeyMaterial: Bool

    /// The start of the year 10000.
    private static let lastSecond: Int64 = 253_402_300_800

    @BusActor
    init(
        _ attributes: [String: Variant],
        _ accessControl: [String: Variant],
        _ options: [String: Variant],
        _ call: IncomingCall,
        _ clients: Clients
    ) throws(DBusError) {
        let unknown = clients.unknownOptions
        unknown.take(accessControl, of: call, among: OptionNames.accessControl)
        unknown.take(options, of: call)
        var attributes = attributes
        let accessible = attributes.removeValue(forKey: "pdmn")
        self.accessControl = try KeychainValues.accessControl(accessControl, attribute: accessible)
        let values = try KeychainValues.attributes(attributes)
        do throws(KeychainError) {
            self.attributes = try Attributes(values)
        } catch {
            throw DBusError(error)
        }
        let reader = OptionReader(options)
        isKeyMaterial = try reader.value("key-material", \.asBool) ?? false
        created = try reader.value("created", \.asInt64)
        guard created.map({ (-Self.lastSecond..<Self.lastSecond).contains($0) }) ?? true else {
            throw .parameter("the option created is no time of four-digit years")
        }
        let lent = try clients.lentContext(options, of: call.peer)?.applicationPassword
        // A context that served another item may hold a password that this item must not use.
        password = self.accessControl.flags.contains(.applicationPassword) ? lent : nil
    }
}
