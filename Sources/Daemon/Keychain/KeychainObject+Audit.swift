import AuthEngine
import Contract
import DBus
import KeychainStore

enum ItemOperation: String {
    case add
    case createKey = "create-key"
    case update
    case setSecret = "set-secret"
    case delete
    /// An Add that replaced the item: it deleted the old item, or changed it in place.
    case replace
    /// Deleted together with the password that the item required (R69).
    case passcodeRemoved = "passcode-removed"
    case read
    case sign
    case decrypt
    case exchange
}

/// Audit records about the keychain (L15), which never contain an item's attributes or secrets.
extension KeychainObject {
    /// Runs a call that changes items, and writes its outcome to the audit.
    ///
    /// `items` returns the ids that the call was about, from its result or, after a refusal, from
    /// nil.
    func audited<Value: Sendable>(
        _ kind: AuditKind,
        _ operation: ItemOperation,
        by peer: Peer,
        items: (Value?) -> [String],
        _ body: () async throws(DBusError) -> Value
    ) async throws(DBusError) -> Value {
        do throws(DBusError) {
            let value = try await body()
            for item in items(value) { report(kind, operation, by: peer, item) }
            return value
        } catch {
            report(kind, operation, by: peer, items(nil).first, outcome: error.outcome)
            throw error
        }
    }

    /// Writes once to the audit that the keychain's database was damaged.
    func report(setAside: String?) {
        guard let setAside, !isSetAsideReported else { return }
        isSetAsideReported = true
        audit.write(AuditRecord(.databaseSetAside, [.file: setAside]))
    }

    /// Writes to the audit which items were deleted together with the password that they required
    /// (R69).
    func reportWithoutPasscode(_ items: [String], of uid: UInt32) {
        for item in items {
            let values: [AuditField: String] = [
                .item: item, .operation: ItemOperation.passcodeRemoved.rawValue,
                .outcome: "Success",
            ]
            audit.write(AuditRecord(.itemDeleted, uid: uid, values))
        }
    }

    func report(
        _ kind: AuditKind,
        _ operation: ItemOperation,
        by peer: Peer,
        _ item: String?,
        outcome: String = "Success",
        mechanism: Mechanism? = nil,
        for requester: Requester? = nil
    ) {
        let record = AuditRecord(
            kind,
            uid: peer.uid,
            [
                // Reject other strings, because they are the caller's own text.
                .item: item.flatMap { KeychainStore.isIdentifier($0) ? $0 : nil },
                .operation: operation.rawValue, .outcome: outcome, .mechanism: mechanism?.rawValue,
            ]
        )
        audit.write(record.asked(for: requester), by: peer)
    }
}
