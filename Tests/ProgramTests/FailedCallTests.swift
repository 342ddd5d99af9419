import AuthEngine
import DBus
import Glibc
import TestSupport
import Testing

/// L17: whichever call of a program to the kernel fails, nobody is let in for it, nothing that was
/// told is forgotten, and the next evaluation works.
///
/// Each round has another call fail, until a round has fewer than that. `LA_NIGHTLY` leaves out
/// fewer.
@Suite("Calls to the kernel that fail", .timeLimit(.minutes(30)))
struct FailedCallTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    private static let isNightly = getenv("LA_NIGHTLY") != nil

    /// How a call fails.
    enum Failure: CaseIterable {
        /// It alone.
        case once
        /// It and all after it, until the round is over.
        case lasting
        /// The program is killed instead.
        case death
    }

    @Test(
        "L17: whichever write of the daemon fails, nothing is forgotten",
        arguments: Failure.allCases
    )
    @BusActor
    func disk(_ failure: Failure) async throws {
        let isBarrier = failure == .once && !Self.isNightly
        let error = failure == .once ? EIO : ENOSPC
        try await sweep("daemon", isBarrier ? .barrier : .disk, failure, error, isBarrier ? 1 : 9)
    }

    /// The daemon opens nothing while it serves these rounds.
    @Test(
        "L17, L21: whichever descriptor the verifier can't have, nothing is forgotten",
        arguments: [Failure.once, .lasting]
    )
    @BusActor
    func descriptors(_ failure: Failure) async throws {
        try await sweep("verifier", .descriptor, failure, EMFILE, 5)
    }

    @Test(
        "L17: a program that can't have a descriptor at its start ends with a line, or works",
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
                // So that there is a count that could get lower.
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
        "L17: a service that can't read its command line goes by no other",
        arguments: ["localauthd", "localauth-passcode", "localauth-sensor-simulated"]
    )
    func commandLine(_ program: String) throws {
        let faults = try Faults()
        // A library may open something before.
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
        "L17: a program without memory ends or goes on, and nothing is forgotten",
        .enabled(if: !isSanitized, "a sanitizer has memory of its own, and asks malloc for none"),
        arguments: [("daemon", 2001), ("verifier", 151), ("One", 251)]
    )
    @BusActor
    func memory(_ program: String, step: Int) async throws {
        let step = Self.isNightly ? step / 20 + 1 : step
        try await sweep(program, .memory, .once, ENOMEM, step, least: 3)
    }

    /// Rounds in which the first call fails, then a later one, and so on.
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
                // What it told is on a disk that still refuses what it is told now.
                if failure == .lasting, kind == .disk, rounds % 4 >= 2,
                    bench.programs[program]?.isRunning == true
                {
                    try await bench.kill(program, mayBeDying: true)
                }
                faults.disarm()
                failed += faults.failed
                // The program may be dying only now, of what came behind its last answer.
                if failure == .death, faults.failed > 0 { _ = try await bench.ended(program) }
                // Now, or in a moment: it is started again.
                if kind == .memory, program != "daemon", faults.failed > 0,
                    bench.programs[program]?.isRunning == true
                {
                    try await bench.kill(program, mayBeDying: true)
                }
                // What is out of memory ends itself.
                let mayBeDying = kind == .memory && program == "daemon"
                let restarts = failure == .once
                try await recover(bench, program, round, what, restarts, mayBeDying)
                number += Self.isNightly && kind != .memory ? 1 : step
            } while faults.failed > 0
            #expect(failed >= least, "\(program), \(kind): too few calls failed")
            print("\(program), \(kind), \(failure): \(faults.count) calls in the last round")
        }
    }

    /// What a round was told.
    struct Told {
        var failures = 0
        var wrongPasscodes = 0
    }

    /// Failed attempts, and one match, which writes anew what failed before: every second round
    /// goes without.
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
        // The last change of the round: nothing is written over what is left of it.
        if await bench.evaluate(touching: [true]) == nil { told.failures = 0 }
        return told
    }

    /// What was told is on the disk, also after a kill; then the passcode and a finger let the user
    /// in.
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
        // A service that goes on works, and counts from where it was.
        if bench.programs["daemon"]?.isRunning == true, !mayBeDying {
            if let left = try await bench.attemptsLeftAfterOneMore() {
                #expect(Int(left) <= CrashBench.lockout - told.failures - 1, what)
                told.failures += 1
            }
            let record = try bench.recordOfRunningDaemon()
            #expect(record.failures >= told.failures, what)
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
            #expect(record.failures >= told.failures, what)
            #expect(record.wrongPasscodes >= told.wrongPasscodes, what)
            bench.forgetPrompts()
            try await bench.start("daemon")
            try await bench.register()
            try await bench.sensorsAreThere()
        }
        try await bench.letIn(what)
    }
}
