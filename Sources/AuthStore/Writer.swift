import AuthEngine
package import Glibc
import Synchronization

/// A thread that writes what is queued, in order; what has queued up meanwhile goes together.
final class Writer: Sendable {
    /// One thing to write.
    enum Write: Sendable {
        case record(UserRecord, uid: UInt32)
        case enrolment(Enrolment, uid: UInt32)
    }

    /// What to write and whom to tell.
    struct Job: Sendable {
        let write: Write
        let done: @Sendable (StoreError?) -> Void
    }

    private struct State {
        var jobs: [Job] = []
        var isClosed = false
        var thread: pthread_t?
    }

    /// How many writes go together.
    private static let groupLimit = 256
    /// How many writes may wait.
    private static let queueLimit = 65536

    private let state = Mutex(State())
    /// A pipe: a byte in it wakes the thread.
    private let wake: (reading: Int32, writing: Int32)
    private let path: String

    /// Starts the thread, which alone uses `commit` and what that has captured.
    init(
        path: String,
        commit: sending @escaping ([Write]) -> StoreError?
    ) throws(StoreError) {
        self.path = path
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw StoreError(errno: errno, "The store's thread can't be woken", path: path)
        }
        wake = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        // A full pipe wakes as well: nobody waits to fill it further.
        _ = fcntl(wake.writing, F_SETFL, O_NONBLOCK)
        let thread = try startThread(path: path) { self.work(commit) }
        state.withLock { $0.thread = thread }
    }

    deinit {
        Glibc.close(wake.reading)
        Glibc.close(wake.writing)
    }

    /// Queues a write; one that can't wait is told at once.
    func add(_ job: Job) {
        let refusal: StoreError? = state.withLock { state in
            guard !state.isClosed else {
                return StoreError(.closed, "The store is closed.", path: path)
            }
            guard state.jobs.count < Self.queueLimit else {
                return StoreError(.busy, "Too much waits to be written.", path: path)
            }
            state.jobs.append(job)
            return nil
        }
        if let refusal {
            job.done(refusal)
        } else {
            wakeUp()
        }
    }

    /// Writes what is queued and ends the thread.
    func close() {
        let thread = state.withLock { state in
            defer { state.thread = nil }
            state.isClosed = true
            return state.thread
        }
        guard let thread else { return }
        wakeUp()
        if pthread_equal(thread, pthread_self()) != 0 {
            // Called by a `done`: a thread can't wait for its own end.
            pthread_detach(thread)
        } else {
            pthread_join(thread, nil)
        }
    }

    private func work(_ commit: ([Write]) -> StoreError?) {
        while let group = next() {
            let error = commit(group.map(\.write))
            for job in group {
                job.done(error)
            }
        }
    }

    /// Waits for something to write; nil when it is closed and nothing is left.
    private func next() -> [Job]? {
        while true {
            let (group, isClosed) = state.withLock { state in
                let group = Array(state.jobs.prefix(Self.groupLimit))
                state.jobs.removeFirst(group.count)
                return (group, state.isClosed)
            }
            if !group.isEmpty { return group }
            if isClosed { return nil }
            var bytes = [UInt8](repeating: 0, count: 4096)
            _ = read(wake.reading, &bytes, bytes.count)
        }
    }

    private func wakeUp() {
        var byte: UInt8 = 1
        _ = write(wake.writing, &byte, 1)
    }
}

/// What a thread does, on its way through the C call that starts it.
private final class ThreadBody {
    let run: () -> Void

    init(_ run: sending @escaping () -> Void) {
        self.run = run
    }
}

package func startThread(
    path: String,
    _ run: sending @escaping () -> Void
) throws(StoreError) -> pthread_t {
    // Signals are for the program's own thread; a new thread inherits the mask.
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

    let body = Unmanaged.passRetained(ThreadBody(run))
    var thread = pthread_t()
    let result = pthread_create(
        &thread,
        nil,
        { context in
            // Frees the body, and all it has captured, before the thread has ended.
            context.map { Unmanaged<ThreadBody>.fromOpaque($0).takeRetainedValue().run() }
            return nil
        },
        body.toOpaque()
    )
    guard result == 0 else {
        body.release()
        throw StoreError(errno: result, "The store's thread can't be started", path: path)
    }
    return thread
}
