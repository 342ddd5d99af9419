/// Who is at the other end: what the bus or the kernel says, never what a message says.
@BusActor
public final class Peer {
    /// The name of the other end of a socket pair, where there are no bus names.
    public nonisolated static let direct = ":peer"

    /// The unique name; `:peer` over a socket pair.
    public let name: String
    /// The user.
    ///
    /// Never `UInt32.max`.
    public let uid: UInt32
    /// The process id; greater than zero.
    ///
    /// The process may have ended, and the pid been reused.
    public let pid: Int32
    /// What its user has the service hold.
    let user: UserAllowance
    /// What it has not taken; nil where that isn't limited.
    let receiver: Receiver?
    /// Where it is; nil over a socket pair.
    private(set) weak var connection: Connection?
    /// Whether it has left the bus.
    public private(set) var hasLeft = false

    /// The methods whose calls are served before all that wait, and how often that was wished.
    private var first: [String: Int] = [:]

    /// Its calls that a ``CallQuota`` counts.
    var waiting: [CallQuota.Kind: Int] = [:]

    private var leaving: [UInt64: EventSource] = [:]
    private var tasks: [UInt64: Task<Void, Never>] = [:]
    private var count: UInt64 = 0

    /// Nil when the bus does not know who it is.
    init?(
        name: String,
        uid: UInt32?,
        pid: Int32?,
        on connection: Connection? = nil,
        user: (UInt32) -> UserAllowance = { _ in UserAllowance() }
    ) {
        guard let uid, let pid, uid != .max, pid > 0 else { return nil }
        self.name = name
        self.uid = uid
        self.pid = pid
        self.connection = connection
        receiver = connection?.receiver(name)
        self.user = user(uid)
    }

    /// Calls `body` once when the peer leaves, or soon if it has already left.
    public func onLeave(_ body: @escaping @BusActor () -> Void) -> EventSource {
        guard !hasLeft else { return EventLoop.shared.schedule(after: .zero, body) }
        count += 1
        let number = count
        let source = EventSource(body: body) { [weak self] in
            self?.leaving[number] = nil
        }
        leaving[number] = source
        return source
    }

    /// Has calls of one method served before all that wait, until the source is canceled: what a
    /// part of the service tells.
    ///
    /// Calls that wait are lost with a connection that leaves. All its other calls have their turn
    /// like anybody's.
    public func goesFirst(calling member: String, of interface: String) -> EventSource {
        let name = interface + "." + member
        first[name, default: 0] += 1
        return EventSource { [weak self] in
            guard let self, let count = first[name] else { return }
            first[name] = count > 1 ? count - 1 : nil
        }
    }

    /// Whether this call of it is served before all that wait.
    func goesFirst(with call: Message) -> Bool {
        guard !first.isEmpty, let interface = call.interface, let member = call.member else {
            return false
        }
        return first[interface + "." + member] != nil
    }

    /// Whether others than its own user and root may be on its bus; true where that isn't known.
    public var isOnSystemBus: Bool { connection.map { $0.address == .system } ?? true }

    /// Whether one more of its calls may wait for an answer.
    var mayWait: Bool { tasks.count < MessageLimits.waitingCalls }

    /// Whether one of its calls waits for an answer.
    var isWaiting: Bool { !tasks.isEmpty }

    /// Runs a task that is canceled when the peer leaves.
    func run(_ body: @escaping @BusActor @Sendable () async -> Void) {
        count += 1
        let number = count
        let task = onLoop {
            await body()
            self.tasks[number] = nil
        }
        if hasLeft {
            task.cancel()
        } else {
            tasks[number] = task
        }
    }

    func leave() {
        guard !hasLeft else { return }
        hasLeft = true
        for task in tasks.values {
            task.cancel()
        }
        tasks = [:]
        let sources = leaving.sorted { $0.key < $1.key }
        leaving = [:]
        for (_, source) in sources {
            source.fire()
        }
    }
}
