public import DBus

/// A gate at which calls wait until a test opens it.
///
/// A canceled call stops waiting, for example when its bus has ended.
@BusActor public final class Gate {
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private var last = 0

    public init() {}

    /// Waits until the next ``open()``.
    ///
    /// - Throws: When the call is canceled.
    public func wait() async throws(DBusError) {
        last += 1
        let number = last
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiting[number] = $0 }
        } onCancel: {
            onLoop { self.waiting.removeValue(forKey: number)?.resume() }
        }
        if Task.isCancelled { throw DBusError(.noReply, "Nobody waits for it any more.") }
    }

    /// Resumes all waiting calls in order of arrival.
    public func open() {
        let woken = waiting.sorted { $0.key < $1.key }
        waiting = [:]
        for (_, continuation) in woken { continuation.resume() }
    }
}
