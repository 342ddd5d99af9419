/// Look-ups that many callers share: for each key, at most one is pending and one is queued.
///
/// Callers that come during a look-up share the next one. Every answer is thus younger than its
/// call, and a flood of calls costs two look-ups.
@BusActor
package final class SharedLookUps<Key: Hashable & Sendable, Value: Sendable> {
    private final class LookUp {
        var value: Value?
        var task: Task<Void, Never>?
    }

    /// The queued look-up and the last started look-up of each key.
    private var next: [Key: LookUp] = [:]
    private var last: [Key: LookUp] = [:]

    package nonisolated init() {}

    /// Returns the result of a look-up that starts after this call.
    package func share(
        _ key: Key,
        _ ask: @escaping @BusActor @Sendable () async -> Value
    ) async -> Value {
        let lookUp = next[key] ?? begin(key, ask)
        await lookUp.task?.value
        // The value is set before the task ends.
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
