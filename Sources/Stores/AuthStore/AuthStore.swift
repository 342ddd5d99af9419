package import AuthEngine
import Crypto
package import Linux
import SQLite

/// The daemon's state in a directory: lockouts, enrolments and the machine's key.
///
/// One process at a time has a directory. Reading happens once, when it is opened; writing on a
/// thread of its own.
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

    /// Opens a state directory, or makes one with mode 0700.
    ///
    /// It blocks: for the start only. A delay that was set in another boot begins again, in full,
    /// at `now`; when a passcode was given then is forgotten. A damaged database is set aside and a
    /// new one created, which `LoadedState.damaged` reports from then on.
    /// - Throws: `busy` (another process has it), `permission` (not ours alone), `foreign` (of a
    ///   newer version or another program), `damaged` (the machine key), `full`, `io`.
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
        // After the database, so that a key without a database shows that one was lost.
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

    /// Queues a record to be written.
    ///
    /// `done` is called once it is on the disk, or with what went wrong: on the store's thread, in
    /// the order of the calls. After `close`, or when 65,536 wait, it is called at once.
    package func save(
        _ record: UserRecord,
        uid: UInt32,
        done: @escaping @Sendable (SystemError?) -> Void
    ) {
        writer.add(Writer.Job(write: .record(record, uid: uid), done: done))
    }

    /// Queues an enrolment to be written; `done` as for a record, and in one order with those.
    package func save(
        _ enrolment: Enrolment,
        uid: UInt32,
        done: @escaping @Sendable (SystemError?) -> Void
    ) {
        writer.add(Writer.Job(write: .enrolment(enrolment, uid: uid), done: done))
    }

    /// What apps compare to see whether the enrolment changed: 32 bytes; nil without templates.
    ///
    /// An HMAC-SHA-256 under the machine's key (L12). The database's identity goes in as well, so
    /// that generations which begin anew after damage never give an old state again.
    package func domainState(of enrolment: Enrolment, uid: UInt32) -> [UInt8]? {
        let sensors = enrolment.templates.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
        guard !sensors.isEmpty else { return nil }
        // Names this use of the key.
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

    /// Waits until what is queued is written, and frees the directory.
    ///
    /// Called by a `done`, it doesn't wait.
    package func close() {
        writer.close()
    }
}

extension AuthStore {
    /// Opens the database, or makes it, and finds out whether it is sound.
    static func openDatabase(
        in folder: DatabaseFolder,
        lock: DirectoryLock
    ) throws(SystemError) -> Database {
        try Schema.format.open(in: folder, lock: lock) { database, lost throws(SystemError) in
            try Schema.fill(database, damaged: lost)
        } check: { database throws(SystemError) in
            // Nobody had half a failure in format 1.
            try Schema.format.upgrade(database) {}
            // Every row once.
            _ = try Schema.state(in: database)
            _ = try Schema.identity(of: database)
            _ = try Schema.boots(in: database)
        }
    }

    /// After a boot the whole current delay starts again (L10), and no passcode or unlock of
    /// another boot counts (L11).
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
                    // A delay in this boot that exceeds the longest possible was not set on this
                    // clock.
                    record.delayedUntil = isOurs ? restarted.map { min(until, $0) } : restarted
                }
                // Nor was a time in the future.
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
