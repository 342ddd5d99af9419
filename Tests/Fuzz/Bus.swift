import Glibc
import Linux
import Synchronization

@testable import DBus
@testable import TestSupport

/// The bus at the other end of a connection.
///
/// By itself, it answers only Hello.
final class Bus: Sendable {
    private let listener: OwnedDescriptor
    /// Accepts while the connection waits for the answer to Hello.
    private let thread: SerialThread
    private let accepted = Mutex<OwnedDescriptor?>(nil)
    private static let name = "localauth-fuzz-\(getpid())"

    init() throws {
        thread = try SerialThread(named: "bus")
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        listener = OwnedDescriptor(adopting: socket(AF_UNIX, kind, 0))
        var place = sockaddr_un()
        place.sun_family = sa_family_t(AF_UNIX)
        // A leading zero byte makes an abstract socket, outside the file system.
        withUnsafeMutableBytes(of: &place.sun_path) {
            $0.dropFirst().copyBytes(from: Self.name.utf8)
        }
        let size = MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + 1 + Self.name.count }
        let isBound = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener.rawValue, $0, socklen_t(size ?? 0)) == 0
            }
        }
        guard isBound, listen(listener.rawValue, 1) == 0 else {
            throw DBusError(.failed, "The socket cannot be bound.")
        }
    }

    /// Returns a new connection and the bus's socket of it.
    @BusActor func connect() throws -> (Connection, OwnedDescriptor) {
        thread.perform { self.accept() }
        let connection = try Connection(.address("unix:abstract=\(Self.name)"))
        guard let socket = accepted.withLock({ $0.take() }) else {
            throw DBusError(.disconnected, "The connection is closed.")
        }
        return (connection, socket)
    }

    private func accept() {
        let socket = OwnedDescriptor(adopting: Glibc.accept(listener.rawValue, nil, nil))
        var (fields, body) = (RawValues(), RawValues())
        fields.field(5, 1)
        fields.field(7, "s", "org.freedesktop.DBus")
        body.append(":1.1")
        let id = String(repeating: "0", count: 32)
        let hello = Self.message(2, fields, "s", body.bytes)
        accepted.withLock { $0 = socket }
        _ = socket.write(Array("DATA\r\nOK \(id)\r\n".utf8) + hello)
    }

    /// Encodes a message for the wire.
    static func message(
        _ kind: UInt8,
        _ fields: RawValues,
        _ signature: String,
        _ body: [UInt8]
    ) -> [UInt8] {
        var fields = fields
        if !signature.isEmpty { fields.signature(8, signature) }
        var message = RawValues()
        message.append(raw: [UInt8(ascii: "l"), kind, 0, 1])
        message.append(UInt32(body.count))
        message.append(UInt32(1))
        message.append(UInt32(fields.bytes.count))
        message.append(raw: fields.bytes)
        message.pad(8)
        return message.bytes + body
    }
}
