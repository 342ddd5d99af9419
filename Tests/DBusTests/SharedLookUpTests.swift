import TestSupport
import Testing

@testable import DBus

@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct SharedLookUpTests {
    /// The source of answers: each query waits until it is answered.
    @BusActor
    private final class Oracle {
        private(set) var questions: [CheckedContinuation<Int, Never>] = []

        func ask() async -> Int { await withCheckedContinuation { questions.append($0) } }

        func answer(_ number: Int) { questions[number].resume(returning: number) }

        func wasAsked(_ times: Int) async throws {
            try await eventually("\(times) questions") { self.questions.count == times }
        }
    }

    @Test("L21: concurrent callers share a query")
    @BusActor
    func shared() async throws {
        let (oracle, lookUps) = (Oracle(), SharedLookUps<String, Int>())
        let answers = EventRecorder<Int>()
        for _ in 0..<50 {
            onLoop { answers.record(await lookUps.share("key") { await oracle.ask() }) }
        }
        try await oracle.wasAsked(1)
        oracle.answer(0)
        try await eventually("50 answers") { answers.seen.count == 50 }
        #expect(answers.seen.allSatisfy { $0 == 0 } && oracle.questions.count == 1)
    }

    @Test("L11b: a caller after the start of a query gets the answer to a later query")
    @BusActor
    func anew() async throws {
        let (oracle, lookUps) = (Oracle(), SharedLookUps<String, Int>())
        let answers = EventRecorder<Int>()
        onLoop { answers.record(await lookUps.share("key") { await oracle.ask() }) }
        try await oracle.wasAsked(1)
        for _ in 0..<50 {
            onLoop { answers.record(await lookUps.share("key") { await oracle.ask() }) }
        }
        // Another key does not wait.
        onLoop { answers.record(await lookUps.share("other") { await oracle.ask() }) }
        try await oracle.wasAsked(2)
        oracle.answer(0)
        try await oracle.wasAsked(3)
        oracle.answer(1)
        oracle.answer(2)
        try await eventually("52 answers") { answers.seen.count == 52 }
        #expect(answers.seen.filter { $0 == 0 }.count == 1)
        #expect(answers.seen.filter { $0 == 2 }.count == 50 && oracle.questions.count == 3)
    }
}
