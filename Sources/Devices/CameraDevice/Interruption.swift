import Glibc
import Linux

/// Lets another thread end a wait for a frame.
package final class Interruption: Sendable {
    /// Readable while the interruption is raised.
    package var descriptor: Int32 { event.rawValue }
    private let event: EventDescriptor

    /// Makes an interruption that is not raised.
    ///
    /// - Throws: ``CameraFault/failed(_:)`` if the process has too many descriptors.
    package init() throws(CameraFault) {
        do throws(SystemError) {
            event = try EventDescriptor()
        } catch {
            throw .failed(error.message)
        }
    }

    /// Ends the present wait and every later wait.
    package func raise() {
        event.signal()
    }

    package var isRaised: Bool { isRaised(within: 0) }

    package func isRaised(within milliseconds: Int32) -> Bool {
        var query = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&query, 1, milliseconds) > 0
    }
}
