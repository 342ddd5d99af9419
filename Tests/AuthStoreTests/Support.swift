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

    /// What a start would find now.
    func state(
        now: Instant = Instant(nanoseconds: 0),
        bootID: String = "boot"
    ) throws -> LoadedState {
        let (store, state) = try open(now: now, bootID: bootID)
        store.close()
        return state
    }

    /// Runs SQL in the closed database, as somebody behind the store's back would.
    func tamper(_ sql: String) throws {
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        try #require(sqlite3_open(file("state.sqlite"), &handle) == SQLITE_OK)
        try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(sql)")
    }

    /// Why a start would fail now.
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
    /// Saves and waits for the answer.
    func save(_ record: UserRecord, uid: UInt32) async -> SystemError? {
        await withCheckedContinuation { answer in
            save(record, uid: uid) { answer.resume(returning: $0) }
        }
    }

    /// Saves and waits for the answer.
    func save(_ enrolment: Enrolment, uid: UInt32) async -> SystemError? {
        await withCheckedContinuation { answer in
            save(enrolment, uid: uid) { answer.resume(returning: $0) }
        }
    }
}

extension Enrolment {
    /// Updates, which must be a change.
    mutating func expectChange(
        sensor: String,
        ids: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let changed = update(sensor: sensor, ids: ids)
        #expect(changed, sourceLocation: sourceLocation)
    }

    /// Updates, which must not be a change.
    mutating func expectNoChange(
        sensor: String,
        ids: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let changed = update(sensor: sensor, ids: ids)
        #expect(!changed, sourceLocation: sourceLocation)
    }
}
