internal import DBus
internal import Dispatch
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

/// Runs `body` on the bus loop and blocks the calling thread until it is done.
///
/// Apple's calls that answer at once, or that prompt for an item, are synchronous. This needs
/// neither the main thread nor a thread of Swift's pool.
///
/// - Parameters:
///   - refusal: What is returned on the loop's own thread, where waiting would never end.
///   - body: What to run.
/// - Returns: What the body returned.
package func blocking<Value: Sendable>(
    orElse refusal: Value,
    _ body: @escaping @BusActor @Sendable () async -> Value
) -> Value {
    guard EventLoop.shared.isIsolatingCurrentContext() != true else { return refusal }
    EventLoop.shared.startThread()
    let answer = Arrival<Value>()
    onLoop { answer.arrive(await body()) }
    return answer.wait() ?? refusal
}
