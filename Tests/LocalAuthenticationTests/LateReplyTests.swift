import ClientTestSupport
import Dispatch
import Foundation
import LocalAuthBus
import Synchronization
import TestSupport
import Testing

@testable import LocalAuthentication

/// Tests that a late result has no effect on a deauthorized right.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct LateReplyTests {
    /// A right that delays the check of its first success for the test.
    private final class SlowRight: LARight, @unchecked Sendable {
        let looking = Arrival()
        let mayEnd = Arrival()

        override func refusal(after context: LAContext) -> (any Error)? {
            guard looking.arrive() else { return nil }
            mayEnd.wait()
            return nil
        }
    }

    /// An event that happens once.
    private final class Arrival: Sendable {
        private let hasHappened = Mutex(false)
        private let semaphore = DispatchSemaphore(value: 0)

        /// Returns whether this call is the first.
        func arrive() -> Bool {
            semaphore.signal()
            return hasHappened.withLock { happened in
                defer { happened = true }
                return !happened
            }
        }

        func wait() { semaphore.wait() }
    }

    private static func answer(to right: LARight) -> AsyncStream<LAError.Code?> {
        let (stream, feed) = AsyncStream.makeStream(of: LAError.Code?.self)
        right.authorize(localizedReason: "open the safe") { error in
            feed.yield((error as? LAError)?.code)
            feed.finish()
        }
        return stream
    }

    private static func first(_ answers: AsyncStream<LAError.Code?>) async -> LAError.Code?? {
        await answers.first { _ in true }
    }

    @Test("The end of a deauthorized authorization does not end the next authorization")
    func canceled() async throws {
        try await ClientDesk.run { desk in
            let right = LARight(requirement: .biometry)
            let old = Self.answer(to: right)
            _ = try await desk.agent.prompt()
            right.deauthorize {}
            let new = Self.answer(to: right)
            #expect(await Self.first(old) == .some(.appCancel))
            #expect(right.state == .authorizing)
            _ = try await desk.agent.prompt(1)
            try await desk.queue("match")
            #expect(await Self.first(new) == .some(nil))
            #expect(right.state == .authorized)
        }
    }

    @Test("A late success of a deauthorized right has no effect")
    func succeeded() async throws {
        try await ClientDesk.run { desk in
            let right = SlowRight(requirement: .biometry)
            let old = Self.answer(to: right)
            try await desk.queue("match")
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    right.looking.wait()
                    continuation.resume()
                }
            }
            right.deauthorize {}
            let new = Self.answer(to: right)
            _ = try await desk.agent.prompt(1)
            _ = right.mayEnd.arrive()
            #expect(await Self.first(old) == .some(.appCancel))
            #expect(right.state == .authorizing)
            try await desk.queue("match")
            #expect(await Self.first(new) == .some(nil))
            #expect(right.state == .authorized)
        }
    }

    @Test("Of two concurrent authorizations a success wins, in any order")
    func both() async throws {
        try await ClientDesk.run { desk in
            let right = LARight(requirement: .biometry)
            let one = Self.answer(to: right)
            let prompt = try await desk.agent.prompt()
            let other = Self.answer(to: right)
            await desk.agent.manager.sendSubmitCancel(prompt: prompt.handle)
            #expect(await Self.first(one) == .some(.userCancel))
            _ = try await desk.agent.prompt(1)
            try await desk.queue("match")
            #expect(await Self.first(other) == .some(nil))
            #expect(right.state == .authorized)
        }
    }
}
