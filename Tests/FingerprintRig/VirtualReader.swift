public import DBus
import Glibc
import Linux
import TestSupport

/// A virtual reader of libfprint, controlled through its socket.
@BusActor public final class VirtualReader {
    /// The drivers that Debian's libfprint includes.
    public enum Kind: String, Sendable {
        /// Receives images, and really matches them.
        case image
        /// Receives commands; names stand for fingers.
        case device
        /// Receives commands, and stores prints in the reader.
        case storage

        var driver: String { self == .storage ? "device_storage" : rawValue }
        var variable: String { "FP_VIRTUAL_" + driver.uppercased() }
    }

    public nonisolated let kind: Kind
    /// The driver's socket, which exists while the reader is claimed.
    public nonisolated let socket: String

    nonisolated init(_ kind: Kind, socket: String) {
        self.kind = kind
        self.socket = socket
    }

    // MARK: The image driver

    /// Touches the reader with an image of ``Fingerprints``.
    @discardableResult
    public func touch(_ image: Fingerprints.Image) -> Bool {
        send(Self.bytes(Int32(image.width), Int32(image.height)) + image.pixels)
    }

    /// Requests another scan: 0 lift, 1 too short, 2 not centered, 3 remove and retry.
    public func retry(_ code: Int32) { send(Self.bytes(-1, code)) }

    /// Makes the driver report an error: 0 general, 5 protocol.
    public func fail(_ code: Int32) { send(Self.bytes(-2, code)) }

    public func unplug() { send(kind == .image ? Self.bytes(-5, 0) : Array("UNPLUG".utf8)) }

    // MARK: The other drivers

    /// Sends a command such as `SCAN right-index`.
    @discardableResult
    public func command(_ text: String) -> Bool { send(Array(text.utf8)) }

    // MARK: Its socket

    private static func bytes(_ first: Int32, _ second: Int32) -> [UInt8] {
        [first, second]
            .flatMap { number in
                (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            }
    }

    /// The connection of the last command.
    ///
    /// The driver closes it after reading the command.
    private var last: OwnedDescriptor?

    /// Waits until the driver has read the last command.
    ///
    /// A new connection would replace the previous connection and its unread bytes.
    private func waitForLast() {
        guard let last else { return }
        var state = pollfd(fd: last.rawValue, events: Int16(POLLIN), revents: 0)
        poll(&state, 1, 10_000)
        self.last = nil
    }

    /// Sends bytes; returns false without a listener, because the reader is not claimed.
    @discardableResult
    private func send(_ bytes: [UInt8]) -> Bool {
        waitForLast()
        let file = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else { return false }
        let descriptor = OwnedDescriptor(adopting: file)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(socket.utf8)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(file, $0, size) == 0 }
        }
        let isSent =
            isConnected
            && Glibc.send(file, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
        guard isSent else { return false }
        if kind != .image { last = descriptor }
        return true
    }
}
