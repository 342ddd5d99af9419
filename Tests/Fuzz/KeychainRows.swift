import Glibc
import Linux
import SQLite
import Sealing
import TestSupport

@testable import AuthEngine
@testable import KeychainStore

/// The keychain's stored data: raw bytes, and the contents of authentic rows.
enum KeychainRows {
    private static let ring = KeyRing(
        MasterKey([UInt8](repeating: 1, count: MasterKey.size)),
        identity: [UInt8](repeating: 2, count: 16)
    )

    /// Reads bytes as each part of an authentic row.
    ///
    /// A valid part must survive a round trip.
    static func read(_ bytes: [UInt8]) {
        if let ledger = try? Ledger(bytes) {
            precondition((try? Ledger(ledger.bytes)) == ledger)
            look(in: ledger)
        }
        if let page = try? PageEntries(bytes) { precondition(page.all.bytes == bytes) }
        _ = try? KeychainStore.firstLedger(bytes)
        let id = ItemID(high: 1, low: 2)
        if let item = try? Item(id, uid: 1000, record: bytes) {
            precondition((try? Item(id, uid: 1000, record: item.record)) == item)
            let caller = Caller(uid: 1000, app: nil, enrolment: item.enrolment)
            _ = (item.allAttributes, item.answerSize, item.binding, item.isVisible(to: caller))
            _ = ring.index(of: 1000).tokens(of: item)
            _ = (try? Query(item.allAttributes))?.matches(item)
        }
        open(bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        if let key = try? RecoveryKey.key(of: text) {
            let same = try? RecoveryKey.key(of: key.use { RecoveryKey.text(for: $0) })
            precondition(same?.use { $0 } == key.use { $0 })
        }
    }

    private static func look(in ledger: Ledger) {
        guard let page = ledger.pages.last else { return }
        _ = (ledger.pages(of: page.first.token), ledger.page(of: page.first))
        var changed = ledger
        // Counts may be wrong even in an authentic ledger, and must not trap.
        _ = try? changed.apply([page.first: 1, .init(token: .max, id: .smallest): nil], at: 2) {
            _ in []
        }
    }

    /// Opens an envelope with any header, with and without a password.
    private static func open(_ bytes: [UInt8]) {
        guard let envelope = try? Envelope(bytes) else { return }
        precondition((try? Envelope(envelope.bytes))?.bytes == envelope.bytes)
        guard let item else { return }
        precondition((try? envelope.open(item, password: nil, ring: ring)) == nil)
    }

    private static let item: Item? = {
        guard let access = try? AccessControl(flags: [], accessibility: .whenUnlocked),
            let attributes = try? Attributes(["class": .text("genp"), "acct": .text("jo")])
        else { return nil }
        return Item(
            itemID: ItemID(high: 1, low: 2),
            uid: 1000,
            app: "",
            attributes: attributes,
            accessControl: access,
            created: 0,
            added: 1,
            modified: 0,
            publicKey: [],
            enrolment: nil,
            secretVersion: 1,
            secretSize: 1
        )
    }()

    // MARK: The database

    private static let caller = Caller(uid: 1000, app: nil, enrolment: nil)
    private static let secret: [UInt8] = Array("open the vault".utf8)

    /// A keychain with a single item, and the item's identifier.
    private static let kept: (folder: StateFolder, id: String)? = {
        guard let folder = try? StateFolder("keychain"),
            let store = try? KeychainStore.open(directory: folder.path, credentials: nil),
            let item,
            let id = try? store.add(
                item.attributes,
                secret: SecretBytes(secret),
                accessControl: item.accessControl,
                password: nil,
                caller: caller,
                date: 0
            )
        else { return nil }
        return (folder, id)
    }()

    private static let statements = [
        "UPDATE meta SET value = ?2 WHERE name = 'root'",
        "UPDATE meta SET value = ?2 WHERE name = 'verifier'",
        "UPDATE meta SET value = ?2 WHERE name = 'identity'",
        "UPDATE meta SET value = ?2 WHERE name = 'key'",
        "UPDATE meta SET value = ?1 WHERE name = 'lost'",
        "INSERT OR REPLACE INTO ledgers VALUES (?1, ?2, ?2)",
        "UPDATE ledgers SET ledger = ?2", "UPDATE ledgers SET code = ?2",
        "INSERT OR REPLACE INTO pages VALUES (1000, ?1, ?2, ?2)",
        "UPDATE pages SET entries = ?2", "UPDATE pages SET number = ?1",
        "UPDATE items SET record = ?2", "UPDATE items SET envelope = ?2",
        "UPDATE items SET version = ?1", "UPDATE items SET uid = ?1", "UPDATE items SET id = ?2",
        "UPDATE items SET primary_key = ?2",
        "INSERT OR IGNORE INTO items VALUES (1000, ?2, ?1, ?2, ?2, ?2, ?2)",
        "DELETE FROM items", "DELETE FROM ledgers", "DELETE FROM pages",
        "PRAGMA user_version = 1", "PRAGMA user_version = 2",
    ]

    /// Opens a keychain that another program has written to.
    ///
    /// The stored item's secret must come back unchanged, or not at all.
    static func openChanged(_ bytes: [UInt8]) {
        guard let (folder, id) = kept, let copy = try? StateFolder("keychain"),
            mkdir("\(copy.path)/keychain", 0o700) == 0
        else { preconditionFailure("no keychain") }
        for name in folder.files { try? copy.write(folder.read(name), to: name) }
        var input = Foreign(bytes)
        Databases.change(copy.file("items.sqlite"), in: copy.file(""), statements, &input)
        guard let store = try? KeychainStore.open(directory: copy.path, credentials: nil) else {
            return
        }
        let found = (try? Query([:])).flatMap { try? store.search($0, caller: caller) } ?? []
        precondition(found.allSatisfy { $0.id == id })
        let grant = item.flatMap {
            AccessGrant.resting(
                on: [],
                for: .useItem,
                uid: 1000,
                accessControl: $0.accessControl
            )
        }
        guard let grant else { preconditionFailure("no grant") }
        let given = try? store.secret(
            of: id,
            authorization: grant,
            password: nil,
            caller: caller
        )
        precondition(given.map { $0.use { $0 } == secret } ?? true)
        _ = try? store.itemCount(of: 1000)
        _ = try? store.delete([id], caller: caller)
    }
}
