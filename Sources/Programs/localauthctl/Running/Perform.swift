import ArgumentParser
import DBus
import Glibc
import LocalAuthBus
import LocalAuthClient
import Localization
import Synchronization

private let exitStatus = Mutex<Int32>(0)

/// Reaches the service, then runs the body of a command on the event loop.
///
/// - Throws: Always: the exit status.
func perform(
    _ bus: BusArguments,
    _ body: @escaping @BusActor @Sendable (RemoteService) async throws -> Void
) throws {
    let bus = bus.bus
    try performOnLoop {
        let service = try await RemoteService.reach(bus)
        defer { service.connection.flush() }
        do {
            try await body(service)
        } catch let error as DBusError where error.name == .notInteractive {
            // Each cause has its own remedy.
            let advice = try? await Interaction(service).advice
            throw Failure(.refused, error, hint: advice)
        }
    }
}

/// Runs a body on the event loop, on this thread, until the body returns.
///
/// - Throws: Always: the exit status.
func performOnLoop(_ body: @escaping @BusActor @Sendable () async throws -> Void) throws {
    onLoop {
        let status = await outcome(body)
        exitStatus.withLock { $0 = status }
        EventLoop.shared.stop()
    }
    EventLoop.shared.run()
    throw ExitCode(exitStatus.withLock { $0 })
}

@BusActor private func outcome(_ body: @BusActor @Sendable () async throws -> Void) async -> Int32 {
    do {
        try await body()
        return 0
    } catch let code as ExitCode {
        return code.rawValue
    } catch let failure as Failure {
        return report(failure)
    } catch let error as DBusError {
        return report(Failure(error))
    } catch {
        return report(Failure(.refused, "\(error)"))
    }
}

extension StreamingCall {
    /// The reply or the error, for a command that cleans up in either case.
    func result() async -> Result<Value, DBusError> {
        do throws(DBusError) {
            return .success(try await reply())
        } catch {
            return .failure(error)
        }
    }
}

/// The end of a command that runs until an event ends it.
@BusActor final class End {
    private let ends: AsyncStream<Failure?>
    private let continuation: AsyncStream<Failure?>.Continuation

    init() {
        (ends, continuation) = AsyncStream.makeStream()
    }

    /// Ends the command, successfully if nil.
    ///
    /// Only the first call counts.
    func with(_ failure: Failure?) {
        continuation.yield(failure)
        continuation.finish()
    }

    func wait() async -> Failure? {
        for await failure in ends { return failure }
        return nil
    }
}

/// Runs `start`, waits for the end, then runs the clean-up returned by `start` for at most 0.9 s.
///
/// - Throws: Always: the exit status.
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

/// Calls `body` on SIGINT, SIGTERM or SIGHUP; a second signal ends the process at once.
@BusActor func onInterruption(_ body: @escaping @BusActor () -> Void) {
    var isInterrupted = false
    for number in [SIGINT, SIGTERM, SIGHUP] {
        _ = EventLoop.shared.onSignal(number) {
            if isInterrupted { exit(Failure.Status.refused.rawValue) }
            isInterrupted = true
            body()
        }
    }
}
