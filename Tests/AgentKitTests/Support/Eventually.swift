import DBus
import Glibc

/// Runs a test's body on the bus loop, which has its own thread.
package func onBus<T: Sendable>(
    _ body: @escaping @BusActor @Sendable () async throws -> T
) async throws -> T {
    EventLoop.shared.startThread()
    return try await withCheckedThrowingContinuation { continuation in
        onLoop {
            do {
                continuation.resume(returning: try await body())
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
