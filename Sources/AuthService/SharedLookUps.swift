import DBus

/// One look-up for each user that many callers may wait for.
///
/// Callers that come while one is under way share the next one, so that every answer is younger
/// than its question, and a flood of questions is two look-ups.
@BusActor
final class SharedLookUps {
    /// The look-up that has not begun yet, and the last one that has, for each user.
    private var next: [UInt32: Task<Void, Never>] = [:]
    private var last: [UInt32: Task<Void, Never>] = [:]

    /// Returns when a look-up that began after this call is done.
    func share(_ uid: UInt32, _ ask: @escaping @BusActor @Sendable () async -> Void) async {
        if let waiting = next[uid] { return await waiting.value }
        let before = last[uid]
        let task = onLoop {
            await before?.value
            self.last[uid] = self.next.removeValue(forKey: uid)
            await ask()
            if self.next[uid] == nil { self.last[uid] = nil }
        }
        next[uid] = task
        await task.value
    }
}
