package import AuthEngine
import Crypto
package import Linux
import SQLite

/// The daemon's state in a directory: lockouts, enrolments and the machine key.
///
/// Only one process at a time can open a directory. The store reads everything when it opens, and
/// writes on a thread of its own.
package final class AuthStore: Sendable {
    private let writer: Writer
    private let key: SymmetricKey
    private let identity: [UInt8]

    private init(writer: Writer, key: SymmetricKey, identity: [UInt8]) {
        self.writer = writer
        self.key = key
        self.identity = identity
    }

    deinit {
        writer.close()
    }

    /// Opens a state directory, or creates it with mode 0700.
    ///
    /// Blocks, so call it only at startup. A delay from an earlier boot starts again in full at
    /// `now`; password times from an earlier boot are dropped. A damaged database is set aside and
    /// replaced, and `LoadedState.damaged` stays true from then on.
    /// - Throws: `busy` (another process has it open), `permission` (other users have access),
    ///   `foreign` (written by a newer version or another program), `damaged` (the machine key),
    ///   `full`, `io`.
    package static func open(
        directory path: String,
        now: Instant,
        bootID: String,
        settings: Settings
    ) throws(SystemError) -> (store: AuthStore, state: LoadedState) {
        let directory = try PrivateDirectory(path)
        let lock = try directory.lock()
        let folder = DatabaseFolder(
            directory,
            database: "state.sqlite",
            key: MachineKey.file
        )
        let (database, setAside) = try folder.openOrReplace { () throws(SystemError) in
            try openDatabase(in: folder, lock: lock)
        }
        // Load the key after the database: a key without a database shows that a database was lost.
        let key = try MachineKey.load(in: directory)
        let identity = try Schema.identity(of: database)
        var state = try Schema.state(in: database)
        state.setAside = setAside
        try restartClocks(&state, in: database, now: now, bootID: bootID, settings: settings)
        let writer = try Writer(path: path) { writes in
            do throws(SystemError) {
                try database.transaction { () throws(SystemError) in
                    for write in writes {
                        try Schema.write(write, bootID: bootID, to: database)
                    }
                }
                return nil
            } catch {
                return error
            }
        }
        return (AuthStore(writer: writer, key: key, identity: identity), state)
    }

    /// Queues the write of a record.
    ///
    /// Calls `done` on the store's thread, in the order of the calls, after the write reached the
    /// disk or failed. After `close`, or while 65,536 writes wait, it calls `done` at once with an
    /// error.
    package func save(
        _ record: UserRecord,
        uid: UInt32,
        done: @escaping @Sendable (SystemError?) -> Void
    ) {
        writer.add(Writer.Job(write: .record(record, uid: uid), done: done))
    }

    /// Queues the write of an enrolment, in the same order as records.
    package func save(
        _ enrolment: Enrolment,
        uid: UInt32,
        done: @escaping @Sendable (SystemError?) -> Void
    ) {
        writer.add(Writer.Job(write: .enrolment(enrolment, uid: uid), done: done))
    }

    /// The 32 bytes by which apps detect a changed enrolment; nil without templates.
    ///
    /// Computed with HMAC-SHA-256 under the machine key (L12). The database's identity is included:
    /// after damage, generations restart, and an old state must not appear again.
    package func domainState(of enrolment: Enrolment, uid: UInt32) -> [UInt8]? {
        let sensors = enrolment.templates.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
        guard !sensors.isEmpty else { return nil }
        // Domain separation for this use of the key.
        var message = Array("org.localauth.DomainState.1".utf8) + identity
        func add(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number.bigEndian) { message += $0 }
        }
        func add(_ text: String) {
            add(UInt64(text.utf8.count))
            message += text.utf8
        }
        add(uid)
        add(enrolment.generation)
        for (sensor, ids) in sensors {
            add(sensor)
            add(UInt64(ids.count))
            for id in ids {
                add(id)
            }
        }
        return Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
    }

    /// Writes all queued records and releases the directory.
    ///
    /// Does not wait if `done` calls it.
    package func close() {
        writer.close()
    }
}

extension AuthStore {
    static func openDatabase(
        in folder: DatabaseFolder,
        lock: DirectoryLock
    ) throws(SystemError) -> Database {
        try Schema.format.open(in: folder, lock: lock) { database, lost throws(SystemError) in
            try Schema.fill(database, damaged: lost)
        } check: { database throws(SystemError) in
            // Format 1 stored no half misses, so the new table stays empty.
            try Schema.format.upgrade(database) { _ in }
            // Reading every row finds damage.
            _ = try Schema.state(in: database)
            _ = try Schema.identity(of: database)
            _ = try Schema.boots(in: database)
        }
    }

    /// Restarts delays from an earlier boot in full (L10), and drops password and unlock times from
    /// it (L11).
    private static func restartClocks(
        _ state: inout LoadedState,
        in database: Database,
        now: Instant,
        bootID: String,
        settings: Settings
    ) throws(SystemError) {
        let boots = try Schema.boots(in: database)
        try database.transaction { () throws(SystemError) in
            for (uid, boot) in boots {
                guard let before = state.records[uid] else { continue }
                var record = before
                let isOurs = boot == bootID && !bootID.isEmpty
                if let until = record.delayedUntil {
                    let restarted = settings.passcodeDelay(afterWrong: record.wrongPasscodes)
                        .map { now + $0 }
                    // A longer remaining delay than the longest possible was not set on this clock.
                    record.delayedUntil = isOurs ? restarted.map { min(until, $0) } : restarted
                }
                // A time in the future was not set on this clock either.
                func past(_ time: Instant?) -> Instant? {
                    time.flatMap { isOurs && $0 <= now ? $0 : nil }
                }
                record.lastPasscode = past(record.lastPasscode)
                record.lastBiometricUnlock = past(record.lastBiometricUnlock)
                guard record != before else { continue }
                state.records[uid] = record
                try Schema.write(.record(record, uid: uid), bootID: bootID, to: database)
            }
        }
    }
}

extension SystemError.Code {
    package static let closed = Self(rawValue: "closed")
}
