import AuthEngine
import AuthStore
import CSQLite
import Linux
import TestSupport
import Testing

extension StateFolder {
    func open(
        now: Instant = Instant(nanoseconds: 0),
        bootID: String = "boot",
        settings: Settings = Settings()
    ) throws -> (store: AuthStore, state: LoadedState) {
        try AuthStore.open(directory: path, now: now, bootID: bootID, settings: settings)
    }

    /// Returns the state that a start would load.
    func state(
        now: Instant = Instant(nanoseconds: 0),
        bootID: String = "boot"
    ) throws -> LoadedState {
        let (store, state) = try open(now: now, bootID: bootID)
        store.close()
        return state
    }

    /// Runs SQL in the closed database, bypassing the store.
    func tamper(_ sql: String) throws {
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        try #require(sqlite3_open(file("state.sqlite"), &handle) == SQLITE_OK)
        try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(sql)")
    }

    /// Returns the error of a start.
    func refusal() -> SystemError? {
        #expect(throws: SystemError.self) {
            try AuthStore.open(
                directory: path,
                now: Instant(nanoseconds: 0),
                bootID: "boot",
                settings: Settings()
            )
        }
    }
}

extension AuthStore {
    /// Saves a record and waits for the result.
    func save(_ record: UserRecord, uid: UInt32) async -> SystemError? {
        await withCheckedContinuation { answer in
            save(record, uid: uid) { answer.resume(returning: $0) }
        }
    }

    /// Saves an enrolment and waits for the result.
    func save(_ enrolment: Enrolment, uid: UInt32) async -> SystemError? {
        await withCheckedContinuation { answer in
            save(enrolment, uid: uid) { answer.resume(returning: $0) }
        }
    }
}

extension Enrolment {
    /// Updates the enrolment, and expects a change.
    mutating func expectChange(
        sensor: String,
        ids: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let changed = update(sensor: sensor, ids: ids)
        #expect(changed, sourceLocation: sourceLocation)
    }

    /// Updates the enrolment, and expects no change.
    mutating func expectNoChange(
        sensor: String,
        ids: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let changed = update(sensor: sensor, ids: ids)
        #expect(!changed, sourceLocation: sourceLocation)
    }
}
