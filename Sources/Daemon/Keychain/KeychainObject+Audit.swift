import AuthEngine
import Contract
import DBus
import KeychainStore

/// What was done with an item, as the audit has it.
enum ItemOperation: String {
    case add
    case createKey = "create-key"
    case update
    case setSecret = "set-secret"
    case delete
    /// Deleted by an Add that replaced it, or changed by one that took its place.
    case replace
    /// Deleted with the passcode that it needed (R69).
    case passcodeRemoved = "passcode-removed"
    case read
    case sign
    case decrypt
    case exchange
}

/// What is written down of the keychain (L15): who did what with which item, never what the item
/// says of itself or holds.
extension KeychainObject {
    /// Makes a call that changes items, and writes down how it ended.
    ///
    /// `items` are those that it was about, by what it gave; nil: it was refused.
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

    /// Writes down, once, that the keychain's database was damaged.
    func report(setAside: String?) {
        guard let setAside, !isSetAsideReported else { return }
        isSetAsideReported = true
        audit.write(AuditRecord(.databaseSetAside, [.file: setAside]))
    }

    /// Writes down which items went with the passcode that they needed (R69).
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
                // Else it would be the caller's own text.
                .item: item.flatMap { KeychainStore.isIdentifier($0) ? $0 : nil },
                .operation: operation.rawValue, .outcome: outcome, .mechanism: mechanism?.rawValue,
            ]
        )
        audit.write(record.asked(for: requester), by: peer)
    }
}
