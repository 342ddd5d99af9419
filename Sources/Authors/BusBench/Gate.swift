public import DBus

/// Where calls wait until they may go on.
///
/// Whoever is canceled waits no longer: a call that nobody waits for any more, say, because the bus
/// has ended.
@BusActor public final class Gate {
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private var last = 0

    /// Nobody waits yet.
    public init() {}

    /// Returns when it is opened next.
    ///
    /// - Throws: When nobody waits for the answer any more.
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

    /// Lets all go on who wait, in the order in which they came.
    public func open() {
        let woken = waiting.sorted { $0.key < $1.key }
        waiting = [:]
        for (_, continuation) in woken { continuation.resume() }
    }
}
