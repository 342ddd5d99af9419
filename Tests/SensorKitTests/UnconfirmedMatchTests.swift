import DBus
import TestSupport
import Testing

@testable import SensorKit

/// Tests of a match's update until its confirmation or expiry.
@Suite(.timeLimit(.minutes(10)))
struct UnconfirmedMatchTests {
    init() { EventLoop.shared.startThread() }

    /// Stands for the camera data of a match; a weak reference shows when it is released.
    private final class Picture: Sendable {}
    private final class Caller {}

    @Test("A update is handed out once, for its operation, to the caller of the match")
    @BusActor func once() async throws {
        let kept = UnconfirmedMatch()
        let (caller, other) = (Caller(), Caller())
        kept.keep({ true }, of: 7, for: caller)
        #expect(kept.take(6, for: caller) == nil)
        #expect(kept.take(7, for: other) == nil)
        let update = try #require(kept.take(7, for: caller))
        #expect(try await update())
        #expect(kept.take(7, for: caller) == nil)
    }

    @Test("A update expires after its time, not before")
    @BusActor func late() async throws {
        let caller = Caller()
        for (patience, isKept) in [(Duration.milliseconds(1), false), (.seconds(3600), true)] {
            let kept = UnconfirmedMatch(patience: patience)
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

    @Test("A update is dropped by the next operation, with its caller, and by the next update")
    @BusActor func dropped() {
        let kept = UnconfirmedMatch()
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

    @Test("An operation is released with its update, used or not")
    func operation() async throws {
        try await PrivateBus.run { bus in
            let connection = try bus.connect()
            let caller = try await connection.peer(named: try bus.connect().uniqueName)
            let slot = OperationSlot(connection: connection, faultLog: FaultLog { _ in })
            let seen = Seen()
            for (number, isLearned) in [(UInt64(1), true), (2, false)] {
                let id = try await slot.run(
                    number,
                    user: 1,
                    mayUpdateTemplate: true,
                    caller: caller
                ) {
                    (operation) async throws(SensorFault) in
                    // The previous operation has been released.
                    #expect(seen.operation == nil)
                    seen.operation = operation
                    // A driver's closure may well retain its operation.
                    operation.whenConfirmed { operation.user == 1 }
                    return "match"
                }
                #expect(id == "match" && seen.operation != nil)
                guard isLearned else { continue }
                let update = try #require(slot.templateUpdate(of: number, caller: caller))
                #expect(try await update())
            }
            // The next operation drops the unused update.
            await #expect(throws: DBusError.self) {
                _ = try await slot.run(3, user: 1, mayUpdateTemplate: true, caller: caller) {
                    (operation) async throws(SensorFault) in
                    #expect(seen.operation == nil)
                    seen.operation = operation
                    operation.whenConfirmed { operation.user == 1 }
                    throw .failed("It is broken.")
                }
            }
            try await eventually("it to be gone") { seen.operation == nil }
        }
    }

    /// The last operation, referenced weakly.
    @BusActor private final class Seen {
        weak var operation: SensorOperation?
    }
}
