import CV4L2
import Glibc

/// Ends a wait for a frame from another thread.
public final class Interruption: Sendable {
    /// Readable while it is raised.
    let descriptor: Int32

    /// Not raised yet.
    ///
    /// - Throws: ``CameraFault/failed(_:)`` when the process has too many descriptors.
    public init() throws(CameraFault) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard descriptor >= 0 else { throw .failed("The kernel refuses an eventfd.") }
    }

    deinit { close(descriptor) }

    /// Ends the present wait and every later one.
    public func raise() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Whether it was raised.
    public var isRaised: Bool {
        var query = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&query, 1, 0) > 0
    }
}
