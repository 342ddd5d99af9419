package import Linux

/// What distinguishes our databases from others, and how they are opened.
package struct DatabaseFormat: Sendable {
    /// Tells our databases from those of other programs.
    let applicationID: Int64
    /// Goes up with every change of the tables.
    let version: Int64
    /// The statements that make the tables.
    let tables: [String]
    /// The tables of the earlier versions that are upgraded, by version.
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

    /// Brings a database of an earlier version up to this one; nothing happens to one of this.
    ///
    /// `fill` fills the tables that are new, in the transaction that makes them: after a crash the
    /// database is of the one version or the other.
    package func upgrade(
        _ database: Database,
        fill: () throws(SystemError) -> Void
    ) throws(SystemError) {
        let found = try database.integer("PRAGMA user_version")
        guard let old = earlier[found] else { return }
        try database.transaction { () throws(SystemError) in
            for table in tables where !old.contains(table) { try database.run(table) }
            try fill()
            try database.run("PRAGMA user_version = \(version)")
        }
    }

    /// Opens the database of a folder, or makes it, and finds out whether it is sound.
    ///
    /// `fill` writes the first rows into new tables, and is told whether a database was lost;
    /// `check` reads everything that has to be understood; what it can't read counts as damage,
    /// too.
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
            // Before the first read: the log then needs no shared memory.
            try database.run("PRAGMA locking_mode = EXCLUSIVE")
            try database.run("PRAGMA trusted_schema = OFF")
            let isBlank = try isBlank(database)
            if !isBlank { try verify(database) }
            // One write barrier for each commit, and each commit waits for it.
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

    /// Whether nothing was ever written to this database.
    private func isBlank(_ database: Database) throws(SystemError) -> Bool {
        // A header or a table that something else wrote: each is a number.
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

    /// Refuses what this version can't read, and finds damage.
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
        // Indexes that SQLite makes by itself have no SQL.
        try database.run("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") {
            row throws(SystemError) in
            schema.insert(try row.text(0))
        }
        guard schema == Set(tables) else {
            throw SystemError(.damaged, "The database has other tables.", path: path)
        }
    }
}
