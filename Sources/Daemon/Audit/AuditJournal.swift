import CLinux
import DBus
import Glibc
import Linux

/// Writes to the journal with its native protocol: one datagram for each record.
///
/// libsystemd's own writer blocks and supports only the standard address.
struct AuditJournal {
    private let path: String
    private let socket: OwnedDescriptor?

    /// - Parameter path: the journal's socket. Each record looks it up, because the journal may
    ///   start later.
    init(path: String) {
        self.path = path
        let kind = Int32(SOCK_DGRAM.rawValue) | O_CLOEXEC | O_NONBLOCK
        let descriptor = Glibc.socket(AF_UNIX, kind, 0)
        socket = descriptor < 0 ? nil : OwnedDescriptor(adopting: descriptor)
    }

    /// Whether the socket exists and is writable, which does not guarantee a listener.
    var isThere: Bool { access(path, W_OK) == 0 }

    /// Sends a record without blocking; false if there is no journal, or its queue is full.
    func send(_ entry: [(name: String, value: String)]) -> Bool {
        guard let socket, var address = Self.address(of: path) else { return false }
        let packet = Self.packet(entry)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let size = socklen_t(MemoryLayout<sockaddr_un>.size)
                let flags = Int32(MSG_NOSIGNAL)
                return sendto(socket.rawValue, packet, packet.count, flags, address, size)
                    == packet.count
            }
        }
    }

    /// Encodes each field as name, line break, 64-bit little-endian length, value, line break.
    ///
    /// Every field has a length, so that a value can't end early and inject another field.
    static func packet(_ entry: [(name: String, value: String)]) -> [UInt8] {
        var packet: [UInt8] = []
        for (name, value) in entry {
            packet += name.utf8
            packet.append(UInt8(ascii: "\n"))
            let length = UInt64(value.utf8.count)
            packet += (0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
            packet += value.utf8
            packet.append(UInt8(ascii: "\n"))
        }
        return packet
    }

    private static func address(of path: String) -> sockaddr_un? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let hasRoom = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard bytes.count < room.count else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        return hasRoom ? address : nil
    }
}
