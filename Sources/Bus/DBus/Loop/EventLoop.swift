import Glibc
import Linux
import Synchronization

// What other threads reach is `inbox`, `thread` and `stopping`, each with its own protection;
// `jobs` is touched on the loop's thread only.

/// The one thread on which buses, timers, descriptors and the jobs of ``BusActor`` are served.
///
/// It is the executor of the actor, and of every task started by ``onLoop(_:)``.
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    /// The loop of this process.
    public static let shared = EventLoop()

    /// Jobs from other threads, and whether the loop has been woken for them.
    private struct Inbox {
        var jobs: [UnownedJob] = []
        var isSignaled = false
    }

    private let inbox = Mutex(Inbox())
    private let thread = Atomic<UInt>(0)
    private let stopping = Atomic<Bool>(false)
    /// The process whose thread serves the loop.
    private let home = Atomic<pid_t>(0)
    private let wakeUp: EventDescriptor
    private var jobs: [UnownedJob] = []
    private var running: [UnownedJob] = []

    private init() {
        do {
            wakeUp = try EventDescriptor()
        } catch {
            endWithout(error)
        }
    }

    /// Serves everything on the calling thread until ``stop()``.
    ///
    /// Does nothing when the loop runs.
    public func run() {
        guard claim() else { return }
        while !stopping.load(ordering: .acquiring) {
            turn()
        }
        stopping.store(false, ordering: .releasing)
        // Remaining jobs are left for the next run of the loop.
        let left = jobs
        jobs = []
        inbox.withLock { $0.jobs.insert(contentsOf: left, at: 0) }
        thread.store(0, ordering: .releasing)
    }

    /// Serves everything on the calling thread while the loop of another library runs there.
    ///
    /// - Parameter outer: Runs that loop, which calls ``prepare()`` before each wait, waits for
    ///   ``descriptor`` beside its own, and calls ``serve()`` when there is something to do.
    public func run(within outer: () -> Void) {
        guard claim() else { return }
        outer()
        thread.store(0, ordering: .releasing)
    }

    /// What an outer loop waits for: readable when there is something to do.
    ///
    /// It may be another one after each ``serve()``.
    @BusActor public var descriptor: Int32 { EventSources.shared.descriptor }

    /// Gets ready for the wait of an outer loop.
    ///
    /// - Returns: How long it may wait, in milliseconds; 0: not at all, -1: for ever.
    @BusActor public func prepare() -> Int32 {
        jobs.isEmpty ? EventSources.shared.prepare(wakeUp.rawValue) : 0
    }

    /// Does what there is to do, and waits for nothing.
    @BusActor public func serve() { turn(waits: false) }

    /// Whether this process is a fork of the one that serves the loop: nothing is served here.
    public var isLeftBehind: Bool {
        let home = home.load(ordering: .acquiring)
        return home != 0 && home != getpid()
    }

    /// Serves everything on a new thread.
    ///
    /// Does nothing when the loop runs already.
    public func startThread() {
        guard thread.load(ordering: .acquiring) == 0, !isLeftBehind else { return }
        home.store(getpid(), ordering: .releasing)
        var identifier = pthread_t()
        let code = pthread_create(
            &identifier,
            nil,
            { _ in
                EventLoop.shared.run()
                return nil
            },
            nil
        )
        if code != 0 { endWithout("a thread", code) }
        pthread_detach(identifier)
    }

    /// Ends ``run()`` after the current turn.
    ///
    /// Any thread may call it.
    public func stop() {
        stopping.store(true, ordering: .releasing)
        wakeUp.signal()
    }

    /// Calls `body` once after so long on CLOCK_BOOTTIME, which counts suspended time.
    @BusActor
    public func schedule(
        after duration: Duration,
        _ body: @escaping @BusActor () -> Void
    ) -> EventSource {
        EventSources.shared.addTimer(after: duration, body)
    }

    /// Calls `body` whenever nothing has happened for some seconds, once until something does.
    ///
    /// That is one wake-up after the last thing that happened, and then none.
    @BusActor
    public func onRest(_ body: @escaping @BusActor () -> Void) {
        EventSources.shared.onRest = body
    }

    /// Calls `body` whenever the descriptor is readable or hung up, until the source is canceled.
    ///
    /// The descriptor stays the caller's: cancel before closing it.
    @BusActor
    public func watch(
        descriptor: Int32,
        _ body: @escaping @BusActor () -> Void
    ) -> EventSource {
        EventSources.shared.addWatch(descriptor, body)
    }

    /// Blocks the signal on this thread and calls `body` whenever it comes.
    @BusActor
    public func onSignal(_ number: Int32, _ body: @escaping @BusActor () -> Void) -> EventSource {
        EventSources.shared.addSignal(number, body)
    }

    // MARK: Executor

    /// Takes a job; the caller may be on any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrentThread {
            jobs.append(job)
            return
        }
        let needsWake = inbox.withLock { inbox in
            inbox.jobs.append(job)
            defer { inbox.isSignaled = true }
            return !inbox.isSignaled
        }
        if needsWake {
            wakeUp.signal()
        }
    }

    /// Whether the caller is on the loop's thread.
    public func isIsolatingCurrentContext() -> Bool? { isCurrentThread }

    /// Traps when the caller is not on the loop's thread.
    public func checkIsolated() {
        precondition(isCurrentThread, "Only the loop's thread may do this.")
    }

    var isCurrentThread: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    // MARK: One turn

    private func claim() -> Bool {
        thread.compareExchange(
            expected: 0,
            desired: UInt(pthread_self()),
            ordering: .acquiringAndReleasing
        )
        .exchanged
    }

    /// Messages and jobs until there are none, and then one wait.
    ///
    /// While there are always more, timers and other threads get their turn all the same.
    private func turn(waits: Bool = true) {
        var isBusy = true
        for _ in 0..<Self.roundsOfMessages where isBusy && !stopping.load(ordering: .acquiring) {
            isBusy = BusActor.assume { EventSources.shared.processConnections() }
            isBusy = runJobs() || isBusy
        }
        let isWoken = BusActor.assume {
            EventSources.shared.wait(wakeUp.rawValue, isBusy: isBusy || !waits)
        }
        if isWoken {
            takeInbox()
        }
    }

    /// So few that the others wait for a millisecond or two, so many that looking costs nothing.
    private static let roundsOfMessages = 64

    private func takeInbox() {
        wakeUp.clear()
        inbox.withLock { inbox in
            jobs.append(contentsOf: inbox.jobs)
            inbox.jobs.removeAll(keepingCapacity: true)
            inbox.isSignaled = false
        }
    }

    /// Runs what is queued and what that queues, a few rounds deep, so that neither starves.
    private func runJobs() -> Bool {
        guard !jobs.isEmpty else { return false }
        for _ in 0..<8 where !jobs.isEmpty {
            swap(&jobs, &running)
            for job in running {
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(),
                    taskExecutor: asUnownedTaskExecutor()
                )
            }
            running.removeAll(keepingCapacity: true)
        }
        return true
    }
}
