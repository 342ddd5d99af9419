import AuthEngine
import AuthStore
import DBus
import TestSupport
import Testing

@testable import AuthService

@Suite("Cached answers of other processes", .timeLimit(.minutes(10)))
struct MirrorTests {
    // Some tests run on the loop, which must have started before.
    init() { EventLoop.shared.startThread() }

    /// A process that answers queries while it is open.
    @BusActor
    private final class Source {
        var answer: Int? = 1
        private(set) var questions = 0
        private var isOpen = true
        private let opening = ConditionVariable()
        private(set) lazy var mirror = Mirror<String, Int> { [unowned self] _ in await ask() }

        private func ask() async -> Int? {
            questions += 1
            while !isOpen { await opening.wait() }
            return answer
        }

        func close() { isOpen = false }

        func open() {
            isOpen = true
            opening.notifyAll()
        }
    }

    @Test("L11b: an answer is fresh until a change")
    @BusActor
    func fresh() async {
        let source = Source()
        #expect(await source.mirror.revalidate("a") == 1)
        #expect(source.mirror.cached("a") == 1)
        source.mirror.markStale("a")
        #expect(source.mirror.cached("a") == nil && source.mirror.last("a") == 1)
    }

    @Test("L11b: an answer may be older than a change that is announced before it")
    @BusActor
    func change() async throws {
        let source = Source()
        source.close()
        let question = onLoop { _ = await source.mirror.revalidate("a") }
        try await eventually("the question") { source.questions == 1 }
        source.mirror.markStale("a")
        source.open()
        await question.value
        #expect(source.mirror.cached("a") == nil && source.mirror.last("a") == 1)
    }

    @Test("L16: many announced changes cause one query at a time")
    @BusActor
    func changes() async throws {
        let source = Source()
        source.close()
        for _ in 0..<100 { source.mirror.changed("a") }
        try await eventually("the question") { source.questions == 1 }
        for _ in 0..<100 { source.mirror.changed("a") }
        source.open()
        try await eventually("an answer") { source.mirror.isFresh("a") }
        #expect(source.questions == 2)
    }

    @Test("L11b: a failed query keeps a fresh answer and drops a stale answer")
    @BusActor
    func silence() async {
        let source = Source()
        await source.mirror.revalidate("a")
        source.answer = nil
        await source.mirror.revalidate("a")
        #expect(source.mirror.cached("a") == 1)
        source.mirror.markStale("a")
        await source.mirror.revalidate("a")
        #expect(source.mirror.last("a") == nil)
    }
}
