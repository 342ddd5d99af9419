import AuthStore
import Glibc
import Synchronization

/// The keychain on a thread of its own: a slow disk, or a password that is stretched, delays the
/// one answer that waits for it, never the bus.
public actor Keychain {
    private let thread: StoreThread
    private let open: @Sendable () throws(KeychainError) -> KeychainStore
    private let isThere: @Sendable () -> Bool
    private var store: KeychainStore?
    private var itemLimit: Int?

    /// The thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// A keychain that the first call opens; one that can't be opened is tried again by the next.
    ///
    /// `isThere` says whether there is one to open; else opening makes it.
    /// - Throws: `notAvailable` when no thread can be had.
    public init(
        opening open: @escaping @Sendable () throws(KeychainError) -> KeychainStore,
        isThere: @escaping @Sendable () -> Bool = { true }
    ) throws(KeychainError) {
        thread = try translating { () throws(StoreError) in try StoreThread(path: "keychain") }
        self.open = open
        self.isThere = isThere
    }

    deinit {
        thread.close()
    }

    /// Makes calls on the keychain, one caller after the other.
    ///
    /// - Throws: what the body throws.
    public func run<Result: Sendable>(
        _ body: @Sendable (KeychainStore) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        if let store { return try body(store) }
        let opened = try open()
        if let itemLimit { opened.itemLimit = itemLimit }
        store = opened
        return try body(opened)
    }

    /// Makes calls on the keychain, if there is one: none is made for that.
    ///
    /// - Returns: What the body returns; nil: there is no keychain yet.
    /// - Throws: what the body throws.
    public func runIfThere<Result: Sendable>(
        _ body: @Sendable (KeychainStore) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result? {
        store != nil || isThere() ? try run(body) : nil
    }

    /// Lets a user have so many items from now on; those that are there stay.
    public func limitItems(to count: Int) {
        itemLimit = count
        store?.itemLimit = count
    }

    /// Lets go of the files; the next call opens them again.
    public func close() {
        store = nil
    }
}

/// A thread that runs jobs in order.
private final class StoreThread: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    /// A pipe: a byte in it wakes the thread.
    private let wake: (reading: Int32, writing: Int32)

    init(path: String) throws(StoreError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw StoreError(errno: errno, "The keychain's thread can't be woken", path: path)
        }
        wake = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        // A full pipe wakes as well: nobody waits to fill it further.
        _ = fcntl(wake.writing, F_SETFL, O_NONBLOCK)
        // Nobody waits for its end: every call was on the disk before it was answered.
        pthread_detach(try startThread(path: path) { self.work() })
    }

    deinit {
        Glibc.close(wake.reading)
        Glibc.close(wake.writing)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        wakeUp()
    }

    /// Ends the thread once it has nothing left.
    func close() {
        state.withLock { $0.isClosed = true }
        wakeUp()
    }

    private func work() {
        while true {
            let (jobs, isClosed) = state.withLock { state in
                defer { state.jobs = [] }
                return (state.jobs, state.isClosed)
            }
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
            guard jobs.isEmpty else { continue }
            if isClosed { return }
            var bytes = [UInt8](repeating: 0, count: 64)
            _ = read(wake.reading, &bytes, bytes.count)
        }
    }

    private func wakeUp() {
        var byte: UInt8 = 1
        _ = write(wake.writing, &byte, 1)
    }
}
