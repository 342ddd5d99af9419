import CFido2
import CLinux
import Glibc
import Linux
import Synchronization

/// The channel to a security key: carries the 64-byte packets of libfido2.
///
/// libfido2 waits as long as the key makes it wait, and offers no way to end the wait. Here, every
/// wait also watches the caller's stop event.
final class KeyChannel: Sendable {
    /// The channel's own observations, because libfido2 reports only that a call failed.
    private struct State {
        var fault: KeyFault?
        /// The number of keepalives that asked for a touch.
        var touchRequests = 0
    }

    static let packet = 64
    /// Milliseconds without a packet before the key counts as broken; a busy key sends a keepalive
    /// every 100 ms.
    private static let patience: Int32 = 5000
    /// Keepalives between two reminders to touch the key: ten seconds.
    private static let packetsBetweenReminders = 100

    private let descriptor: OwnedDescriptor
    private let isSocket: Bool
    private let stop: EventDescriptor
    private let onTouchNeeded: @Sendable () -> Void
    private let state = Mutex(State())

    /// Opens the channel with an exclusive lock on the key.
    ///
    /// Signalling `stop` ends every wait. `onTouchNeeded` is called when the key waits for a touch,
    /// and again every ten seconds.
    ///
    /// - Throws: ``KeyFault/busy`` if another program uses the key, ``KeyFault/gone`` if it is
    ///   unplugged, or ``KeyFault/failed(_:)``.
    init(
        _ place: KeyPlace,
        stop: EventDescriptor,
        onTouchNeeded: @escaping @Sendable () -> Void
    ) throws(KeyFault) {
        descriptor = try place.isSocket ? Self.connected(to: place) : Self.opened(place)
        isSocket = place.isSocket
        self.stop = stop
        self.onTouchNeeded = onTouchNeeded
    }

    private static func opened(_ place: KeyPlace) throws(KeyFault) -> OwnedDescriptor {
        guard let device = OwnedDescriptor.open(place.path, O_RDWR | O_NOFOLLOW) else {
            switch errno {
            case ENOENT, ENODEV, ENXIO, EIO: throw .gone
            case let number:
                let reason = String(cString: strerror(number))
                throw .failed("The security key \(place.path) can't be opened: \(reason).")
            }
        }
        // All programs that use libfido2 take this lock.
        guard flock(device.rawValue, LOCK_EX | LOCK_NB) == 0 else { throw .busy }
        return device
    }

    private static func connected(to place: KeyPlace) throws(KeyFault) -> OwnedDescriptor {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isShort = withUnsafeMutableBytes(of: &address.sun_path) { space in
            guard place.path.utf8.count < space.count else { return false }
            space.copyBytes(from: place.path.utf8)
            return true
        }
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let connection = OwnedDescriptor(adopting: socket(AF_UNIX, kind, 0))
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(connection.rawValue, $0, size)
            }
        }
        guard isShort, connection.rawValue >= 0, result == 0 else { throw .gone }
        return connection
    }

    // MARK: For libfido2

    /// The functions with which libfido2 opens, reads and writes.
    static let functions = fido_dev_io_t(
        open: { name in
            guard let name else { return nil }
            let channel = opening.withLock { $0.removeValue(forKey: String(cString: name)) }
            return channel.map { Unmanaged.passRetained($0).toOpaque() }
        },
        close: { handle in
            if let handle { Unmanaged<KeyChannel>.fromOpaque(handle).release() }
        },
        read: { handle, buffer, size, milliseconds in
            guard let handle, let buffer else { return -1 }
            return Unmanaged<KeyChannel>.fromOpaque(handle).takeUnretainedValue()
                // SAFETY: libfido2's own memory, valid during this call.
                .read(UnsafeMutableRawBufferPointer(start: buffer, count: size), milliseconds)
        },
        write: { handle, buffer, size in
            guard let handle, let buffer else { return -1 }
            return Unmanaged<KeyChannel>.fromOpaque(handle).takeUnretainedValue()
                // SAFETY: libfido2's own memory, valid during this call.
                .write(UnsafeRawBufferPointer(start: buffer, count: size))
        }
    )

    /// Channels that libfido2 is about to open, by name: its callback gets only a name.
    private static let opening = Mutex<[String: KeyChannel]>([:])

    /// Makes libfido2 open the device on this channel, and returns its code.
    func open(_ device: OpaquePointer) -> Int32 {
        let name = "\(ObjectIdentifier(self))"
        Self.opening.withLock { $0[name] = self }
        defer { Self.opening.withLock { $0[name] = nil } }
        return fido_dev_open(device, name)
    }

    /// The cause of a libfido2 failure on this channel; nil if the key itself answered with an
    /// error.
    var fault: KeyFault? { isStopped ? .interrupted : state.withLock { $0.fault } }

    private var isStopped: Bool {
        var query = pollfd(fd: stop.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&query, 1, 0) > 0
    }

    private func fail(_ fault: KeyFault) -> Int32 {
        state.withLock { $0.fault = $0.fault ?? fault }
        return -1
    }

    // SAFETY: the buffer is libfido2's, and valid during this call.
    private func read(_ buffer: UnsafeMutableRawBufferPointer, _ milliseconds: Int32) -> Int32 {
        guard buffer.count == Self.packet else { return -1 }
        let limit = milliseconds < 0 ? Self.patience : min(milliseconds, Self.patience)
        var waiting = [
            pollfd(fd: stop.rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0),
        ]
        var count: Int32
        repeat { count = poll(&waiting, 2, limit) } while count < 0 && errno == EINTR
        if waiting[0].revents != 0 { return -1 }
        guard count > 0 else { return fail(.silent) }
        guard Glibc.read(descriptor.rawValue, buffer.baseAddress, buffer.count) == Self.packet
        else { return fail(.gone) }
        // SAFETY: a view of the bytes that were just read.
        look(at: UnsafeRawBufferPointer(buffer))
        return Int32(Self.packet)
    }

    /// Notices a wait for a touch and a busy key, which libfido2 does not report.
    // SAFETY: the pointer is not stored.
    private func look(at packet: UnsafeRawBufferPointer) {
        switch (packet[4], packet[7]) {
        case (0x80 | UInt8(CTAP_KEEPALIVE), 2):
            let isTime = state.withLock { state in
                defer { state.touchRequests += 1 }
                return state.touchRequests % Self.packetsBetweenReminders == 0
            }
            if isTime { onTouchNeeded() }
        case (0xbf, 0x06): _ = fail(.busy)
        default: break
        }
    }

    // SAFETY: the buffer is libfido2's, and valid during this call.
    private func write(_ buffer: UnsafeRawBufferPointer) -> Int32 {
        // The first byte is a report number, which these devices lack.
        guard let start = buffer.baseAddress, buffer.count == Self.packet + 1 else { return -1 }
        let sent =
            isSocket
            ? send(descriptor.rawValue, start + 1, Self.packet, Int32(MSG_NOSIGNAL)) + 1
            : Glibc.write(descriptor.rawValue, start, buffer.count)
        return sent == buffer.count ? Int32(buffer.count) : fail(.gone)
    }

    /// Reads the key's remaining packets after a cancel, so that it is idle when it is opened
    /// again.
    func drain() {
        var packet = [UInt8](repeating: 0, count: Self.packet)
        for _ in 0..<Self.mostLeft {
            var query = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
            guard poll(&query, 1, Self.pauseAfterCancel) > 0,
                Glibc.read(descriptor.rawValue, &packet, packet.count) == Self.packet
            else { return }
            // Any packet except a keepalive ends the request.
            if packet[4] != 0x80 | UInt8(CTAP_KEEPALIVE) { return }
        }
    }

    private static let mostLeft = 8
    private static let pauseAfterCancel: Int32 = 200
}
