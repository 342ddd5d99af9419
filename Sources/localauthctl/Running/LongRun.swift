import ArgumentParser
import DBus
import Glibc

/// The end of a command that runs until something ends it.
@BusActor final class End {
    private let ends: AsyncStream<Failure?>
    private let continuation: AsyncStream<Failure?>.Continuation

    init() {
        (ends, continuation) = AsyncStream.makeStream()
    }

    /// Ends the command; nil is a good end, and only the first end counts.
    func with(_ failure: Failure?) {
        continuation.yield(failure)
        continuation.finish()
    }

    func wait() async -> Failure? {
        for await failure in ends { return failure }
        return nil
    }
}

/// Starts something, waits for its end, and runs what `start` returned, for 0.9 s at most.
/// - Throws: always, the exit status.
func performAlone(
    _ start: @escaping @BusActor @Sendable (End) async throws -> @BusActor () async -> Void
) throws {
    try performOnLoop {
        let end = End()
        let stop = try await start(end)
        let failure = await end.wait()
        let status = failure?.status.rawValue ?? 0
        _ = EventLoop.shared.schedule(after: .milliseconds(900)) { exit(status) }
        await stop()
        if let failure { throw failure }
    }
}

/// Writes what was printed so far, for a reader at the other end of a pipe.
func flushOutput() {
    fflush(nil)
}
