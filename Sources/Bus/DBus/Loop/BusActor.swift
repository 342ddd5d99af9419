/// The actor of everything that touches a bus: the thread of ``EventLoop/shared``.
@globalActor
public actor BusActor {
    public static let shared = BusActor()

    /// The loop's own executor: a call on the loop's thread switches no threads.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        EventLoop.shared.asUnownedSerialExecutor()
    }

    /// Runs `body` on the actor at once.
    ///
    /// The caller must be on the loop's thread.
    package static func assume<Value>(_ body: @BusActor () -> Value) -> Value {
        precondition(EventLoop.shared.isCurrentThread, "Only the loop's thread may do this.")
        // SAFETY: the thread is checked above. `MainActor.assumeIsolated` casts alike.
        return withoutActuallyEscaping(body) {
            unsafeBitCast($0, to: (() -> Value).self)()
        }
    }
}

/// Starts a task that stays on the loop's thread.
///
/// All tasks are started here.
@discardableResult
public func onLoop(_ body: @escaping @BusActor @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: EventLoop.shared) { await body() }
}

/// Suspends on the loop's timer.
///
/// Returns early when the task is canceled.
@BusActor
public func pause(_ duration: Duration) async {
    let sleeper = Sleeper()
    await withTaskCancellationHandler {
        await withUnsafeContinuation { sleeper.start(duration, $0) }
    } onCancel: {
        onLoop { sleeper.wake() }
    }
}

/// The suspended state of a call of `pause`.
@BusActor
private final class Sleeper {
    private var continuation: UnsafeContinuation<Void, Never>?
    private var timer: EventSource?
    private var isAwake = false

    nonisolated init() {}

    func start(_ duration: Duration, _ continuation: UnsafeContinuation<Void, Never>) {
        guard !isAwake, !Task.isCancelled else {
            continuation.resume()
            return
        }
        self.continuation = continuation
        timer = EventLoop.shared.schedule(after: duration) { self.wake() }
    }

    func wake() {
        isAwake = true
        timer?.cancel()
        timer = nil
        continuation?.resume()
        continuation = nil
    }
}
