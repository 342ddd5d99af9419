import AuthEngine
import AuthStore
import Glibc
import Linux
import TestSupport
import Testing

/// L17: State survives kill -9 at any time, full disks and second processes.
///
/// Serialized, because a child inherits the open descriptors of other tests between fork and exec.
@Suite(.serialized)
struct CrashTests {
    @Test("L17: Acknowledged writes survive a kill at any time")
    func killed() throws {
        var random = SeededGenerator()
        for round in 0..<25 {
            let folder = try StateFolder()
            let probe = try Self.probe("write", folder.path)
            // The kill comes a random time after a random acknowledgement, or while the store
            // opens.
            var last = 0
            if round > 4 {
                #expect(try probe.line() == "open")
                for _ in 0..<Int.random(in: 1...300, using: &random) {
                    last = try #require(try probe.line().flatMap { Int($0) })
                }
            }
            let end = ContinuousClock.now + .microseconds(Int.random(in: 0...3000, using: &random))
            while ContinuousClock.now < end {}
            probe.signal(SIGKILL)
            try probe.wait()
            for line in try probe.lines() where line != "open" {
                #expect(Int(line) == last + 1)
                last += 1
            }
            try expectPrefix(of: folder, atLeast: last)
        }
    }

    /// Expects every write up to some number, and none after it.
    private func expectPrefix(of folder: StateFolder, atLeast acknowledged: Int) throws {
        let state = try folder.state()
        let failures = state.records.mapValues(\.misses)
        let generations = state.enrolments.mapValues { Int($0.generation) }
        let last = max(failures.values.max() ?? 0, generations.values.max() ?? 0)
        #expect(last >= acknowledged)
        #expect(state.setAside == nil)
        var expected: (failures: [UInt32: Int], generations: [UInt32: Int]) = ([:], [:])
        for number in 0..<last {
            let number = number + 1
            if number % 3 == 0 {
                expected.generations[UInt32(number % 7)] = number
            } else {
                expected.failures[UInt32(number % 7)] = number
            }
        }
        #expect(failures == expected.failures)
        #expect(generations == expected.generations)
        for (_, enrolment) in state.enrolments {
            #expect(enrolment.templates == ["Simulated": ["\(enrolment.generation)"]])
        }
    }

    @Test("A second process is refused while one runs, and admitted after a kill")
    func secondProcess() throws {
        let folder = try StateFolder()
        let first = try Self.probe("hold", folder.path)
        #expect(try first.line() == "open")
        #expect(folder.refusal()?.code == .busy)
        let second = try Self.probe("hold", folder.path)
        #expect(
            try second.lines() == [
                "busy \(folder.path): Another process uses this state directory."
            ]
        )
        #expect(try second.wait() == 1)
        first.signal(SIGKILL)
        try first.wait()
        #expect(try folder.state() == LoadedState())
    }

    @Test("L17: A full disk is reported, damages no data, and recovers with free space")
    func full() throws {
        let folder = try StateFolder()
        let probe = try Self.probe("fill", folder.path)
        let lines = try probe.lines()
        #expect(try probe.wait() == 0)
        try #require(lines.count > 3)
        #expect(lines[0] == "open")
        #expect(["failed io", "failed full"].contains(lines[lines.count - 2]))
        #expect(lines[lines.count - 1] == "0")
        let written = lines.dropFirst().dropLast(2).compactMap { UInt32($0) }
        #expect(written == Array(1...UInt32(lines.count - 3)))
        #expect(try Set(folder.state().enrolments.keys) == Set(written + [0]))
    }

    @Test("A store's files are readable and writable regardless of the umask")
    func umask() throws {
        let folder = try StateFolder()
        let program = ChildProcess.folder + "/StoreCrashProbe"
        let script = "umask 0277; exec \"$@\""
        let probe = try ChildProcess(
            ["/bin/sh", "-c", script, "sh", program, "hold", folder.path],
            hasStream: true
        )
        #expect(try probe.line() == "open")
        for name in ["machine.key", "state.sqlite"] {
            #expect(folder.mode(of: folder.file(name)) == 0o600, "\(name)")
        }
        probe.signal(SIGKILL)
        try probe.wait()
    }

    @Test("A directory that can't be created or written is refused with a clear message")
    func unwritable() throws {
        let folder = try StateFolder()
        try folder.setMode(0o555, of: "")
        let probe = try Self.probe("unprivileged", folder.path + "/state")
        #expect(
            try probe.lines() == [
                "permission \(folder.path)/state: The state directory can't be made: "
                    + "Permission denied."
            ]
        )
        #expect(try probe.wait() == 1)
        try folder.setMode(0o700, of: "")
    }

    /// Starts a `StoreCrashProbe`.
    private static func probe(_ mode: String, _ directory: String) throws -> ChildProcess {
        try ChildProcess(["StoreCrashProbe", mode, directory], hasStream: true)
    }
}
