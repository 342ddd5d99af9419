import Glibc
import Linux
import Synchronization

// Other threads reach `inbox`, `thread` and `stopping`, each with its own protection. `jobs` is
// touched on the loop's thread only.

/// The single thread that serves buses, timers, descriptors and the jobs of ``BusActor``.
///
/// The loop is the executor of the actor, and of every task started by ``onLoop(_:)``.
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    public static let shared = EventLoop()

    /// Jobs from other threads, and whether the loop has been woken for them.
    private struct Inbox {
        var jobs: [UnownedJob] = []
        var isSignaled = false
    }

    private let inbox = Mutex(Inbox())
    private let thread = Atomic<UInt>(0)
    private let stopping = Atomic<Bool>(false)
    /// The process that started or runs the loop.
    private let home = Atomic<pid_t>(0)
    private let wakeUp: EventDescriptor
    private var jobs: [UnownedJob] = []
    private var running: [UnownedJob] = []

    private init() {
        do {
            wakeUp = try EventDescriptor()
        } catch {
            exitForLackOf(error)
        }
    }

    /// Serves all sources on the calling thread until ``stop()``.
    ///
    /// Returns at once when the loop runs already.
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

    /// Serves all sources on the calling thread while the loop of another library runs there.
    ///
    /// - Parameter outer: Runs the other loop, which calls ``prepare()`` before each wait, waits
    ///   for ``descriptor`` beside its own, and calls ``serve()`` when a descriptor is ready.
    public func run(within outer: () -> Void) {
        guard claim() else { return }
        outer()
        thread.store(0, ordering: .releasing)
    }

    /// The descriptor that an outer loop waits for; readable when there is work.
    ///
    /// The number may change with each ``serve()``.
    @BusActor public var descriptor: Int32 { EventSources.shared.descriptor }

    /// Prepares for the wait of an outer loop.
    ///
    /// - Returns: The longest wait in milliseconds; 0 not to wait, -1 to wait for ever.
    @BusActor public func prepare() -> Int32 {
        jobs.isEmpty ? EventSources.shared.prepare(wakeUp.rawValue) : 0
    }

    /// Does the pending work without waiting.
    @BusActor public func serve() { turn(waits: false) }

    /// Whether this process is a fork of the process with the loop.
    ///
    /// A fork serves no sources.
    public var isForkedChild: Bool {
        let home = home.load(ordering: .acquiring)
        return home != 0 && home != getpid()
    }

    /// Serves all sources on a new thread.
    ///
    /// Does nothing when the loop runs already.
    public func startThread() {
        guard thread.load(ordering: .acquiring) == 0, !isForkedChild else { return }
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
        if code != 0 { exitForLackOf("a thread", code) }
        pthread_detach(identifier)
    }

    /// Ends ``run()`` after the current turn.
    ///
    /// Callable on any thread.
    public func stop() {
        stopping.store(true, ordering: .releasing)
        wakeUp.signal()
    }

    /// Calls `body` once after `duration` on CLOCK_BOOTTIME, which counts suspended time.
    @BusActor
    public func schedule(
        after duration: Duration,
        _ body: @escaping @BusActor () -> Void
    ) -> EventSource {
        EventSources.shared.addTimer(after: duration, body)
    }

    /// Calls `body` once each time that the loop has been idle for some seconds.
    ///
    /// Costs a single wake-up after the last event.
    @BusActor
    public func onRest(_ body: @escaping @BusActor () -> Void) {
        EventSources.shared.onRest = body
    }

    /// Calls `body` whenever the descriptor is readable or hung up, until the source is canceled.
    ///
    /// The caller keeps the descriptor, and must cancel the source before closing it.
    @BusActor
    public func watch(
        descriptor: Int32,
        _ body: @escaping @BusActor () -> Void
    ) -> EventSource {
        EventSources.shared.addWatch(descriptor, body)
    }

    /// Blocks the signal on this thread, and calls `body` whenever the process receives it.
    @BusActor
    public func onSignal(_ number: Int32, _ body: @escaping @BusActor () -> Void) -> EventSource {
        EventSources.shared.addSignal(number, body)
    }

    // MARK: Executor

    /// Takes a job on any thread.
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

    /// Serves messages and jobs until none are left, and then waits once.
    ///
    /// The rounds are limited, so that a flood of messages starves neither timers nor other
    /// threads.
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

    /// Few enough to delay other sources by a millisecond or two, but enough to make polling cheap.
    private static let roundsOfMessages = 64

    private func takeInbox() {
        wakeUp.clear()
        inbox.withLock { inbox in
            jobs.append(contentsOf: inbox.jobs)
            inbox.jobs.removeAll(keepingCapacity: true)
            inbox.isSignaled = false
        }
    }

    /// Runs queued jobs, and the jobs that these queue, a few rounds deep, so that messages do not
    /// starve.
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
