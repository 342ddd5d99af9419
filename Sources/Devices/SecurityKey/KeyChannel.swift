import CFido2
import CLinux
import Glibc
import Linux
import Synchronization

/// The way to one key: the packets of 64 bytes that libfido2 sends and receives.
///
/// libfido2 waits for a key as long as that has it wait; nothing ends the wait from outside.
/// Here each wait is also one for the caller's wish to stop.
final class KeyChannel: Sendable {
    /// What the channel itself saw, where libfido2 tells only that something failed.
    private struct State {
        var fault: KeyFault?
        /// How often the key has said that it waits for a touch.
        var waits = 0
    }

    static let packet = 64
    /// A key that works on something says so every 100 ms; nothing for so long: it is broken.
    private static let patience: Int32 = 5000
    /// What is between two reminders, in packets of a key that waits for a touch: ten seconds.
    private static let packetsBetweenReminders = 100

    private let descriptor: OwnedDescriptor
    private let isSocket: Bool
    private let stop: EventDescriptor
    private let waits: @Sendable () -> Void
    private let state = Mutex(State())

    /// Opens the way to a key, which then is this program's alone.
    ///
    /// `stop` ends every wait once it is signalled; `waits` is called when the key waits for a
    /// touch, and again every ten seconds.
    ///
    /// - Throws: ``KeyFault/busy`` when another program has it, ``KeyFault/gone`` when it isn't
    ///   there, or ``KeyFault/failed(_:)``.
    init(
        _ place: KeyPlace,
        stop: EventDescriptor,
        waits: @escaping @Sendable () -> Void
    ) throws(KeyFault) {
        descriptor = try place.isSocket ? Self.connected(to: place) : Self.opened(place)
        isSocket = place.isSocket
        self.stop = stop
        self.waits = waits
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
        // All that use libfido2 take this lock.
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

    /// What libfido2 opens, reads and writes with.
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
                // libfido2's own memory, for this call.
                .read(UnsafeMutableRawBufferPointer(start: buffer, count: size), milliseconds)
        },
        write: { handle, buffer, size in
            guard let handle, let buffer else { return -1 }
            return Unmanaged<KeyChannel>.fromOpaque(handle).takeUnretainedValue()
                // libfido2's own memory, for this call.
                .write(UnsafeRawBufferPointer(start: buffer, count: size))
        }
    )

    /// Channels that libfido2 is about to open: its callbacks are handed nothing but a name.
    private static let opening = Mutex<[String: KeyChannel]>([:])

    /// Has libfido2 open the device on this channel; its code.
    func open(_ device: OpaquePointer) -> Int32 {
        let name = "\(ObjectIdentifier(self))"
        Self.opening.withLock { $0[name] = self }
        defer { Self.opening.withLock { $0[name] = nil } }
        return fido_dev_open(device, name)
    }

    /// What a failure of libfido2 was on this channel; nil: the key itself answered with an error.
    var fault: KeyFault? { isStopped ? .interrupted : state.withLock { $0.fault } }

    private var isStopped: Bool {
        var query = pollfd(fd: stop.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&query, 1, 0) > 0
    }

    private func fail(_ fault: KeyFault) -> Int32 {
        state.withLock { $0.fault = $0.fault ?? fault }
        return -1
    }

    /// Fills libfido2's buffer.
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
        // The same bytes, not a copy.
        look(at: UnsafeRawBufferPointer(buffer))
        return Int32(Self.packet)
    }

    /// Notices what libfido2 doesn't tell: that the key waits for a touch, and that it has to do
    /// with another program.
    // A pointer, because that is what it was read to.
    private func look(at packet: UnsafeRawBufferPointer) {
        switch (packet[4], packet[7]) {
        case (0x80 | UInt8(CTAP_KEEPALIVE), 2):
            let isTime = state.withLock { state in
                defer { state.waits += 1 }
                return state.waits % Self.packetsBetweenReminders == 0
            }
            if isTime { waits() }
        case (0xbf, 0x06): _ = fail(.busy)
        default: break
        }
    }

    /// Sends what is in libfido2's buffer.
    private func write(_ buffer: UnsafeRawBufferPointer) -> Int32 {
        // The first byte is the number of the report, which these devices don't have.
        guard let start = buffer.baseAddress, buffer.count == Self.packet + 1 else { return -1 }
        let sent =
            isSocket
            ? send(descriptor.rawValue, start + 1, Self.packet, Int32(MSG_NOSIGNAL)) + 1
            : Glibc.write(descriptor.rawValue, start, buffer.count)
        return sent == buffer.count ? Int32(buffer.count) : fail(.gone)
    }

    /// Takes what the key still says after it was told to stop, so that it is idle when it is
    /// opened the next time.
    func drain() {
        var packet = [UInt8](repeating: 0, count: Self.packet)
        for _ in 0..<Self.mostLeft {
            var query = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
            guard poll(&query, 1, Self.pauseAfterCancel) > 0,
                Glibc.read(descriptor.rawValue, &packet, packet.count) == Self.packet
            else { return }
            // Anything but a keepalive ends what was asked.
            if packet[4] != 0x80 | UInt8(CTAP_KEEPALIVE) { return }
        }
    }

    private static let mostLeft = 8
    private static let pauseAfterCancel: Int32 = 200
}
