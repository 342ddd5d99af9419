import Glibc
import Linux

/// Receives the notifications that programs send to systemd.
public final class NotifySocket {
    /// The socket's path, for the variable `NOTIFY_SOCKET`.
    public let path: String
    private let socket: OwnedDescriptor

    public init(at path: String) throws {
        self.path = path
        let kind = Int32(SOCK_DGRAM.rawValue) | O_CLOEXEC | O_NONBLOCK
        socket = OwnedDescriptor(adopting: Glibc.socket(AF_UNIX, kind, 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.rawValue, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try expect(status == 0, "a socket at \(path)")
    }

    /// Returns all packets since the last call, in order.
    public func packets() -> [String] {
        var packets: [String] = []
        var packet = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(socket.rawValue, &packet, packet.count, 0), count > 0 {
            packets.append(String(decoding: packet.prefix(count), as: UTF8.self))
        }
        return packets
    }
}
