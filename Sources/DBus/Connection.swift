import CLinux
import CReceive
import CSystemd
import Glibc
public import Linux

/// One connection: to a bus, or straight to another process over a socket pair.
///
/// The loop keeps it alive until ``close()`` or until the other end is gone.
@BusActor
public final class Connection {
    /// Where a bus is.
    public enum Address: Sendable, Hashable {
        /// The system bus.
        case system
        /// The bus of the user's session.
        case session
        /// A D-Bus address, such as `unix:path=/run/bus`.
        case address(String)

        /// `system`, `session`, or an address.
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

    /// Where the bus is; nil over a socket pair.
    public let address: Address?
    /// Whether there is no bus in between.
    public let isPeerToPeer: Bool
    /// The own unique name; `:peer` over a socket pair.
    public let uniqueName: String

    /// Used on the loop's thread only; `deinit` dispatches there.
    nonisolated(unsafe) let bus: OpaquePointer
    let descriptor: Int32
    private(set) var isOpen = true
    private var disconnected: [@BusActor () -> Void] = []

    /// The timeout of a call that names none.
    public var callTimeout = Duration.seconds(25)
    /// How many calls of this connection may be unanswered, for whom.
    public let budget = CallBudget()
    /// What callers may make this connection's service hold; nil: what each connection may.
    public var quota: CallQuota?
    /// Why a method is not to be called now; nil: it may be.
    public var gate: (@BusActor (_ member: String, _ interface: String) -> DBusError?)?

    /// Told of each call that is refused before anything was done about it: who called which
    /// member, and the error.
    public var onRefusal: (@BusActor (Peer, _ member: String, DBusError) -> Void)?

    // The parts of a connection, each with its own file.
    var pending: [UInt64: PendingCall] = [:]
    /// The number of the call that was sent last, but for those to the bus itself.
    var lastCall: UInt64 = 0
    /// Those whose time is over, while something waits to be read.
    var overdue: Set<UInt64> = []
    var subscriptions: [String: [Subscription]] = [:]
    var nameWatches: [NameWatch] = []
    var peers: [String: Peer] = [:]
    /// By uid; those of users who have left, and left nothing behind, are gone.
    var users: [UInt32: UserReference] = [:]
    var lookUps: [String: PeerLookUp] = [:]
    /// What the calls of all look-ups take.
    var lookUpBytes = 0
    var watchesPeers = false
    let nameCatchUps = SharedLookUps<Bool, Void>()
    /// Who owns which name was asked since anything came from outside.
    var ownerQuestions = OwnerQuestions()
    /// While it runs, no other refusal is a reason to ask who is still there.
    var doubtPause: EventSource?
    var directPeer: Peer?
    /// By name; empty unless ``serveStrangers()`` was called.
    var receivers: [String: Receiver] = [:]
    /// Who waits to be served.
    var turns = Turns()
    /// How many messages in a row were read while others waited to be served.
    private var readInRow = 0
    /// How many calls were served before all that wait, since one of those had its turn.
    var firstInRow = 0
    /// Whether there was room a moment ago, and nothing was sent to a stranger since.
    var isKnownToHaveRoom = false
    /// How often in a row there was more to read than fits into the socket.
    private var burstsInRow = 0
    var servesStrangers = false
    var countsUnread = false
    /// What all receivers together may not have taken yet.
    var unread = Amount()
    /// What waits here to be sent to strangers.
    var outgoing = Amount()
    /// What sd-bus receives here; nil over a socket pair.
    ///
    /// Used on the loop's thread only.
    nonisolated(unsafe) let watch: OpaquePointer?
    /// What sd-bus has handed over in this turn.
    private var arrived: Message?
    /// How many calls have been served so far.
    public internal(set) var served: UInt64 = 0
    /// Whether a call is not answered yet.
    public var isAnswering: Bool {
        !turns.isEmpty || !lookUps.isEmpty || peers.values.contains { $0.isWaiting }
    }
    var objects: [String: ExportedObject] = [:]
    var objectManagers: [String] = []

    /// Connects to a bus and says Hello.
    ///
    /// Blocking: for start-up only.
    ///
    /// - Throws: `NoServer` when there is no bus, `Disconnected` when it refuses.
    public init(_ address: Address) throws(DBusError) {
        let opened = try Self.open(address)
        // sd-bus hands its own string out; it is copied at once.
        var name: UnsafePointer<CChar>?
        guard sd_bus_get_unique_name(opened, &name) >= 0, let name else {
            sd_bus_close_unref(opened)
            throw DBusError(.disconnected, "The bus cannot be reached.")
        }
        let descriptor = sd_bus_get_fd(opened)
        guard let watch = receive_watch_new(descriptor) else {
            sd_bus_close_unref(opened)
            throw DBusError(.disconnected, "There is no memory for a connection.")
        }
        bus = opened
        self.descriptor = descriptor
        self.watch = watch
        self.address = address
        isPeerToPeer = false
        uniqueName = String(cString: name)
        listen()
    }

    /// Serves the process at the other end of a socket pair.
    ///
    /// Does not block.
    ///
    /// - Throws: `AccessDenied` when the kernel does not say who that is.
    public convenience init(server descriptor: consuming OwnedDescriptor) throws(DBusError) {
        try self.init(direct: descriptor, isServer: true)
    }

    /// Calls the process at the other end of a socket pair.
    ///
    /// Does not block.
    ///
    /// - Throws: `AccessDenied` when the kernel does not say who that is.
    public convenience init(client descriptor: consuming OwnedDescriptor) throws(DBusError) {
        try self.init(direct: descriptor, isServer: false)
    }

    private init(direct end: OwnedDescriptor, isServer: Bool) throws(DBusError) {
        guard let peer = Self.peer(at: end) else {
            throw DBusError(.accessDenied, "The other end cannot be identified.")
        }
        guard let opened = Self.open(end, isServer: isServer) else {
            throw DBusError(.disconnected, "The connection cannot be started.")
        }
        bus = opened
        descriptor = sd_bus_get_fd(opened)
        address = nil
        isPeerToPeer = true
        uniqueName = Peer.direct
        directPeer = peer
        watch = nil
        listen()
    }

    deinit {
        if let watch { receive_watch_free(watch) }
        // sd-bus is used on the loop's thread only.
        if EventLoop.shared.isCurrentThread {
            sd_bus_close_unref(bus)
        } else {
            let reference = UInt(bitPattern: bus)
            onLoop { sd_bus_close_unref(OpaquePointer(bitPattern: reference)) }
        }
    }

    /// Calls `body` when the other end is gone; not after ``close()``.
    public func onDisconnect(_ body: @escaping @BusActor () -> Void) {
        disconnected.append(body)
    }

    /// Writes out what is queued, what waits for its turn too.
    ///
    /// Blocks until the other end has taken it: for shutdown.
    public func flush() {
        deliverAll()
        sd_bus_flush(bus)
    }

    /// Ends the connection.
    ///
    /// Calls fail with `Disconnected`, peers leave.
    public func close() {
        disconnected = []
        end()
    }

    // MARK: For the loop

    /// What to poll for.
    var pollEvents: Int16 {
        let events = Int16(truncatingIfNeeded: max(0, sd_bus_get_events(bus)))
        // Whoever waits has a turn when the other end has taken what was sent.
        return turns.isEmpty ? events : events | Int16(POLLOUT)
    }

    /// When sd-bus wants a turn, in microseconds of CLOCK_MONOTONIC; `.max`: never.
    var deadline: UInt64 {
        var deadline = UInt64.max
        sd_bus_get_timeout(bus, &deadline)
        return deadline
    }

    /// Reads one message, or serves one of those who wait.
    ///
    /// False when there is nothing to do.
    func processOne() -> Bool {
        guard isOpen else { return false }
        let hasRead = readOne()
        if !hasRead {
            // Before anything is served, which takes longer than to read hundreds of calls.
            if isBehind() { return true }
            finishOverdue()
        }
        readInRow = hasRead ? readInRow + 1 : 0
        // Answers to calls of this side may lie behind strangers' calls: reading goes first.
        guard readInRow.isMultiple(of: Self.readsBeforeTurn) else { return true }
        burstsInRow = 0
        firstInRow = 0
        return serveNext() || hasRead
    }

    /// More than fit into a socket: the bus keeps the others, and from 64 descriptors on loses what
    /// this side is answered.
    private static let readsBeforeTurn = 256

    /// Waits a moment for what the bus has kept back, if so much came that it filled the socket.
    ///
    /// False when no more has come, or so much came in a row that others have their turn.
    private func isBehind() -> Bool {
        guard let watch, receive_watch_take_news(watch) >= Self.burst, !turns.isEmpty,
            burstsInRow < Self.burstsBeforeTurn, isReady(POLLIN, within: 2)
        else { return false }
        burstsInRow += 1
        return true
    }

    /// About as many bytes of small messages as a socket takes.
    private static let burst = 32 * 1024
    private static let burstsBeforeTurn = 32

    private func readOne() -> Bool {
        if let watch { receive_watch_begin(watch) }
        let result = sd_bus_process(bus, nil)
        // So much was left out that timers and other connections have their turn.
        var hasPaused = false
        if let watch { hasPaused = receive_watch_end(watch) != 0 }
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
        return result > 0 || hasPaused
    }

    /// Has sd-bus hand over every message, those included that it would answer itself.
    private func listen() {
        let callback: sd_bus_message_handler_t = { pointer, context, _ in
            guard let pointer, let context else { return 0 }
            let reference = (message: UInt(bitPattern: pointer), owner: UInt(bitPattern: context))
            BusActor.assume {
                guard let message = OpaquePointer(bitPattern: reference.message),
                    // A number meanwhile: pointers can't be taken into the closure.
                    let owner = UnsafeRawPointer(bitPattern: reference.owner)
                else { return }
                // sd-bus calls back for a connection that is being served, and lives therefore.
                Unmanaged<Connection>.fromOpaque(owner).takeUnretainedValue().take(message)
            }
            return 1
        }
        // The filter goes with the bus, which is this object's.
        sd_bus_add_filter(bus, nil, callback, Unmanaged.passUnretained(self).toOpaque())
        EventSources.shared.add(self)
    }

    private func take(_ pointer: OpaquePointer) {
        guard let kept = sd_bus_message_ref(pointer) else { return }
        var (descriptors, size) = (0, 0)
        if let watch {
            descriptors = receive_watch_hand_over(watch)
            size = Int(clamping: receive_watch_size(watch))
        }
        let message = Message(adopting: kept, descriptors: descriptors, size: size)
        message.isBounded = servesStrangers
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
        for call in pending.values.sorted(by: { $0.serial < $1.serial }) {
            call.finish(.failure(error))
        }
        forgetPeers(error)
        forgetReceivers()
        subscriptions = [:]
        nameWatches = []
        objects = [:]
    }
}

// MARK: Opening

extension Connection {
    private static func open(_ address: Address) throws(DBusError) -> OpaquePointer {
        var bus: OpaquePointer?
        let result =
            switch address {
            case .system: sd_bus_open_system(&bus)
            case .session: sd_bus_open_user(&bus)
            case .address(let text): open(text, &bus)
            }
        if result >= 0, let bus { return bus }
        // No socket, nobody who listens on it, or nothing that says where it is.
        let isNowhere = [ENOENT, ENOTDIR, ECONNREFUSED, ENOMEDIUM].contains(-result)
        throw DBusError(isNowhere ? .noServer : .disconnected, "The bus cannot be reached.")
    }

    private static func open(_ text: String, _ opened: inout OpaquePointer?) -> Int32 {
        var new: OpaquePointer?
        let made = sd_bus_new(&new)
        guard made >= 0, let bus = new else { return made }
        var result = sd_bus_set_address(bus, text)
        if result >= 0 { result = sd_bus_set_bus_client(bus, 1) }
        if result >= 0 { result = sd_bus_negotiate_fds(bus, 1) }
        if result >= 0 { result = sd_bus_start(bus) }
        if result >= 0 { opened = bus } else { sd_bus_unref(bus) }
        return result
    }

    /// sd-bus closes what it is given, so it gets a copy.
    private static func open(_ end: OwnedDescriptor, isServer: Bool) -> OpaquePointer? {
        let copy = fcntl(end.rawValue, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { return nil }
        var bus: OpaquePointer?
        guard sd_bus_new(&bus) >= 0, let bus else {
            Glibc.close(copy)
            return nil
        }
        guard sd_bus_set_fd(bus, copy, copy) >= 0 else {
            Glibc.close(copy)
            sd_bus_unref(bus)
            return nil
        }
        var identity = sd_id128_t()
        guard sd_id128_randomize(&identity) >= 0,
            !isServer || sd_bus_set_server(bus, 1, identity) >= 0,
            sd_bus_negotiate_fds(bus, 1) >= 0, sd_bus_start(bus) >= 0
        else {
            sd_bus_unref(bus)
            return nil
        }
        return bus
    }

    private static func peer(at end: OwnedDescriptor) -> Peer? {
        var credentials = ucred()
        var size = socklen_t(MemoryLayout<ucred>.size)
        guard getsockopt(end.rawValue, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else {
            return nil
        }
        return Peer(name: Peer.direct, uid: credentials.uid, pid: credentials.pid)
    }
}
