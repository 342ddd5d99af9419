import AuthEngine
import Linux
import SQLite

enum Schema {
    /// The format "LAut", version 2.
    ///
    /// Version 1 had no half misses.
    static let format = DatabaseFormat(
        applicationID: 0x4C41_7574,
        version: 2,
        tables: firstTables + [halves],
        earlier: [1: firstTables]
    )

    /// Users with half a miss in addition to the number in `users`.
    private static let halves = "CREATE TABLE half_failures (uid INTEGER PRIMARY KEY) STRICT"

    private static let firstTables = [
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID",
        """
        CREATE TABLE users (uid INTEGER PRIMARY KEY, failures INTEGER NOT NULL, passcode_cause TEXT,
            wrong_passcodes INTEGER NOT NULL, delayed_until INTEGER, last_passcode INTEGER,
            last_biometric_unlock INTEGER, boot_id TEXT) STRICT
        """,
        """
        CREATE TABLE enrolments (uid INTEGER PRIMARY KEY, generation INTEGER NOT NULL,
            biometric_generation INTEGER NOT NULL) STRICT
        """,
        """
        CREATE TABLE templates (uid INTEGER NOT NULL, sensor TEXT NOT NULL, template TEXT NOT NULL,
            PRIMARY KEY (uid, sensor, template)) STRICT, WITHOUT ROWID
        """,
    ]

    static func fill(_ database: Database, damaged: Bool) throws(SystemError) {
        let meta = "INSERT INTO meta VALUES (?, ?)"
        try database.run(meta, [.text("damaged"), .integer(damaged ? 1 : 0)])
        try database.run(meta, [.text("identity"), .blob(MachineKey.random(count: 16))])
    }

    static func state(in database: Database) throws(SystemError) -> LoadedState {
        var state = LoadedState()
        state.records = try records(in: database)
        state.enrolments = try enrolments(in: database)
        state.damaged =
            try database.integer("SELECT value FROM meta WHERE name = 'damaged'") != 0
        return state
    }

    static func write(
        _ write: Writer.Write,
        bootID: String,
        to database: Database
    ) throws(SystemError) {
        switch write {
        case .record(let record, let uid):
            try Self.write(record, uid: uid, bootID: bootID, to: database)
        case .enrolment(let enrolment, let uid):
            try Self.write(enrolment, uid: uid, to: database)
        }
    }

    /// Sixteen random bytes, unique to this database.
    static func identity(of database: Database) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        try database.run("SELECT value FROM meta WHERE name = 'identity'") {
            row throws(SystemError) in
            bytes = try row.blob(0)
        }
        guard bytes.count == 16 else {
            throw SystemError(.damaged, "The database has no identity.", path: database.path)
        }
        return bytes
    }

    // MARK: Records

    private static func write(
        _ record: UserRecord,
        uid: UInt32,
        bootID: String,
        to database: Database
    ) throws(SystemError) {
        try database.run(
            "INSERT OR REPLACE INTO users VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                .integer(Int64(uid)),
                .integer(Int64(record.misses)),
                record.passcodeCause.map { .text($0.stored) } ?? .null,
                .integer(Int64(record.wrongPasscodes)),
                time(record.delayedUntil),
                time(record.lastPasscode),
                time(record.lastBiometricUnlock),
                .text(bootID),
            ]
        )
        try database.run(
            record.hasHalfMiss
                ? "INSERT OR IGNORE INTO half_failures VALUES (?)"
                : "DELETE FROM half_failures WHERE uid = ?",
            [.integer(Int64(uid))]
        )
    }

    private static func time(_ instant: Instant?) -> Database.Value {
        instant.map { .integer($0.nanoseconds) } ?? .null
    }

    private static func time(
        _ row: borrowing Statement,
        _ column: Int32
    ) throws(SystemError) -> Instant? {
        row.isNull(column) ? nil : Instant(nanoseconds: try row.integer(column))
    }

    private static func records(
        in database: Database
    ) throws(SystemError) -> [UInt32: UserRecord] {
        var records: [UInt32: UserRecord] = [:]
        try database.run(
            """
            SELECT uid, failures, passcode_cause, wrong_passcodes, delayed_until, last_passcode,
                last_biometric_unlock FROM users
            """
        ) { row throws(SystemError) in
            var record = UserRecord()
            record.misses = try count(row.integer(1), path: database.path)
            record.passcodeCause = row.isNull(2) ? nil : PasscodeCause(stored: try row.text(2))
            record.wrongPasscodes = try count(row.integer(3), path: database.path)
            record.delayedUntil = try time(row, 4)
            record.lastPasscode = try time(row, 5)
            record.lastBiometricUnlock = try time(row, 6)
            records[try uid(row.integer(0), path: database.path)] = record
        }
        try database.run("SELECT uid FROM half_failures") { row throws(SystemError) in
            let uid = try uid(row.integer(0), path: database.path)
            guard records[uid] != nil else {
                throw SystemError(.damaged, "The database counts for nobody.", path: database.path)
            }
            records[uid]?.hasHalfMiss = true
        }
        return records
    }

    /// The boot id of each record, for the clock of its times.
    static func boots(in database: Database) throws(SystemError) -> [UInt32: String] {
        var boots: [UInt32: String] = [:]
        try database.run("SELECT uid, boot_id FROM users") { row throws(SystemError) in
            boots[try uid(row.integer(0), path: database.path)] =
                row.isNull(1) ? "" : try row.text(1)
        }
        return boots
    }

    // MARK: Enrolments

    private static func write(
        _ enrolment: Enrolment,
        uid: UInt32,
        to database: Database
    ) throws(SystemError) {
        let user = Database.Value.integer(Int64(uid))
        try database.run(
            "INSERT OR REPLACE INTO enrolments VALUES (?, ?, ?)",
            [
                user, .integer(Int64(clamping: enrolment.generation)),
                .integer(Int64(clamping: enrolment.biometricGeneration)),
            ]
        )
        try database.run("DELETE FROM templates WHERE uid = ?", [user])
        for (sensor, ids) in enrolment.templates {
            for id in ids {
                try database.run(
                    "INSERT OR REPLACE INTO templates VALUES (?, ?, ?)",
                    [user, .text(sensor), .text(id)]
                )
            }
        }
    }

    private static func enrolments(
        in database: Database
    ) throws(SystemError) -> [UInt32: Enrolment] {
        var enrolments: [UInt32: Enrolment] = [:]
        let path = database.path
        let numbers = "SELECT uid, generation, biometric_generation FROM enrolments"
        try database.run(numbers) { row throws(SystemError) in
            var enrolment = Enrolment()
            enrolment.generation = UInt64(try count(row.integer(1), path: path))
            enrolment.biometricGeneration = UInt64(try count(row.integer(2), path: path))
            enrolments[try uid(row.integer(0), path: path)] = enrolment
        }
        // SQLite compares texts by their bytes, like `Enrolment.update`.
        try database.run(
            "SELECT uid, sensor, template FROM templates ORDER BY uid, sensor, template"
        ) { row throws(SystemError) in
            let uid = try uid(row.integer(0), path: path)
            guard enrolments[uid] != nil else {
                throw SystemError(.damaged, "The database has templates of nobody.", path: path)
            }
            enrolments[uid]?.templates[try row.text(1), default: []].append(try row.text(2))
        }
        return enrolments
    }

    private static func count(_ value: Int64, path: String) throws(SystemError) -> Int {
        guard value >= 0 else {
            throw SystemError(.damaged, "The database counts below zero.", path: path)
        }
        return Int(value)
    }

    private static func uid(_ value: Int64, path: String) throws(SystemError) -> UInt32 {
        guard let uid = UInt32(exactly: value) else {
            throw SystemError(.damaged, "The database has an impossible user.", path: path)
        }
        return uid
    }
}
