import AuthEngine
import DBus
import Glibc
import TestSupport
import Testing

/// L17: After any failed system call of a program, no user is let in wrongly, no reported miss is
/// forgotten, and the next evaluation works.
///
/// Each round makes a later call fail, until a round makes fewer calls. `LA_NIGHTLY` skips fewer
/// calls.
@Suite("Failing system calls", .timeLimit(.minutes(30)))
struct FailedCallTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    private static let isNightly = getenv("LA_NIGHTLY") != nil

    enum Failure: CaseIterable {
        /// A single call fails.
        case once
        /// The call and all later calls fail, until the round ends.
        case lasting
        /// The program is killed instead.
        case death
    }

    @Test(
        "L17: A failed write of the daemon loses no count",
        arguments: Failure.allCases
    )
    @BusActor
    func disk(_ failure: Failure) async throws {
        let isBarrier = failure == .once && !Self.isNightly
        let error = failure == .once ? EIO : ENOSPC
        try await sweep("daemon", isBarrier ? .barrier : .disk, failure, error, isBarrier ? 1 : 9)
    }

    /// Tests the verifier only, because the daemon opens nothing during these rounds.
    @Test(
        "L17, L21: A verifier without descriptors loses no count",
        arguments: [Failure.once, .lasting]
    )
    @BusActor
    func descriptors(_ failure: Failure) async throws {
        try await sweep("verifier", .descriptor, failure, EMFILE, 5)
    }

    @Test(
        "L17: A program that lacks a descriptor at start exits with a message, or works",
        arguments: ["daemon", "verifier", "One"],
        getenv("LA_NIGHTLY") == nil ? [Faults.Kind.watch] : [.watch, .descriptor]
    )
    @BusActor
    func start(_ program: String, _ kind: Faults.Kind) async throws {
        let faults = try Faults()
        try await CrashBench.run([program: faults]) { bench in
            try await bench.letIn()
            var (number, failed) = (1, 0)
            repeat {
                let what: Comment = "\(program), call \(number) of \(kind) at the start"
                // Makes a count that could decrease.
                #expect(await bench.evaluate(touching: [false]) != nil, what)
                try await bench.kill(program)
                if program == "daemon" { bench.forgetPrompts() }
                faults.arm(kind, number, with: EMFILE)
                let isThere = try await bench.startOrEnd(program)
                faults.disarm()
                if !isThere {
                    let ended = try #require(bench.programs[program])
                    #expect(try await ended.exitStatus() == EXIT_FAILURE, what)
                    let line = ended.errors.split(separator: "\n").last ?? ""
                    #expect(line.contains("Too many open files"), "\(what) \(ended.errors)")
                    try await bench.start(program)
                }
                if program == "daemon" { try await bench.register() }
                try await bench.sensorsAreThere()
                let left = try await bench.attemptsLeftAfterOneMore()
                #expect(left.map { Int($0) <= CrashBench.lockout - 2 } == true, what)
                try await bench.letIn(what)
                failed += faults.failed
                number += 1
            } while faults.failed > 0
            #expect(failed > 0, "\(program), \(kind): no call failed")
            print("\(program), \(kind), at the start: \(faults.count) calls in the last round")
        }
    }

    @Test(
        "L17: A service that can't read its command line does not start with another",
        arguments: ["localauthd", "localauth-passcode", "localauth-sensor-simulated"]
    )
    func commandLine(_ program: String) throws {
        let faults = try Faults()
        // A library may open a file first.
        for number in 1...3 {
            faults.arm(.descriptor, number, with: EMFILE)
            let words = [program, "--version"]
            let ended = try ChildProcess.run(words, environment: faults.environment)
            guard ended.errors.contains("The command line") else { continue }
            #expect(ended.status == EXIT_FAILURE)
            return
        }
        Issue.record("the command line was always read")
    }

    @Test(
        "L17: A program without memory exits or continues, and loses no count",
        .enabled(if: !isSanitized, "a sanitizer has memory of its own, and asks malloc for none"),
        arguments: [("daemon", 2001), ("verifier", 151), ("One", 251)]
    )
    @BusActor
    func memory(_ program: String, step: Int) async throws {
        let step = Self.isNightly ? step / 20 + 1 : step
        try await sweep(program, .memory, .once, ENOMEM, step, least: 3)
    }

    /// Runs rounds in which the first call fails, then a later call, and so on.
    @BusActor
    private func sweep(
        _ program: String,
        _ kind: Faults.Kind,
        _ failure: Failure,
        _ error: Int32,
        _ step: Int,
        least: Int = 1
    ) async throws {
        let faults = try Faults()
        try await CrashBench.run([program: faults]) { bench in
            try await bench.letIn()
            var (number, failed, rounds) = (1, 0, 0)
            repeat {
                rounds += 1
                let what: Comment = "\(program), call \(number) of \(kind), \(failure)"
                faults.arm(
                    kind,
                    number,
                    lasts: failure == .lasting,
                    with: failure == .death ? nil : error
                )
                let round = try await live(bench, what, endsWithMatch: !rounds.isMultiple(of: 2))
                // The disk still refuses later writes, but must hold everything reported so far.
                if failure == .lasting, kind == .disk, rounds % 4 >= 2,
                    bench.programs[program]?.isRunning == true
                {
                    try await bench.kill(program, mayBeDying: true)
                }
                faults.disarm()
                failed += faults.failed
                // The program may die only now, in a call after its last reply.
                if failure == .death, faults.failed > 0 { _ = try await bench.ended(program) }
                // The program may die now or soon; end it, so that it is started again.
                if kind == .memory, program != "daemon", faults.failed > 0,
                    bench.programs[program]?.isRunning == true
                {
                    try await bench.kill(program, mayBeDying: true)
                }
                // The daemon exits by itself when out of memory.
                let mayBeDying = kind == .memory && program == "daemon"
                let restarts = failure == .once
                try await recover(bench, program, round, what, restarts, mayBeDying)
                number += Self.isNightly && kind != .memory ? 1 : step
            } while faults.failed > 0
            #expect(failed >= least, "\(program), \(kind): too few calls failed")
            print("\(program), \(kind), \(failure): \(faults.count) calls in the last round")
        }
    }

    struct Told {
        var failures = 0
        var wrongPasscodes = 0
    }

    /// Makes failed attempts, and in every second round a match, which rewrites earlier failed
    /// writes.
    @BusActor
    private func live(
        _ bench: CrashBench,
        _ what: Comment,
        endsWithMatch: Bool
    ) async throws -> Told {
        var told = Told()
        bench.told = 0
        #expect(await bench.evaluate(touching: [false, false]) != nil, what)
        told.failures = bench.told
        bench.isRejected = false
        bench.mood = .wrongOnce
        #expect(await bench.evaluate(2, CrashBench.passcodeAlone) != nil, what)
        bench.mood = .watching
        told.wrongPasscodes = bench.isRejected ? 1 : 0
        guard endsWithMatch else { return told }
        // The match is the round's last change, so no later write repairs it.
        if await bench.evaluate(touching: [true]) == nil { told.failures = 0 }
        return told
    }

    /// Expects that reported counts are on the disk, even after a kill, and that password and
    /// finger then succeed.
    @BusActor
    private func recover(
        _ bench: CrashBench,
        _ program: String,
        _ told: Told,
        _ what: Comment,
        _ restarts: Bool,
        _ mayBeDying: Bool
    ) async throws {
        if bench.programs[program]?.isRunning != true {
            _ = try await bench.ended(program)
            if program != "daemon" {
                try await bench.start(program)
                try await bench.sensorsAreThere()
            }
        }
        var told = told
        // A daemon that continues still works and keeps its counts.
        if bench.programs["daemon"]?.isRunning == true, !mayBeDying {
            if let left = try await bench.attemptsLeftAfterOneMore() {
                #expect(Int(left) <= CrashBench.lockout - told.failures - 1, what)
                told.failures += 1
            }
            let record = try bench.recordOfRunningDaemon()
            #expect(record.misses >= told.failures, what)
            #expect(record.wrongPasscodes >= told.wrongPasscodes, what)
            if told.failures < CrashBench.lockout {
                #expect(await bench.evaluate(touching: [true]) == nil, what)
                told.failures = 0
            }
        }
        if restarts || bench.programs["daemon"]?.isRunning != true {
            if bench.programs["daemon"]?.isRunning == true {
                try await bench.kill("daemon", mayBeDying: mayBeDying)
            }
            let record = try bench.record()
            #expect(record.misses >= told.failures, what)
            #expect(record.wrongPasscodes >= told.wrongPasscodes, what)
            bench.forgetPrompts()
            try await bench.start("daemon")
            try await bench.register()
            try await bench.sensorsAreThere()
        }
        try await bench.letIn(what)
    }
}
