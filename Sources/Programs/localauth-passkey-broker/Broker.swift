import CLinux
import CSystemd
import DBus
import Glibc
import Linux
import ServiceProgram

/// Gives each user at this machine a security key of the kernel, while the user's localauth-passkey
/// is connected.
@BusActor final class Broker {
    private final class Client {
        let socket: OwnedDescriptor
        let uid: uid_t
        var device: UserDevice?
        var sources: [EventSource] = []

        init(_ socket: OwnedDescriptor, _ uid: uid_t) { (self.socket, self.uid) = (socket, uid) }
    }

    private let listening: OwnedDescriptor
    private let logins: OpaquePointer
    /// The first connection of each user.
    private var clients: [uid_t: Client] = [:]

    private static let mostClients = 64
    /// The message to a service that its programs have left the device.
    private static let closed = [0 as UInt8]
    /// The message to a service that its device has appeared.
    private static let appeared = [1 as UInt8]

    init?(_ listening: OwnedDescriptor) {
        var monitor: OpaquePointer?
        // SAFETY: sd-login allocates the monitor, which lives as long as the process.
        guard sd_login_monitor_new("session", &monitor) >= 0, let monitor else { return nil }
        (self.listening, logins) = (listening, monitor)
        _ = EventLoop.shared.watch(descriptor: listening.rawValue) { self.accept() }
        _ = EventLoop.shared.watch(descriptor: sd_login_monitor_get_fd(logins)) {
            sd_login_monitor_flush(self.logins)
            for client in self.clients.values { self.update(client) }
        }
        feedWatchdog()
    }

    /// Twice in each `WatchdogSec=` of the unit.
    private func feedWatchdog() {
        sd_notify(0, "WATCHDOG=1")
        _ = EventLoop.shared.schedule(after: .seconds(15)) { self.feedWatchdog() }
    }

    private func accept() {
        let socket = OwnedDescriptor(adopting: Glibc.accept(listening.rawValue, nil, nil))
        var caller = ucred()
        var size = socklen_t(MemoryLayout<ucred>.size)
        guard getsockopt(socket.rawValue, SOL_SOCKET, SO_PEERCRED, &caller, &size) == 0,
            clients[caller.uid] == nil, clients.count < Self.mostClients
        else { return }
        let client = Client(socket, caller.uid)
        clients[caller.uid] = client
        client.sources = [EventLoop.shared.watch(descriptor: socket.rawValue) { self.hear(client) }]
        update(client)
    }

    /// Reads a packet of a service for the programs of its user; other data ends the connection.
    private func hear(_ client: Client) {
        var packet = [UInt8](repeating: 0, count: UserDevice.packetSize + 1)
        let count = recv(client.socket.rawValue, &packet, packet.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count == UserDevice.packetSize else {
            unplug(client)
            for source in client.sources { source.cancel() }
            clients[client.uid] = nil
            return
        }
        client.device?.send(Array(packet.prefix(count)))
    }

    private func update(_ client: Client) {
        guard Self.sits(client.uid) else { return unplug(client) }
        guard client.device == nil else { return }
        guard let device = UserDevice(of: client.uid) else {
            return log(.error, "/dev/uhid makes no device: \(String(cString: strerror(errno)))")
        }
        client.device = device
        let number = device.descriptor.rawValue
        client.sources.append(EventLoop.shared.watch(descriptor: number) { self.forward(client) })
        open(device, to: client, attempts: 200)
    }

    private func open(_ device: UserDevice, to client: Client, attempts: Int) {
        // The user may have left meanwhile.
        guard client.device?.descriptor == device.descriptor else { return }
        guard !device.openToUser() else { return send(Self.appeared, to: client) }
        guard attempts > 0 else {
            return log(.error, "the device of user \(client.uid) can't be opened to the user")
        }
        _ = EventLoop.shared.schedule(after: .milliseconds(50)) {
            self.open(device, to: client, attempts: attempts - 1)
        }
    }

    /// A packet of a program for the user's service.
    private func forward(_ client: Client) {
        switch client.device?.read() {
        case .packet(let packet)?: send(packet, to: client)
        case .closed?: send(Self.closed, to: client)
        case .other?: break
        case nil: unplug(client)
        }
    }

    private func unplug(_ client: Client) {
        guard client.device != nil else { return }
        client.sources.popLast()?.cancel()
        // The kernel removes a device with its descriptor.
        client.device = nil
        send(Self.closed, to: client)
    }

    private func send(_ message: [UInt8], to client: Client) {
        // A service that does not read loses packets; its programs run into their time limits.
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        _ = Glibc.send(client.socket.rawValue, message, message.count, flags)
    }

    /// Whether the user has an active session at a seat.
    private static func sits(_ uid: uid_t) -> Bool {
        // SAFETY: sd-login allocates the list and its words, and `free` accepts nil.
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = sd_uid_get_sessions(uid, 1, &list)
        defer { free(list) }
        guard count > 0, let list else { return false }
        let sessions = (0..<Int(count)).compactMap { list[$0] }
        defer { for session in sessions { free(session) } }
        return sessions.contains { session in
            var seat: UnsafeMutablePointer<CChar>?
            defer { free(seat) }
            return sd_session_is_remote(session) == 0 && sd_session_get_seat(session, &seat) >= 0
        }
    }
}
