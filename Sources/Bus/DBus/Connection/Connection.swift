import CSystemd
import Glibc

/// A connection to a bus.
///
/// The loop keeps the connection alive until ``close()`` or until the bus is gone.
@BusActor
public final class Connection {
    public enum Address: Sendable, Hashable {
        case system
        case session
        case address(String)

        /// Parses `system`, `session`, or a D-Bus address such as `unix:path=/run/bus`.
        public init(argument: String) {
            switch argument {
            case "system": self = .system
            case "session": self = .session
            default: self = .address(argument)
            }
        }
    }

    /// A timeout so long (ten years) that no timer is started for it.
    public nonisolated static let noTimeout = Duration.seconds(10 * 365 * 86_400)

    public let address: Address
    /// The connection's own unique name.
    public let uniqueName: String
    /// The default timeout of calls.
    public var callTimeout = Duration.seconds(25)
    /// Bounds callers.
    ///
    /// Without a guard, each call is served when it arrives.
    package var callGuard: (any CallGuard)?
    /// Called for each call that is refused before any work.
    public var onRefusal: (@BusActor (Peer, _ member: String, DBusError) -> Void)?

    // SAFETY: used on the loop's thread alone; `deinit` dispatches there.
    nonisolated(unsafe) let bus: OpaquePointer
    package let descriptor: Int32
    private(set) var isOpen = true
    private var disconnected: [@BusActor () -> Void] = []
    /// The message that sd-bus has handed over in this turn.
    private var arrived: Message?
    /// The number of calls served so far.
    public internal(set) var served: UInt64 = 0

    // State of the parts, each implemented in a file of its own.
    var outgoing = OutgoingCalls()
    var subscriptions: [String: [Subscription]] = [:]
    var names = NameState()
    var directory = PeerDirectory()
    var objects = ObjectTree()

    /// Connects to a bus and says Hello.
    ///
    /// Descriptors never cross the connection.
    ///
    /// Blocks: for start-up only.
    ///
    /// - Throws: `NoServer` when there is no bus, `Disconnected` when the bus refuses.
    public init(_ address: Address) throws(DBusError) {
        let opened = try Self.open(address, takingDescriptors: false)
        // SAFETY: sd-bus lends its own string, which is copied at once.
        var name: UnsafePointer<CChar>?
        guard sd_bus_get_unique_name(opened, &name) >= 0, let name else {
            sd_bus_close_unref(opened)
            throw DBusError(.disconnected, "The bus cannot be reached.")
        }
        bus = opened
        descriptor = sd_bus_get_fd(opened)
        self.address = address
        uniqueName = String(cString: name)
        listen()
    }

    deinit {
        // sd-bus is used on the loop's thread only.
        if EventLoop.shared.isCurrentThread {
            sd_bus_close_unref(bus)
        } else {
            let reference = UInt(bitPattern: bus)
            onLoop { sd_bus_close_unref(OpaquePointer(bitPattern: reference)) }
        }
    }

    /// Whether any call is still unanswered.
    public var isAnswering: Bool {
        callGuard?.hasWaitingCalls == true || directory.isBusy
    }

    /// Calls `body` when the bus is gone, but not after ``close()``.
    public func onDisconnect(_ body: @escaping @BusActor () -> Void) {
        disconnected.append(body)
    }

    /// Writes queued messages, and blocks until the bus has taken them.
    ///
    /// For shutdown.
    public func flush() { sd_bus_flush(bus) }

    /// Ends the connection.
    ///
    /// Pending calls fail with `Disconnected`, and peers leave.
    public func close() {
        disconnected = []
        end()
    }

    // MARK: For the loop

    /// The events to poll for.
    ///
    /// Waiting calls are served when the socket can be written.
    var pollEvents: Int16 {
        let events = Int16(truncatingIfNeeded: max(0, sd_bus_get_events(bus)))
        return callGuard?.hasWaitingCalls == true ? events | Int16(POLLOUT) : events
    }

    /// When sd-bus wants a turn, in microseconds of CLOCK_MONOTONIC; `.max` for never.
    var deadline: UInt64 {
        var deadline = UInt64.max
        sd_bus_get_timeout(bus, &deadline)
        return deadline
    }

    /// Reads a message, or lets the guard serve a waiting call.
    ///
    /// - Returns: False when no work is left.
    func processOne() -> Bool {
        guard isOpen else { return false }
        let hasRead = readOne()
        return callGuard?.serveNext(hasRead: hasRead) == true || hasRead
    }

    /// Returns whether the socket is ready, without blocking.
    package func isReady(_ events: Int32) -> Bool {
        var state = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return poll(&state, 1, 0) > 0
    }

    package var hasWrittenAll: Bool { sd_bus_get_events(bus) & POLLOUT == 0 }

    private func readOne() -> Bool {
        let result = sd_bus_process(bus, nil)
        if let message = arrived {
            arrived = nil
            EventSources.shared.noteMessage()
            receive(message)
        }
        if result < 0 || sd_bus_is_open(bus) <= 0 {
            let bodies = disconnected
            end()
            for body in bodies {
                body()
            }
        }
        return result > 0
    }

    /// Makes sd-bus hand over every message, including calls that it would answer itself.
    private func listen() {
        let callback: sd_bus_message_handler_t = { pointer, context, _ in
            guard let pointer, let context else { return 0 }
            let reference = (message: UInt(bitPattern: pointer), owner: UInt(bitPattern: context))
            BusActor.assume {
                guard let message = OpaquePointer(bitPattern: reference.message),
                    // SAFETY: sd-bus passes back the pointer that was registered below.
                    let owner = UnsafeRawPointer(bitPattern: reference.owner)
                else { return }
                // SAFETY: sd-bus calls back only during `sd_bus_process`, while the connection
                // lives.
                Unmanaged<Connection>.fromOpaque(owner).takeUnretainedValue().take(message)
            }
            return 1
        }
        // SAFETY: the filter lives as long as the bus, which this object owns.
        sd_bus_add_filter(bus, nil, callback, Unmanaged.passUnretained(self).toOpaque())
        EventSources.shared.add(self)
    }

    private func take(_ pointer: OpaquePointer) {
        // Drop the call here, so that it costs little more than reading it.
        if let callGuard, sd_bus_message_get_expect_reply(pointer) == 0,
            let sender = sd_bus_message_get_sender(pointer),
            callGuard.drops(unansweredCallOf: String(cString: sender))
        {
            var type: UInt8 = 0
            sd_bus_message_get_type(pointer, &type)
            if Int(type) == SD_BUS_MESSAGE_METHOD_CALL { return }
        }
        guard let message = Message(sharing: pointer) else { return }
        message.isBounded = callGuard != nil
        arrived = message
    }

    private func receive(_ message: Message) {
        switch Int(message.type) {
        case SD_BUS_MESSAGE_METHOD_CALL: receive(call: message)
        case SD_BUS_MESSAGE_SIGNAL: receive(signal: message)
        case SD_BUS_MESSAGE_METHOD_RETURN, SD_BUS_MESSAGE_METHOD_ERROR: receive(reply: message)
        default: break
        }
    }

    private func end() {
        guard isOpen else { return }
        isOpen = false
        EventSources.shared.remove(self)
        sd_bus_close(bus)
        disconnected = []
        let error = DBusError(.disconnected, "The connection is closed.")
        for call in outgoing.pending.values.sorted(by: { $0.serial < $1.serial }) {
            call.finish(.failure(error))
        }
        forgetPeers(error)
        callGuard?.connectionEnded()
        subscriptions = [:]
        names.watches = []
        objects = ObjectTree()
    }
}

// MARK: Opening

extension Connection {
    nonisolated static func open(
        _ address: Address,
        takingDescriptors: Bool
    ) throws(DBusError) -> OpaquePointer {
        var bus: OpaquePointer?
        var result = sd_bus_new(&bus)
        if result >= 0, let bus {
            result = locate(address, bus)
            if result >= 0 { result = sd_bus_set_bus_client(bus, 1) }
            // The bus delivers no descriptor here, and refuses calls that carry any (L30).
            if result >= 0 { result = sd_bus_negotiate_fds(bus, takingDescriptors ? 1 : 0) }
            if result >= 0 { result = sd_bus_start(bus) }
            if result >= 0 { return bus }
            sd_bus_unref(bus)
        }
        // No socket, no listener on it, or no address.
        let isNowhere = [ENOENT, ENOTDIR, ECONNREFUSED, ENOMEDIUM].contains(-result)
        throw DBusError(isNowhere ? .noServer : .disconnected, "The bus cannot be reached.")
    }

    /// Sets the address that sd-bus itself would choose.
    private nonisolated static func locate(_ address: Address, _ bus: OpaquePointer) -> Int32 {
        switch address {
        case .system:
            let set = getenv("DBUS_SYSTEM_BUS_ADDRESS")
            guard let set else { return sd_bus_set_address(bus, systemBus) }
            return sd_bus_set_address(bus, set)
        case .session:
            if let set = getenv("DBUS_SESSION_BUS_ADDRESS") { return sd_bus_set_address(bus, set) }
            guard let folder = getenv("XDG_RUNTIME_DIR") else { return -ENOMEDIUM }
            let path = String(cString: folder).escapedForAddress
            return sd_bus_set_address(bus, "unix:path=\(path)/bus")
        case .address(let text): return sd_bus_set_address(bus, text)
        }
    }

    private nonisolated static let systemBus = "unix:path=/run/dbus/system_bus_socket"
}

extension String {
    /// The text as a value of a D-Bus address: bytes outside plain paths become `%xx`.
    fileprivate var escapedForAddress: String {
        let plain = "-_/.*ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        var result = ""
        for byte in utf8 {
            let character = Character(Unicode.Scalar(byte))
            let code = String(byte, radix: 16)
            result +=
                plain.contains(character) ? String(character) : "%" + (byte < 16 ? "0" : "") + code
        }
        return result
    }
}
