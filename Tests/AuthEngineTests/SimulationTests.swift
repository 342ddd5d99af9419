import Contract
import Glibc
import Testing

@testable import AuthEngine

/// Random lives of the engine.
///
/// `LA_SEED` replays one life, `LA_RUNS` sets the number of lives.
///
/// By default the seeds are fixed, so that a failure points to the last change. `make nightly` sets
/// `LA_RUNS` and uses other seeds. A seed reproduces a life only while `RandomLife` and the engine
/// are unchanged. Turn a failure into a test with the events of the report, which are Swift code.
@Suite("Random lives")
struct SimulationTests {
    private static let steps = 300

    /// Lives until the end or the first complaint.
    private func live(_ seed: UInt64, hasItems: Bool) -> RandomLife {
        var life = RandomLife(seed: seed, hasItems: hasItems)
        for _ in 0..<Self.steps {
            life.live()
            guard life.complaints.isEmpty else { break }
        }
        if life.complaints.isEmpty { life.recover() }
        guard life.complaints.isEmpty else {
            let report = "LA_SEED=\(seed) LA_RUNS=1: \(life.complaints) after\n\(life.story)"
            Issue.record("\(report)\nFor a test as in RecordingTests:\n\(life.recording.swift)")
            return life
        }
        return life
    }

    private func number(_ variable: String) -> UInt64? {
        getenv(variable).flatMap { UInt64(String(cString: $0)) }
    }

    @Test("Every random life with crashes, suspends, boots and long delays keeps every invariant")
    func live() {
        let all =
            RefusalCode.allCases.filter { $0 != .invalidDimensions }.map { "\($0)" } + ["delayed"]
            + ["biometry", "passcode", "companion", "reuse", "context"].map { "granted by \($0)" }
        run(hasItems: false, sees: all)
    }

    @Test("R35, R37: In random lives with guarded items, every grant was proved for its item")
    func items() {
        let ways =
            (1...3).map { "\($0) stages, proved in a prompt" }
            + ["0 stages, proved before", "1 stages, proved in part before"]
        let answers =
            ["biometry", "passcode", "companion", "context", "applicationPassword"]
            .map { "granted by \($0)" }
        let others = ["right password", "wrong password", "a proof is taken back"]
        run(hasItems: true, sees: ways + answers + others)
    }

    private func run(hasItems: Bool, sees all: [String]) {
        let others = number("LA_RUNS").map { _ in UInt64.random(in: 0...UInt64.max) }
        let base = number("LA_SEED") ?? others ?? 20_261_121
        let runs = number("LA_RUNS") ?? 200
        print("LA_SEED=\(base) LA_RUNS=\(runs)")
        var seen: [String: Int] = [:]
        var failed: [UInt64] = []
        for run in 0..<runs where failed.count < 3 {
            let seed = base &+ run &* 0xD134_2543_DE82_EF95
            let life = live(seed, hasItems: hasItems)
            if !life.complaints.isEmpty { failed.append(seed) }
            seen.merge(life.ledger.seen, uniquingKeysWith: +)
            seen.merge(life.witness.stages.seen, uniquingKeysWith: +)
        }
        print("answers:", seen.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })
        guard failed.isEmpty else {
            print("gone wrong: \(failed)")
            return
        }
        // A few lives need not cover every outcome.
        guard runs >= 100 else { return }
        for answer in all { #expect(seen[answer] != nil, "no \(answer) in so many lives") }
    }
}
