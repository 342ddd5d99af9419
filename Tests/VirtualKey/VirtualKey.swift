import Glibc
import Linux
import Synchronization

/// A security key that is plugged in to a folder.
///
/// A socket in the folder replaces the device for the sensor.
public final class VirtualKey: Sendable {
    private struct State {
        var desk: PacketDesk
        var listening: OwnedDescriptor?
        var connection: OwnedDescriptor?
    }

    /// An event of a key, reported on the key's own thread.
    public enum Event: Hashable, Sendable {
        case waits
        /// The host cancelled the request.
        case canceled
    }

    private let path: String
    private let state: Mutex<State>
    private let thread: SerialThread
    private let wake: EventDescriptor
    private let told: @Sendable (Event) -> Void

    /// Milliseconds between two keepalives of a waiting key.
    private static let interval: Int32 = 20

    public init(
        in folder: String,
        named name: String = "one",
        _ manners: KeyBehaviour = KeyBehaviour(),
        told: @escaping @Sendable (Event) -> Void = { _ in }
    ) throws {
        path = "\(folder)/\(name).key"
        state = Mutex(State(desk: PacketDesk(manners)))
        thread = try SerialThread(named: "virtual key")
        wake = try EventDescriptor()
        self.told = told
        try plug()
    }

    deinit {
        unplug()
        thread.close()
    }

    public func changeBehaviour(_ change: (inout KeyBehaviour) -> Void) {
        state.withLock { change(&$0.desk.manners) }
    }

    public var waits: Bool { state.withLock { $0.desk.waits } }
    public var requests: Int { state.withLock { $0.desk.requests } }
    public var ignored: Int { state.withLock { $0.desk.ignored } }
    public var cancels: Int { state.withLock { $0.desk.cancels } }

    /// Touches the key; returns false if it did not wait for a touch.
    @discardableResult public func touch(_ touch: Touch = .right) -> Bool {
        state.withLock { state in
            let packets = state.desk.touch(touch)
            Self.send(packets, state.connection)
            return !packets.isEmpty
        }
    }

    /// Sends this many keepalives at once: as many as a real key sends in `count / 10` seconds.
    public func remind(_ count: Int) {
        state.withLock { state in
            guard let packet = state.desk.keepalive else { return }
            for _ in 0..<count { Self.send([packet], state.connection) }
        }
    }

    public func unplug() {
        unlink(path)
        state.withLock { state in
            state.desk.close()
            for end in [state.connection, state.listening] {
                if let end { shutdown(end.rawValue, Int32(SHUT_RDWR)) }
            }
            (state.connection, state.listening) = (nil, nil)
        }
        wake.signal()
    }

    /// Plugs the key in again with its credentials.
    public func plug() throws {
        let listening = try Self.listen(at: path)
        state.withLock { $0.listening = listening }
        thread.perform { [weak self] in
            while self?.serve(listening) == true {}
        }
    }

    // MARK: Its thread

    /// Handles a pending event; returns false after the key was unplugged.
    private func serve(_ listening: OwnedDescriptor) -> Bool {
        let (current, connection) = state.withLock { ($0.listening, $0.connection) }
        guard current == listening else { return false }
        var waiting = [
            pollfd(fd: wake.rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: (connection ?? listening).rawValue, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&waiting, 2, Self.interval) > 0 else {
            state.withLock { Self.send($0.desk.keepalive.map { [$0] } ?? [], $0.connection) }
            return true
        }
        if waiting[0].revents != 0 { wake.clear() }
        guard waiting[1].revents != 0 else { return true }
        if let connection { read(connection) } else { accept(listening) }
        return true
    }

    private func accept(_ listening: OwnedDescriptor) {
        let accepted = Glibc.accept(listening.rawValue, nil, nil)
        guard accepted >= 0 else { return }
        let connection = OwnedDescriptor(adopting: accepted)
        state.withLock { if $0.listening == listening { $0.connection = connection } }
    }

    private func read(_ connection: OwnedDescriptor) {
        var packet = [UInt8](repeating: 0, count: PacketDesk.size)
        let count = recv(connection.rawValue, &packet, packet.count, 0)
        let events = state.withLock { state -> [Event] in
            guard state.connection == connection else { return [] }
            guard count == PacketDesk.size else {
                state.desk.close()
                state.connection = nil
                return []
            }
            let (requests, cancels) = (state.desk.requests, state.desk.cancels)
            Self.send(state.desk.receive(packet), connection)
            return (state.desk.requests > requests ? [.waits] : [])
                + (state.desk.cancels > cancels ? [.canceled] : [])
        }
        for event in events { told(event) }
    }

    private static func send(_ packets: [[UInt8]], _ connection: OwnedDescriptor?) {
        guard let connection else { return }
        for packet in packets {
            // Ignore errors: the host may have disconnected.
            _ = Glibc.send(connection.rawValue, packet, packet.count, Int32(MSG_NOSIGNAL))
        }
    }

    private static func listen(at path: String) throws -> OwnedDescriptor {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let listening = OwnedDescriptor(adopting: socket(AF_UNIX, kind, 0))
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listening.rawValue, $0, size)
            }
        }
        guard result == 0, Glibc.listen(listening.rawValue, 8) == 0 else {
            throw SystemError(errno: errno, "The key can't be plugged in", path: path)
        }
        return listening
    }
}
