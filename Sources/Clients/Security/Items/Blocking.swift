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

    /// Waits.
    func wait() -> Value? {
        arrived.wait()
        return value.withLock { $0 }
    }
}

/// Why a call that blocks has no answer.
package enum NoAnswer: Sendable {
    /// It was made on the loop's own thread, where waiting would never end.
    case onLoop
    /// The process is a fork of the one that has the loop: no thread is here that could answer.
    case forked
    /// The service runs and doesn't answer.
    case silent

    /// A sentence for people.
    package var message: String {
        switch self {
        case .onLoop: "The loop of the bus can't wait for itself."
        case .forked: "A fork of a process can't use its connection: start a program in it."
        case .silent: AuthenticationError.silent.message
        }
    }
}

/// Whether this process is a fork of the one that has the loop.
package var isFork: Bool { EventLoop.shared.isLeftBehind }

/// Runs `body` on the bus loop and blocks the calling thread until it is done.
///
/// Apple's calls that answer at once, or that prompt for an item, are synchronous. This needs
/// neither the main thread nor a thread of Swift's pool. A service that hangs is given up after two
/// seconds: it is asked whether it is there, and what it still answers later is dropped. A prompt
/// may be up for as long as the person takes, because the service answers that question meanwhile.
///
/// - Parameters:
///   - refusal: What is returned without an answer.
///   - body: What to run.
/// - Returns: What the body returned.
package func blocking<Value: Sendable>(
    orElse refusal: (NoAnswer) -> Value,
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

/// As ``blocking(orElse:_:)``, for calls whose lack of an answer has one value.
package func blocking<Value: Sendable>(
    orElse refusal: Value,
    _ body: @escaping @BusActor @Sendable () async -> Value
) -> Value {
    blocking(orElse: { _ in refusal }, body)
}
