import CLinux
import Glibc

/// A descriptor with which a thread wakes another thread (`eventfd`).
package struct EventDescriptor: Sendable {
    private let descriptor: OwnedDescriptor

    /// Creates a descriptor that is not readable.
    ///
    /// With `isBlocking`, ``clear()`` waits until it is.
    package init(isBlocking: Bool = false) throws(SystemError) {
        let flags = Int32(EFD_CLOEXEC) | (isBlocking ? 0 : Int32(EFD_NONBLOCK))
        descriptor = OwnedDescriptor(adopting: eventfd(0, flags))
        guard rawValue >= 0 else {
            throw SystemError(errno: errno, "The kernel refuses a descriptor", path: "eventfd")
        }
    }

    package var rawValue: Int32 { descriptor.rawValue }

    /// Makes the descriptor readable until ``clear()``.
    package func signal() {
        var one: UInt64 = 1
        _ = write(rawValue, &one, 8)
    }

    /// Consumes all signals.
    package func clear() {
        var count: UInt64 = 0
        _ = read(rawValue, &count, 8)
    }
}
