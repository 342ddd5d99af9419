import DBus
import TestSupport
import Testing

@testable import SensorKit

/// What a match showed, until the passcode confirms it or its time is over.
@Suite(.timeLimit(.minutes(1)))
struct KeptMatchTests {
    init() { EventLoop.shared.startThread() }

    /// Stands for what was seen: gone when nobody holds it any more.
    private final class Picture: Sendable {}
    private final class Caller {}

    @Test("It is handed out once, for its operation, to whoever asked for the match")
    @BusActor func once() async throws {
        let kept = KeptMatch()
        let (caller, other) = (Caller(), Caller())
        kept.keep({ true }, of: 7, for: caller)
        #expect(kept.take(6, for: caller) == nil)
        #expect(kept.take(7, for: other) == nil)
        let lesson = try #require(kept.take(7, for: caller))
        #expect(try await lesson())
        #expect(kept.take(7, for: caller) == nil)
    }

    @Test("It is let go of when its time is over, and not before")
    @BusActor func late() async throws {
        let caller = Caller()
        for (patience, isKept) in [(Duration.milliseconds(1), false), (.seconds(3600), true)] {
            let kept = KeptMatch(patience: patience)
            weak var picture: Picture?
            do {
                let seen = Picture()
                picture = seen
                kept.keep({ withExtendedLifetime(seen) { true } }, of: 7, for: caller)
            }
            if !isKept { try await eventually("it to be gone") { picture == nil } }
            #expect((picture != nil) == isKept)
            #expect((kept.take(7, for: caller) != nil) == isKept)
            #expect(picture == nil)
        }
    }

    @Test("It is let go of with the next operation, with its caller, and with what comes after it")
    @BusActor func dropped() {
        let kept = KeptMatch()
        weak var picture: Picture?
        let caller = Caller()
        do {
            let seen = Picture()
            picture = seen
            kept.keep({ withExtendedLifetime(seen) { true } }, of: 7, for: caller)
        }
        #expect(picture != nil)
        kept.keep({ false }, of: 8, for: caller)
        #expect(picture == nil)
        kept.drop()
        #expect(kept.take(8, for: caller) == nil)
        do {
            let gone = Caller()
            kept.keep({ true }, of: 9, for: gone)
        }
        #expect(kept.take(9, for: caller) == nil)
    }
}
