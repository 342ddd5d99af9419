import AuthEngine
import AuthStore
import CSQLite
import Contract
import Glibc
import TestSupport
import Testing

/// L17: This version reads the state of earlier versions.
@Suite(.serialized)
struct UpgradeTests {
    /// The literal schema and rows of format 1.
    private static let firstFormat = """
        CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE users (uid INTEGER PRIMARY KEY, failures INTEGER NOT NULL, passcode_cause TEXT,
            wrong_passcodes INTEGER NOT NULL, delayed_until INTEGER, last_passcode INTEGER,
            last_biometric_unlock INTEGER, boot_id TEXT) STRICT;
        CREATE TABLE enrolments (uid INTEGER PRIMARY KEY, generation INTEGER NOT NULL,
            biometric_generation INTEGER NOT NULL) STRICT;
        CREATE TABLE templates (uid INTEGER NOT NULL, sensor TEXT NOT NULL, template TEXT NOT NULL,
            PRIMARY KEY (uid, sensor, template)) STRICT, WITHOUT ROWID;
        INSERT INTO meta VALUES ('damaged', 0), ('identity', x'000102030405060708090A0B0C0D0E0F');
        INSERT INTO users VALUES (1, 4, NULL, 0, NULL, 5, NULL, 'boot');
        INSERT INTO users VALUES (2, 0, 'remote', 7, NULL, NULL, NULL, 'boot');
        INSERT INTO users VALUES (3, 0, 'remote lock', 0, NULL, NULL, NULL, 'boot');
        INSERT INTO enrolments VALUES (1, 3, 3);
        INSERT INTO templates VALUES (1, 'Face', 'a');
        PRAGMA application_id = 1279358324;
        PRAGMA user_version = 1;
        """

    private func firstFolder() throws -> StateFolder {
        let folder = try StateFolder()
        try folder.write([], to: "state.sqlite")
        // SAFETY: SQLite writes the pointer, and the `defer` below closes it.
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        try #require(sqlite3_open(folder.file("state.sqlite"), &handle) == SQLITE_OK)
        try #require(sqlite3_exec(handle, Self.firstFormat, nil, nil, nil) == SQLITE_OK)
        return folder
    }

    /// Expects all records.
    ///
    /// With `isOfOneBoot` no other boot has opened the state and dropped times.
    private func expectAll(_ state: LoadedState, isOfOneBoot: Bool = true) {
        var (first, second, third) = (UserRecord(), UserRecord(), UserRecord())
        first.misses = 4
        first.lastPasscode = Instant(nanoseconds: 5)
        if !isOfOneBoot, state.records[1]?.lastPasscode == nil { first.lastPasscode = nil }
        second.passcodeCause = PasscodeCause(.remote)
        second.wrongPasscodes = 7
        third.passcodeCause = PasscodeCause(.program)
        var enrolment = Enrolment()
        enrolment.generation = 3
        enrolment.biometricGeneration = 3
        enrolment.templates = ["Face": ["a"]]
        var all = LoadedState()
        all.records = [1: first, 2: second, 3: third]
        all.enrolments = [1: enrolment]
        #expect(state == all)
    }

    @Test("L17: State of format 1 is upgraded once and keeps all data")
    func upgraded() async throws {
        let folder = try firstFolder()
        let now = Instant(nanoseconds: 10)
        // The second start finds format 2.
        for _ in 0..<2 { try expectAll(folder.state(now: now)) }
        let (store, state) = try folder.open(now: now)
        var record = state.record(of: 1)
        record.hasHalfMiss = true
        #expect(await store.save(record, uid: 1) == nil)
        store.close()
        #expect(try folder.state(now: now).records[1] == record)
        let (again, _) = try folder.open(now: now)
        record.hasHalfMiss = false
        #expect(await again.save(record, uid: 1) == nil)
        again.close()
        #expect(try folder.state(now: now).records[1] == record)
    }

    @Test("L17: A kill during the upgrade from format 1 loses no data")
    func killed() throws {
        let faults = try Faults()
        var number = 0
        repeat {
            number += 1
            let folder = try firstFolder()
            // Kills the process at each call that changes a file, in turn.
            faults.arm(.disk, number, with: nil)
            let probe = try ChildProcess(
                ["StoreCrashProbe", "hold", folder.path],
                environment: faults.environment,
                hasStream: true
            )
            let line = try probe.line()
            #expect(line == (faults.failed > 0 ? nil : "open"))
            probe.signal(SIGKILL)
            try probe.wait()
            faults.disarm()
            try expectAll(folder.state(now: Instant(nanoseconds: 10)), isOfOneBoot: false)
        } while faults.failed > 0
        #expect(number > 3)
    }

    @Test("A half miss without a user record is damage")
    func nobody() throws {
        let folder = try firstFolder()
        _ = try folder.state()
        var handle: OpaquePointer?
        try #require(sqlite3_open(folder.file("state.sqlite"), &handle) == SQLITE_OK)
        let row = "INSERT INTO half_failures VALUES (4)"
        try #require(sqlite3_exec(handle, row, nil, nil, nil) == SQLITE_OK)
        sqlite3_close(handle)
        #expect(try folder.state().setAside == folder.file("state.sqlite.damaged-1"))
    }
}
