import Linux
import SQLite

enum KeychainSchema {
    private static let metaTable =
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID"

    /// The tables of users' data in format 1, in which a ledger was a list without pages.
    private static let firstTables = [
        """
        CREATE TABLE ledgers (uid INTEGER PRIMARY KEY, code BLOB NOT NULL, ledger BLOB NOT NULL)
            STRICT
        """,
        """
        CREATE TABLE items (uid INTEGER NOT NULL, id BLOB NOT NULL, version INTEGER NOT NULL,
            primary_key BLOB NOT NULL, record BLOB NOT NULL, envelope BLOB NOT NULL,
            code BLOB NOT NULL, PRIMARY KEY (uid, id), UNIQUE (uid, primary_key)) STRICT
        """,
    ]

    private static let pages = """
        CREATE TABLE pages (uid INTEGER NOT NULL, number INTEGER NOT NULL, code BLOB NOT NULL,
            entries BLOB NOT NULL, PRIMARY KEY (uid, number)) STRICT
        """

    /// The tables of users' data.
    private static let tables = firstTables + [pages]

    static let format = DatabaseFormat(
        applicationID: 0x4C41_6B63,
        version: 3,
        tables: [metaTable] + tables,
        // Format 2 had these tables, without encryption of records, ledgers and pages.
        earlier: [1: [metaTable] + firstTables, 2: [metaTable] + tables]
    )

    struct Row {
        let id: [UInt8]
        let version: UInt64
        let primaryKey: [UInt8]
        let record: [UInt8]
        let envelope: [UInt8]
        let code: [UInt8]

        /// The row's code; nil for an impossible id.
        func code(of uid: UInt32, _ ring: KeyRing) -> [UInt8]? {
            guard let id = ItemID(bytes: id) else { return nil }
            return ring.rowCode(
                Self.authenticated(
                    uid: uid,
                    id: id,
                    version: version,
                    primaryKey: primaryKey,
                    record: record,
                    envelope: envelope
                )
            )
        }

        /// Returns the row with its code.
        func coded(for uid: UInt32, _ ring: KeyRing) -> Row {
            Row(
                id: id,
                version: version,
                primaryKey: primaryKey,
                record: record,
                envelope: envelope,
                code: code(of: uid, ring) ?? []
            )
        }

        /// Where a record stands, for its encryption.
        static func place(uid: UInt32, id: [UInt8]) -> ByteWriter {
            var writer = ByteWriter("record")
            writer.add(uid)
            writer.add(id)
            return writer
        }

        /// The bytes that the row's code authenticates.
        static func authenticated(
            uid: UInt32,
            id: ItemID,
            version: UInt64,
            primaryKey: [UInt8],
            record: [UInt8],
            envelope: [UInt8]
        ) -> [UInt8] {
            var writer = ByteWriter("row")
            writer.add(uid)
            writer.add(id.bytes)
            writer.add(version)
            writer.add(primaryKey)
            writer.add(record)
            writer.add(envelope)
            return writer.bytes
        }
    }

    private static let columns = "id, version, primary_key, record, envelope, code"

    static func row(
        _ id: ItemID,
        of uid: UInt32,
        in database: Database
    ) throws(SystemError) -> Row? {
        var found: Row?
        try database.run(
            "SELECT \(columns) FROM items WHERE uid = ? AND id = ?",
            [.integer(Int64(uid)), .blob(id.bytes)]
        ) { statement throws(SystemError) in found = try Self.row(statement) }
        return found
    }

    static func write(_ row: Row, uid: UInt32, to database: Database) throws(SystemError) {
        try database.run(
            "INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                .integer(Int64(uid)), .blob(row.id), .integer(Int64(bitPattern: row.version)),
                .blob(row.primaryKey), .blob(row.record), .blob(row.envelope), .blob(row.code),
            ]
        )
    }

    static func delete(_ id: ItemID, uid: UInt32, in database: Database) throws(SystemError) {
        try database.run(
            "DELETE FROM items WHERE uid = ? AND id = ?",
            [.integer(Int64(uid)), .blob(id.bytes)]
        )
    }

    /// Calls `id` with the id of each row of a user, authentic or not.
    static func ids(
        of uid: UInt32,
        in database: Database,
        id: ([UInt8]) -> Void
    ) throws(SystemError) {
        try database.run("SELECT id FROM items WHERE uid = ?", [.integer(Int64(uid))]) {
            statement throws(SystemError) in id(try statement.blob(0))
        }
    }

    // MARK: Upgrades

    /// Replaces the tables of users' data with empty tables, which `fill` fills.
    ///
    /// SQLite overwrites a dropped table with zeros. No clear attribute of an earlier format stays.
    static func replaceTables(
        in database: Database,
        fill: () throws(SystemError) -> Void
    ) throws(SystemError) {
        let names = ["items", "ledgers", "pages"]
        for name in names { try database.run("ALTER TABLE \(name) RENAME TO former_\(name)") }
        for table in tables { try database.run(table) }
        try fill()
        for name in names { try database.run("DROP TABLE former_\(name)") }
    }

    /// Calls `row` with each row of an earlier format, authentic or not.
    static func formerRows(
        in database: Database,
        row: (_ uid: UInt32, Row) throws(SystemError) -> Void
    ) throws(SystemError) {
        try database.run("SELECT \(columns), uid FROM former_items") {
            statement throws(SystemError) in
            guard let uid = UInt32(exactly: try statement.integer(6)) else { return }
            try row(uid, Self.row(statement))
        }
    }

    // MARK: Ledgers and metadata

    static func page(
        _ number: UInt64,
        of uid: UInt32,
        in database: Database,
        former: Bool = false
    ) throws(SystemError) -> (entries: [UInt8], code: [UInt8])? {
        var found: (entries: [UInt8], code: [UInt8])?
        let table = former ? "former_pages" : "pages"
        try database.run(
            "SELECT entries, code FROM \(table) WHERE uid = ? AND number = ?",
            [.integer(Int64(uid)), .integer(Int64(bitPattern: number))]
        ) { statement throws(SystemError) in
            found = (try statement.blob(0), try statement.blob(1))
        }
        return found
    }

    static func write(
        page entries: [UInt8],
        _ number: UInt64,
        code: [UInt8],
        of uid: UInt32,
        to database: Database
    ) throws(SystemError) {
        try database.run(
            "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?)",
            [
                .integer(Int64(uid)), .integer(Int64(bitPattern: number)), .blob(code),
                .blob(entries),
            ]
        )
    }

    static func delete(
        page number: UInt64,
        of uid: UInt32,
        in database: Database
    ) throws(SystemError) {
        try database.run(
            "DELETE FROM pages WHERE uid = ? AND number = ?",
            [.integer(Int64(uid)), .integer(Int64(bitPattern: number))]
        )
    }

    static func ledger(
        of uid: UInt32,
        in database: Database,
        former: Bool = false
    ) throws(SystemError) -> [UInt8]? {
        var found: [UInt8]?
        let table = former ? "former_ledgers" : "ledgers"
        try database.run("SELECT ledger FROM \(table) WHERE uid = ?", [.integer(Int64(uid))]) {
            statement throws(SystemError) in found = try statement.blob(0)
        }
        return found
    }

    static func ledgerCodes(
        in database: Database
    ) throws(SystemError) -> [UInt32: [UInt8]] {
        var found: [UInt32: [UInt8]] = [:]
        let path = database.path
        try database.run("SELECT uid, code FROM ledgers") { statement throws(SystemError) in
            guard let uid = UInt32(exactly: try statement.integer(0)) else {
                throw SystemError(.damaged, "The database has an impossible user.", path: path)
            }
            found[uid] = try statement.blob(1)
        }
        return found
    }

    static func write(
        ledger: [UInt8],
        code: [UInt8],
        of uid: UInt32,
        to database: Database
    ) throws(SystemError) {
        try database.run(
            "INSERT OR REPLACE INTO ledgers VALUES (?, ?, ?)",
            [.integer(Int64(uid)), .blob(code), .blob(ledger)]
        )
    }

    static func meta(_ name: String, in database: Database) throws(SystemError) -> [UInt8]? {
        var found: [UInt8]?
        try database.run("SELECT value FROM meta WHERE name = ?", [.text(name)]) {
            statement throws(SystemError) in found = try statement.blob(0)
        }
        return found
    }

    static func write(
        meta name: String,
        _ value: [UInt8],
        to database: Database
    ) throws(SystemError) {
        try database.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", [.text(name), .blob(value)])
    }

    private static func row(_ statement: borrowing Statement) throws(SystemError) -> Row {
        Row(
            id: try statement.blob(0),
            version: UInt64(bitPattern: try statement.integer(1)),
            primaryKey: try statement.blob(2),
            record: try statement.blob(3),
            envelope: try statement.blob(4),
            code: try statement.blob(5)
        )
    }
}

extension KeychainSchema.Row {
    /// Encrypts an item's attributes, and authenticates its row.
    init(
        _ item: Item,
        version: UInt64,
        envelope: [UInt8],
        ring: KeyRing
    ) throws(SystemError) {
        let digest = item.attributes.primaryKey(app: item.app)
        let place = Self.place(uid: item.uid, id: item.itemID.bytes)
        self = Self(
            id: item.itemID.bytes,
            version: version,
            primaryKey: ring.index(of: item.uid).code(primaryKey: digest),
            record: try ring.seal(item.record, at: place),
            envelope: envelope,
            code: []
        )
        .coded(for: item.uid, ring)
    }
}
