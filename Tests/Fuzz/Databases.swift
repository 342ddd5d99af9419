import Contract
import Linux
import SQLite
import TestSupport

@testable import AuthEngine
@testable import AuthStore

/// Databases that another program has written to.
enum Databases {
    /// Runs statements that the bytes choose: `?1` is any number, `?2` any bytes, `?3` any text.
    static func change(
        _ file: String,
        in folder: String,
        _ statements: [String],
        _ input: inout Foreign
    ) {
        guard let lock = try? PrivateDirectory(folder).lock(),
            let database = try? Database(path: file, holding: lock)
        else { preconditionFailure("no database") }
        while !input.isAtEnd {
            let statement = input.one(of: statements)
            // Bind only the parameters that the statement has.
            let values: [Database.Value] = [
                .integer(input.number()), .blob(input.bytes()), .text(input.text()),
            ]
            let last = (1...3).last { statement.contains("?\($0)") } ?? 0
            try? database.run(statement, Array(values.prefix(last)))
        }
    }

    private static let statements = [
        "INSERT OR REPLACE INTO users VALUES (?1, 5, ?3, 0, 1, 1, 1, ?3)",
        "INSERT OR REPLACE INTO users VALUES (1000, ?1, NULL, ?1, NULL, NULL, NULL, 'boot')",
        "INSERT OR REPLACE INTO users VALUES (1001, 0, ?3, ?1, ?1, ?1, ?1, 'boot')",
        "INSERT OR REPLACE INTO users VALUES (1002, 0, NULL, 7, ?1, ?1, ?1, NULL)",
        "UPDATE users SET delayed_until = ?1", "UPDATE users SET last_passcode = ?1",
        "UPDATE users SET last_biometric_unlock = ?1", "UPDATE users SET wrong_passcodes = ?1",
        "INSERT OR REPLACE INTO half_failures VALUES (?1)",
        "INSERT OR REPLACE INTO half_failures VALUES (1000)",
        "INSERT OR REPLACE INTO enrolments VALUES (1000, ?1, ?1)",
        "INSERT OR REPLACE INTO enrolments VALUES (?1, 1, 1)",
        "INSERT OR REPLACE INTO templates VALUES (1000, ?3, ?3)",
        "INSERT OR REPLACE INTO templates VALUES (?1, 'Face', ?3)",
        "UPDATE meta SET value = ?2 WHERE name = 'identity'",
        "UPDATE meta SET value = ?1 WHERE name = 'damaged'",
        "DELETE FROM meta WHERE name = 'damaged'", "PRAGMA user_version = 1",
    ]

    private static let empty: StateFolder? = {
        guard let folder = try? StateFolder(),
            let (store, _) = try? open(folder)
        else { return nil }
        store.close()
        return folder
    }()

    private static func open(_ folder: StateFolder) throws(SystemError) -> (AuthStore, LoadedState)
    {
        try AuthStore.open(
            directory: folder.path,
            now: Instant(nanoseconds: 1 << 40),
            bootID: "boot",
            settings: Settings()
        )
    }

    /// Opens a state that another program has written to, or a file that is no database.
    ///
    /// Invalid parts are set aside, and valid parts must survive a second opening.
    static func openState(_ bytes: [UInt8]) {
        guard let empty, let folder = try? StateFolder() else { preconditionFailure("no state") }
        for name in empty.files { try? folder.write(empty.read(name), to: name) }
        var input = Foreign(bytes)
        let file = folder.file("state.sqlite")
        if input.byte() == 1 {
            try? folder.write(input.all(), to: "state.sqlite")
        } else {
            change(file, in: folder.path, statements, &input)
        }
        guard let (store, state) = try? open(folder) else { return }
        for (uid, enrolment) in state.enrolments { _ = store.domainState(of: enrolment, uid: uid) }
        for uid in state.records.keys { decide(state.record(of: uid)) }
        store.close()
        guard let (again, same) = try? open(folder) else {
            preconditionFailure("it can't be read again")
        }
        precondition(same.records == state.records && same.enrolments == state.enrolments)
        again.close()
    }

    /// Runs the engine's decisions on a record.
    private static func decide(_ record: UserRecord) {
        var record = record
        _ = Settings().passcodeDelay(afterWrong: record.wrongPasscodes)
        _ = record.missesLeft(of: .face, until: 5)
        record.countMiss(of: .face)
        record.countMiss(of: .fingerprint)
        precondition(record.misses > 0)
    }
}
