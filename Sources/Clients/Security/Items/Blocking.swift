internal import DBus
internal import Dispatch
internal import LocalAuthClient
internal import Synchronization

/// A value that another thread waits for.
private final class Arrival<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let arrived = DispatchSemaphore(value: 0)

    func arrive(_ value: Value) {
        self.value.withLock { $0 = value }
        arrived.signal()
    }

    func wait() -> Value? {
        arrived.wait()
        return value.withLock { $0 }
    }
}

/// The reason why a blocking call has no result.
package enum BlockingFailure: Sendable {
    /// The call was made on the loop's thread, which would wait for itself.
    case onLoop
    /// The process is a fork: the loop's thread exists only in the parent.
    case forked
    /// The service runs and does not answer.
    case silent

    /// A sentence for the user.
    package var message: String {
        switch self {
        case .onLoop: "The loop of the bus can't wait for itself."
        case .forked: "A fork of a process can't use its connection: start a program in it."
        case .silent: AuthenticationError.silent.message
        }
    }
}

/// Whether this process is a fork of the process that runs the loop.
package var isFork: Bool { EventLoop.shared.isForkedChild }

/// Runs `body` on the bus loop, and blocks the calling thread until the result is there.
///
/// Apple's keychain calls are synchronous. The loop has its own thread, so blocking the main thread
/// or a thread of Swift's pool is safe.
///
/// The call gives up after two seconds if the service hangs, and drops a late result. The service
/// answers pings while a prompt is open, so a prompt may take as long as the user does.
///
/// - Parameters:
///   - refusal: Maps the reason to the result if there is no answer.
///   - body: The call to run.
/// - Returns: The body's result, or the result of `refusal`.
package func blocking<Value: Sendable>(
    orElse refusal: (BlockingFailure) -> Value,
    _ body: @escaping @BusActor @Sendable () async -> Value
) -> Value {
    guard !isFork else { return refusal(.forked) }
    guard EventLoop.shared.isIsolatingCurrentContext() != true else { return refusal(.onLoop) }
    EventLoop.shared.startThread()
    let answer = Arrival<Value>()
    let silence = refusal(.silent)
    onLoop { answer.arrive(await ServiceConnection.shared.answered(orElse: silence, body)) }
    return answer.wait() ?? silence
}

/// Variant of ``blocking(orElse:_:)`` with one result for all reasons.
package func blocking<Value: Sendable>(
    orElse refusal: Value,
    _ body: @escaping @BusActor @Sendable () async -> Value
) -> Value {
    blocking(orElse: { _ in refusal }, body)
}
