/// The process at the other end, as the bus identifies it, never by its own claim.
@BusActor
public final class Peer {
    /// The peer's unique name.
    public let name: String
    /// The peer's user.
    ///
    /// Never `UInt32.max`.
    public let uid: UInt32
    /// The process id, greater than zero.
    ///
    /// The process may have ended, and its pid may be reused.
    public let pid: Int32
    package private(set) weak var connection: Connection?
    public private(set) var hasLeft = false

    private var leaving: [UInt64: EventSource] = [:]
    private var tasks: [UInt64: Task<Void, Never>] = [:]
    private var count: UInt64 = 0

    /// Returns nil when the bus does not know the user or the process.
    init?(name: String, uid: UInt32?, pid: Int32?, on connection: Connection) {
        guard let uid, let pid, uid != .max, pid > 0 else { return nil }
        self.name = name
        self.uid = uid
        self.pid = pid
        self.connection = connection
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

    /// Whether another of the peer's calls may wait for an answer.
    var mayWait: Bool { tasks.count < MessageLimits.waitingCalls }

    /// Whether any of the peer's calls waits for an answer.
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
