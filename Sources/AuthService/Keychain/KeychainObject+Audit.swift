import AuthEngine
import DBus
import KeychainStore

/// What is written down of the keychain (L15): who did what with which item, never what the item
/// says of itself or holds.
extension KeychainObject {
    /// Makes a call that changes items, and writes down how it ended.
    ///
    /// `items` are those that it was about, by what it gave; nil: it was refused.
    func audited<Value: Sendable>(
        _ kind: AuditKind,
        _ operation: String,
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

    /// Answers a call that uses an item, and writes down what released it.
    func audited<Value: Sendable>(
        _ operation: String,
        _ use: KeychainUse,
        _ body: @escaping @BusActor @Sendable (KeychainPermission) async throws(DBusError) -> Value
    ) -> Answer<Value> {
        .later { () throws(DBusError) in
            do throws(DBusError) {
                let permission = try await self.permission(for: use)
                let value = try await body(permission)
                let mechanism = permission.mechanism?.rawValue
                self.report(.itemUsed, operation, by: use.peer, use.id, mechanism: mechanism)
                return value
            } catch {
                let outcome = error.outcome
                self.report(.itemUsed, operation, by: use.peer, use.id, outcome: outcome)
                throw error
            }
        }
    }

    /// Writes down, once, that the keychain's database was damaged.
    func report(setAside: String?) {
        guard let setAside, !isSetAsideReported else { return }
        isSetAsideReported = true
        service.audit.write(AuditRecord(.databaseSetAside, [.file: setAside]))
    }

    /// Writes down which items went with the passcode that they needed (R69).
    func reportWithoutPasscode(_ items: [String], of uid: UInt32) {
        for item in items {
            let values: [AuditField: String] = [
                .item: item, .operation: "passcode-removed", .outcome: "Success",
            ]
            service.audit.write(AuditRecord(.itemDeleted, uid: uid, values))
        }
    }

    func report(
        _ kind: AuditKind,
        _ operation: String,
        by peer: Peer,
        _ item: String?,
        outcome: String = "Success",
        mechanism: String? = nil
    ) {
        let record = AuditRecord(
            kind,
            uid: peer.uid,
            [
                // Else it would be the caller's own text.
                .item: item.flatMap { KeychainStore.isIdentifier($0) ? $0 : nil },
                .operation: operation, .outcome: outcome, .mechanism: mechanism,
            ]
        )
        service.audit.write(record, by: peer)
    }
}
