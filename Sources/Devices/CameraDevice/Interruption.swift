import Glibc
import Linux

/// Ends a wait for a frame from another thread.
package final class Interruption: Sendable {
    /// Readable while it is raised.
    var descriptor: Int32 { event.rawValue }
    private let event: EventDescriptor

    /// Not raised yet.
    ///
    /// - Throws: ``CameraFault/failed(_:)`` when the process has too many descriptors.
    package init() throws(CameraFault) {
        do throws(SystemError) {
            event = try EventDescriptor()
        } catch {
            throw .failed(error.message)
        }
    }

    /// Ends the present wait and every later one.
    package func raise() {
        event.signal()
    }

    package var isRaised: Bool { isRaised(within: 0) }

    /// Whether it is raised before so many milliseconds have passed.
    package func isRaised(within milliseconds: Int32) -> Bool {
        var query = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&query, 1, milliseconds) > 0
    }
}
