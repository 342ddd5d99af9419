internal import DBus

/// Lets so many calls at a time through, the others in the order of arrival.
///
/// The service refuses a connection that has too many calls with it, and a program may read and
/// write from many threads.
@BusActor
final class Gate {
    /// For items that nobody is asked for.
    static let reading = Gate(4)
    /// For those that a person may be asked for: one prompt, one that waits, and room for an
    /// evaluation of the program's own.
    static let asking = Gate(2)
    /// For changes, each of which the service has on its disk before it answers.
    static let writing = Gate(4)
    /// For searches, which are short.
    static let searching = Gate(8)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private nonisolated init(_ width: Int) {
        free = width
    }

    func pass<Value: Sendable>(
        _ body: @BusActor () async throws(DBusError) -> Value
    ) async throws(DBusError) -> Value {
        if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
        defer { leave() }
        return try await body()
    }

    private func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
