internal import DBus

/// Limits the number of concurrent calls; other calls wait in the order of arrival.
///
/// The service refuses calls beyond its limit for a connection, and a program may use the keychain
/// from many threads.
@BusActor
final class Gate {
    /// For items that need no prompt.
    static let reading = Gate(4)
    /// For items that may need a prompt.
    ///
    /// Two calls leave room for an evaluation of the program's own.
    static let asking = Gate(2)
    /// For changes, which the service writes to disk before it answers.
    static let writing = Gate(4)
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
