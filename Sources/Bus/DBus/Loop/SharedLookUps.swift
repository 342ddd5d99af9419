/// Look-ups that many callers may wait for: for each key at most one is under way, and one waits.
///
/// Callers that come while one is under way share the next one, so that every answer is younger
/// than its question, and a flood of questions is two look-ups.
@BusActor
package final class SharedLookUps<Key: Hashable & Sendable, Value: Sendable> {
    private final class LookUp {
        var value: Value?
        var task: Task<Void, Never>?
    }

    /// The look-up that has not begun yet, and the last one that has, for each key.
    private var next: [Key: LookUp] = [:]
    private var last: [Key: LookUp] = [:]

    package nonisolated init() {}

    /// What a look-up that begins after this call finds.
    package func share(
        _ key: Key,
        _ ask: @escaping @BusActor @Sendable () async -> Value
    ) async -> Value {
        let lookUp = next[key] ?? begin(key, ask)
        await lookUp.task?.value
        // It was set before the task ended.
        guard let value = lookUp.value else { return await ask() }
        return value
    }

    private func begin(
        _ key: Key,
        _ ask: @escaping @BusActor @Sendable () async -> Value
    ) -> LookUp {
        let lookUp = LookUp()
        let before = last[key]?.task
        next[key] = lookUp
        lookUp.task = onLoop {
            await before?.value
            self.last[key] = self.next.removeValue(forKey: key)
            lookUp.value = await ask()
            if self.next[key] == nil { self.last[key] = nil }
        }
        return lookUp
    }
}
