package import Linux

/// The identity and tables of one of our databases, and how to open it.
package struct DatabaseFormat: Sendable {
    /// Distinguishes our databases from other programs' databases.
    let applicationID: Int64
    /// Increases with every change of the tables.
    package let version: Int64
    let tables: [String]
    /// The tables of earlier versions that can be upgraded, by version.
    let earlier: [Int64: [String]]

    package init(
        applicationID: Int64,
        version: Int64,
        tables: [String],
        earlier: [Int64: [String]] = [:]
    ) {
        self.applicationID = applicationID
        self.version = version
        self.tables = tables
        self.earlier = earlier
    }

    /// Upgrades a database of an earlier version.
    ///
    /// A database of this version is left alone.
    ///
    /// `fill` receives the old version, and fills the new tables in the transaction that creates
    /// them. After a crash, the database therefore has either the old version or the new version.
    package func upgrade(
        _ database: Database,
        fill: (_ old: Int64) throws(SystemError) -> Void
    ) throws(SystemError) {
        let found = try database.integer("PRAGMA user_version")
        guard let old = earlier[found] else { return }
        try database.transaction { () throws(SystemError) in
            for table in tables where !old.contains(table) { try database.run(table) }
            try fill(found)
            try database.run("PRAGMA user_version = \(version)")
        }
    }

    /// Opens or creates the database of a folder, and checks that it is sound.
    ///
    /// `fill` writes the first rows into new tables, and receives whether a database was lost.
    /// `check` reads everything that must be readable; a failed read counts as damage.
    package func open(
        in folder: DatabaseFolder,
        lock: DirectoryLock,
        fill: (Database, _ lost: Bool) throws(SystemError) -> Void,
        check: (Database) throws(SystemError) -> Void
    ) throws(SystemError) -> Database {
        if try !PrivateFile.exists(folder.database) {
            try PrivateFile.make(folder.database)
            try folder.directory.synchronize()
        }
        // SQLite would delete the write-ahead log, which may contain all the data.
        guard !folder.hasLogAlone else {
            throw SystemError(
                .damaged,
                "The database is empty, and its log isn't.",
                path: folder.database
            )
        }
        let database = try Database(path: folder.database, holding: lock)
        do throws(SystemError) {
            // Set this before the first read, so that the log needs no shared memory.
            try database.run("PRAGMA locking_mode = EXCLUSIVE")
            try database.run("PRAGMA trusted_schema = OFF")
            let isBlank = try isBlank(database)
            if !isBlank { try verify(database) }
            // Each commit costs one write barrier and waits for it.
            try database.run("PRAGMA journal_mode = WAL")
            try database.run("PRAGMA synchronous = FULL")
            if isBlank {
                try create(in: database, lost: folder.hasLostDatabase(), fill: fill)
            }
            try check(database)
        } catch {
            database.keepLogAtClose()
            throw error
        }
        return database
    }

    private func isBlank(_ database: Database) throws(SystemError) -> Bool {
        // Each number is nonzero if another program wrote a header or a table.
        let traces = [
            "PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_schema",
        ]
        for trace in traces {
            guard try database.integer(trace) == 0 else { return false }
        }
        return true
    }

    private func create(
        in database: Database,
        lost: Bool,
        fill: (Database, _ lost: Bool) throws(SystemError) -> Void
    ) throws(SystemError) {
        try database.transaction { () throws(SystemError) in
            for table in tables {
                try database.run(table)
            }
            try fill(database, lost)
            try database.run("PRAGMA application_id = \(applicationID)")
            try database.run("PRAGMA user_version = \(version)")
        }
    }

    /// Refuses formats that this version can't read, and detects damage.
    private func verify(_ database: Database) throws(SystemError) {
        let path = database.path
        guard try database.integer("PRAGMA application_id") == applicationID else {
            throw SystemError(.foreign, "This is another program's database.", path: path)
        }
        let found = try database.integer("PRAGMA user_version")
        guard found <= version else {
            throw SystemError(
                .foreign,
                "The database has format \(found), this version knows none above \(version): "
                    + "use the newer version that wrote it.",
                path: path
            )
        }
        guard let tables = found == version ? tables : earlier[found] else {
            throw SystemError(.damaged, "The database has the unknown format \(found).", path: path)
        }
        var verdict: String?
        try database.run("PRAGMA quick_check(1)") { row throws(SystemError) in
            verdict = try row.text(0)
        }
        guard verdict == "ok" else {
            throw SystemError(.damaged, "The database is damaged: \(verdict ?? "?").", path: path)
        }
        var schema: Set<String> = []
        // Indexes that SQLite creates by itself have no SQL.
        try database.run("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") {
            row throws(SystemError) in
            schema.insert(try row.text(0))
        }
        guard schema == Set(tables) else {
            throw SystemError(.damaged, "The database has other tables.", path: path)
        }
    }
}
