import AuthEngine
import Contract
import Foundation
import Linux
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import AuthStore

struct AuthStoreTests {
    private func record(
        failures: Int,
        cause: PasscodeCause? = nil,
        wrong: Int = 0
    ) -> UserRecord {
        var record = UserRecord()
        record.misses = failures
        record.passcodeCause = cause
        record.wrongPasscodes = wrong
        return record
    }

    @Test("A new directory is private, empty and undamaged")
    func fresh() throws {
        let folder = try StateFolder()
        let directory = folder.path + "/deep/er"
        let (store, state) = try AuthStore.open(
            directory: directory,
            now: Instant(nanoseconds: 0),
            bootID: "boot",
            settings: Settings()
        )
        #expect(state == LoadedState())
        #expect(folder.mode(of: directory) == 0o700)
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            #expect(folder.mode(of: directory + "/" + name) == 0o600, "\(name)")
        }
        store.close()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
                == ["lock", "machine.key", "state.sqlite"]
        )
    }

    @Test("Records and enrolments survive a restart")
    func roundTrip() async throws {
        let folder = try StateFolder()
        let (store, _) = try folder.open()
        var delayed = record(failures: 3, cause: .remote("lost"), wrong: 7)
        delayed.delayedUntil = Instant(nanoseconds: 123_456_789_012)
        var known = UserRecord()
        known.hasHalfMiss = true
        known.lastPasscode = Instant(nanoseconds: 0)
        known.lastBiometricUnlock = Instant(nanoseconds: -5)
        var enrolment = Enrolment()
        enrolment.expectChange(sensor: "Fingerprint", ids: ["b", "a", "nul\0nul", "\u{E9}"])
        enrolment.biometricGeneration = 1
        enrolment.expectChange(sensor: "Face", ids: [""])
        // A half miss must survive later writes of users without a half miss, so save it first.
        #expect(await store.save(known, uid: 7) == nil)
        #expect(await store.save(record(failures: 1), uid: 1000) == nil)
        #expect(await store.save(delayed, uid: UInt32.max - 1) == nil)
        #expect(await store.save(UserRecord(), uid: 0) == nil)
        #expect(await store.save(enrolment, uid: 1000) == nil)
        store.close()
        var expected = LoadedState()
        expected.records = [
            0: UserRecord(), 7: known, 1000: record(failures: 1), UInt32.max - 1: delayed,
        ]
        expected.enrolments = [1000: enrolment]
        #expect(try folder.state() == expected)
    }

    @Test("The last write counts, even if templates were removed")
    func overwrite() async throws {
        let folder = try StateFolder()
        let (store, _) = try folder.open()
        var enrolment = Enrolment()
        enrolment.expectChange(sensor: "A", ids: ["1", "2"])
        #expect(await store.save(enrolment, uid: 1) == nil)
        enrolment.expectChange(sensor: "A", ids: ["2"])
        #expect(await store.save(enrolment, uid: 1) == nil)
        #expect(await store.save(record(failures: 5, cause: PasscodeCause(.remote)), uid: 1) == nil)
        #expect(await store.save(record(failures: 0), uid: 1) == nil)
        var half = record(failures: 1)
        half.hasHalfMiss = true
        for _ in 1...2 { #expect(await store.save(half, uid: 2) == nil) }
        store.close()
        let state = try folder.state()
        #expect(state.enrolments == [1: enrolment])
        #expect(state.records == [1: record(failures: 0), 2: half])
    }

    @Test("Completions run in the order of the calls, and close waits for all of them")
    func order() throws {
        let folder = try StateFolder()
        let (store, _) = try folder.open()
        let order = Mutex<[Int]>([])
        for number in 0..<1000 {
            let done: @Sendable (SystemError?) -> Void = { error in
                #expect(error == nil)
                order.withLock { $0.append(number) }
            }
            if number.isMultiple(of: 2) {
                store.save(record(failures: number), uid: 1, done: done)
            } else {
                store.save(Enrolment(), uid: 1, done: done)
            }
        }
        store.close()
        #expect(order.withLock { $0 } == Array(0..<1000))
        #expect(try folder.state().records[1]?.misses == 998)
    }

    @Test("A released store writes its queue and releases the directory")
    func release() throws {
        let folder = try StateFolder()
        let answered = Mutex(false)
        do {
            let (store, _) = try folder.open()
            store.save(record(failures: 4), uid: 1) { _ in answered.withLock { $0 = true } }
        }
        #expect(answered.withLock { $0 })
        #expect(try folder.state().records[1]?.misses == 4)
    }

    @Test("A store can be closed twice and from a completion, and then refuses writes")
    func close() async throws {
        let folder = try StateFolder()
        let (store, _) = try folder.open()
        await withCheckedContinuation { (closed: CheckedContinuation<Void, Never>) in
            store.save(UserRecord(), uid: 1) { _ in
                store.close()
                closed.resume()
            }
        }
        store.close()
        #expect(await store.save(UserRecord(), uid: 1)?.code == .closed)
    }

    @Test("A second store of a directory is refused until the first is closed")
    func secondStore() throws {
        let folder = try StateFolder()
        let (store, _) = try folder.open()
        let error = folder.refusal()
        #expect(error?.code == .busy)
        #expect(error?.message == "Another process uses this state directory.")
        store.close()
        #expect(try folder.state() == LoadedState())
    }
}

/// L10: Delays across restarts and boots.
struct DelayTests {
    private let minute: Int64 = 60_000_000_000

    private func folder(wrong: Int, until: Int64) async throws -> StateFolder {
        let folder = try StateFolder()
        let (store, _) = try folder.open(bootID: "first")
        var record = UserRecord()
        record.wrongPasscodes = wrong
        record.delayedUntil = Instant(nanoseconds: until)
        #expect(await store.save(record, uid: 1) == nil)
        store.close()
        return folder
    }

    @Test("L10: A restart in the same boot keeps the end of a delay")
    func sameBoot() async throws {
        let folder = try await folder(wrong: 9, until: 10 * minute)
        for now in [0, 9 * minute, 100 * minute] {
            let state = try folder.state(now: Instant(nanoseconds: now), bootID: "first")
            #expect(state.records[1]?.delayedUntil == Instant(nanoseconds: 10 * minute))
        }
    }

    @Test(
        "L10: After a boot the whole current delay starts again",
        arguments: [(6, 1), (7, 5), (8, 15), (9, 60), (10, 60), (100, 60)] as [(Int, Int64)]
    )
    func otherBoot(wrong: Int, minutes: Int64) async throws {
        let folder = try await folder(wrong: wrong, until: 1)
        let now = Instant(nanoseconds: 7)
        let state = try folder.state(now: now, bootID: "second")
        #expect(state.records[1]?.delayedUntil == Instant(nanoseconds: 7 + minutes * minute))
        #expect(state.records[1]?.wrongPasscodes == wrong)
    }

    @Test("L10: A delay that restarted after a boot does not restart again")
    func onlyOnce() async throws {
        let folder = try await folder(wrong: 6, until: 1)
        _ = try folder.state(now: Instant(nanoseconds: 0), bootID: "second")
        let state = try folder.state(now: Instant(nanoseconds: minute / 2), bootID: "second")
        #expect(state.records[1]?.delayedUntil == Instant(nanoseconds: minute))
    }

    @Test("L10: Without a boot id every start counts as a boot")
    func unknownBoot() async throws {
        let folder = try await folder(wrong: 6, until: 1)
        for now in [5, 10] as [Int64] {
            let state = try folder.state(now: Instant(nanoseconds: now), bootID: "")
            #expect(state.records[1]?.delayedUntil == Instant(nanoseconds: now + minute))
        }
    }

    @Test("L10: A delay longer than the rule allows is cut to its length")
    func otherClock() async throws {
        let folder = try await folder(wrong: 6, until: Int64.max)
        let state = try folder.state(now: Instant(nanoseconds: 0), bootID: "first")
        #expect(state.records[1]?.delayedUntil == Instant(nanoseconds: minute))
    }

    @Test("L11: Password and unlock times survive a restart, but not a boot")
    func ages() async throws {
        let folder = try StateFolder()
        let (store, _) = try folder.open(bootID: "first")
        var record = UserRecord()
        record.lastPasscode = Instant(nanoseconds: minute)
        record.lastBiometricUnlock = Instant(nanoseconds: 2 * minute)
        #expect(await store.save(record, uid: 1) == nil)
        store.close()
        let now = Instant(nanoseconds: 3 * minute)
        #expect(try folder.state(now: now, bootID: "first").records == [1: record])
        // A time in the future was written on another clock.
        let earlier = try folder.state(now: Instant(nanoseconds: minute), bootID: "first")
        #expect(earlier.records[1]?.lastPasscode == Instant(nanoseconds: minute))
        #expect(earlier.records[1]?.lastBiometricUnlock == nil)
        #expect(try folder.state(now: now, bootID: "second").records == [1: UserRecord()])
        // Times dropped in another boot must not return.
        #expect(try folder.state(now: now, bootID: "first").records == [1: UserRecord()])
        #expect(try folder.state(now: now, bootID: "").records == [1: UserRecord()])
    }

    @Test("L10: A boot adds no delay to a record without a delay")
    func noDelay() async throws {
        let folder = try StateFolder()
        let (store, _) = try folder.open(bootID: "first")
        var record = UserRecord()
        record.wrongPasscodes = 8
        #expect(await store.save(record, uid: 1) == nil)
        store.close()
        #expect(try folder.state(bootID: "second").records == [1: record])
    }
}

struct DurabilityTests {
    @Test("L17: The store's database uses a write-ahead log and waits for the disk")
    func durability() throws {
        let folder = try StateFolder()
        let directory = try PrivateDirectory(folder.path)
        let database = try AuthStore.openDatabase(
            in: DatabaseFolder(directory, database: "state.sqlite", key: "machine.key"),
            lock: directory.lock()
        )
        var mode: String?
        try database.run("PRAGMA journal_mode") { row throws(SystemError) in
            mode = try row.text(0)
        }
        #expect(mode == "wal")
        // FULL
        #expect(try database.integer("PRAGMA synchronous") == 2)
    }
}
