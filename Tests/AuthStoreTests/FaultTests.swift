import AuthEngine
import AuthStore
import Glibc
import TestSupport
import Testing

/// L17: The store reports disk errors, and acknowledges only writes that reached the disk.
///
/// Serialized, because a child inherits the open descriptors of other tests between fork and exec.
@Suite("Failing disk", .serialized, .timeLimit(.minutes(10)))
struct FaultTests {
    /// Starts a probe under the fault injection of `Tests/Faults`.
    private static func probe(
        _ mode: String,
        _ folder: StateFolder,
        _ faults: Faults
    ) throws -> ChildProcess {
        try ChildProcess(
            ["StoreCrashProbe", mode, folder.path],
            environment: faults.environment,
            hasStream: true
        )
    }

    @Test(
        "L17: A failed read, once or permanently, neither sets aside nor loses a store",
        arguments: [false, true]
    )
    func unread(isForGood: Bool) async throws {
        let (folder, faults) = (try StateFolder(), try Faults())
        let (store, _) = try folder.open()
        var record = UserRecord()
        record.misses = 4
        #expect(await store.save(record, uid: 1) == nil)
        store.close()
        var number = 0
        repeat {
            number += 1
            faults.arm(.read, number, lasts: isForGood, with: EIO)
            let probe = try Self.probe("hold", folder, faults)
            let line = try probe.line() ?? "nothing"
            probe.signal(SIGKILL)
            try probe.wait()
            faults.disarm()
            let isOpen = line == "open"
            #expect(isOpen || (line.hasPrefix("io ") && faults.failed > 0), "\(number): \(line)")
            let state = try folder.state()
            #expect(state.setAside == nil, "\(number): \(line)")
            #expect(state.records == [1: record], "\(number): \(line)")
        } while faults.failed > 0
        #expect(number > 3)
    }

    @Test("L17: New files, their directory and each write are synced before they are reported")
    func synchronised() throws {
        let (folder, faults) = (try StateFolder(), try Faults())
        let probe = try Self.probe("write", folder, faults)
        #expect(try probe.line() == "open")
        let atStart = faults.synchronised
        for name in ["machine.key", "state.sqlite"] {
            // Some files get their name only after the sync.
            #expect(atStart.contains { $0.hasPrefix(folder.file(name)) }, "\(name)")
        }
        // A sync of the directory makes the names durable. SQLite has synced its own earlier.
        let key = try #require(atStart.lastIndex { $0.hasPrefix(folder.file("machine.key")) })
        #expect(atStart[key...].contains { $0 == folder.path }, "\(atStart)")
        for _ in 0..<3 {
            let before = faults.synchronised.count { $0.hasSuffix("-wal") }
            // This exceeds the queue's length, so at least one write began after the count.
            for _ in 0..<600 { _ = try #require(try probe.line()) }
            #expect(faults.synchronised.count { $0.hasSuffix("-wal") } > before)
        }
        probe.signal(SIGKILL)
        try probe.wait()
    }

    @Test(
        "L17: A failed sync is an error, lowers no count, and can be recovered from",
        arguments: [false, true]
    )
    func failing(isKilledMeanwhile: Bool) throws {
        let (folder, faults) = (try StateFolder(), try Faults())
        let probe = try Self.probe("write", folder, faults)
        #expect(try probe.line() == "open")
        // The last acknowledged numbers by user; see `StoreCrashProbe`.
        var failures: [UInt32: Int] = [:]
        var generations: [UInt32: Int] = [:]
        func next() throws -> Bool {
            let line = try #require(try probe.line())
            guard let number = Int(line) else { return line.hasPrefix("failed") }
            if number % 3 == 0 {
                generations[UInt32(number % 7)] = number
            } else {
                failures[UInt32(number % 7)] = number
            }
            return false
        }
        for _ in 0..<30 { #expect(try next() == false) }
        let switched = faults.folder.path + "/fails"
        try TemporaryFolder.write(switched, [])
        while try !next() {}
        // No write succeeds during the fault, and earlier writes have completed.
        for _ in 0..<100 { #expect(try next()) }
        if !isKilledMeanwhile {
            #expect(unlink(switched) == 0)
            while try next() {}
        }
        probe.signal(SIGKILL)
        try probe.wait()
        let state = try folder.state()
        #expect(state.setAside == nil)
        #expect(failures.count == 7 && generations.count == 7)
        for (uid, number) in failures {
            #expect(state.records[uid]?.misses ?? 0 >= number, "user \(uid)")
        }
        for (uid, number) in generations {
            #expect(state.enrolments[uid]?.generation ?? 0 >= UInt64(number), "user \(uid)")
        }
    }
}
