import CLinux
import DBus
import Glibc
import Linux
import Passkeys
import ServiceProgram

/// The connection to the broker: packets of the device in both directions.
@BusActor final class BrokerLink {
    private let path: String
    private let authenticator: Authenticator
    private var socket: OwnedDescriptor?
    private var source: EventSource?
    private var device: PasskeyDevice?
    private var delay = shortest

    private static let shortest = Duration.seconds(1)
    private static let longest = Duration.seconds(60)

    /// Connects to the broker.
    ///
    /// - Throws: `NothingToDo` without a broker on this machine.
    init(_ path: String, _ authenticator: Authenticator) throws(NothingToDo) {
        (self.path, self.authenticator) = (path, authenticator)
        guard connect() else {
            throw NothingToDo("there is no broker of passkeys at \(path)")
        }
    }

    func close() {
        source?.cancel()
        device?.close()
        (source, device, socket) = (nil, nil, nil)
    }

    private func connect() -> Bool {
        guard let socket = Self.connected(to: path) else { return false }
        self.socket = socket
        device = PasskeyDevice(authenticator) { packet in
            // A broker that does not read loses packets; the program then runs into its time limit.
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            _ = Glibc.send(socket.rawValue, packet, packet.count, flags)
        }
        source = EventLoop.shared.watch(descriptor: socket.rawValue) { self.read(socket) }
        return true
    }

    private func read(_ socket: OwnedDescriptor) {
        var packet = [UInt8](repeating: 0, count: PacketLayer.size + 1)
        let count = recv(socket.rawValue, &packet, packet.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        switch count {
        case PacketLayer.size:
            delay = Self.shortest
            device?.receive(Array(packet.prefix(count)))
        case 1 where packet[0] == 1: authenticator.appear()
        case 1:
            // No program has the device open any more.
            device?.close()
        default:
            close()
            reconnect()
        }
    }

    /// Connects again, after an end of the broker.
    private func reconnect() {
        _ = EventLoop.shared.schedule(after: delay) {
            self.delay = min(self.delay * 2, Self.longest)
            if !self.connect() { self.reconnect() }
        }
    }

    private static func connected(to path: String) -> OwnedDescriptor? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isShort = withUnsafeMutableBytes(of: &address.sun_path) { space in
            guard path.utf8.count < space.count else { return false }
            space.copyBytes(from: path.utf8)
            return true
        }
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let socket = OwnedDescriptor(adopting: Glibc.socket(AF_UNIX, kind, 0))
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket.rawValue, $0, size)
            }
        }
        return isShort && socket.rawValue >= 0 && result == 0 ? socket : nil
    }
}
