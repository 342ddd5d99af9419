import AuthEngine
import Linux
import Synchronization

/// A thread that writes what is queued, in order; writes that are queued meanwhile share a
/// transaction.
final class Writer: Sendable {
    /// One thing to write.
    enum Write: Sendable {
        case record(UserRecord, uid: UInt32)
        case enrolment(Enrolment, uid: UInt32)
    }

    /// What to write and whom to tell.
    struct Job: Sendable {
        let write: Write
        let done: @Sendable (SystemError?) -> Void
    }

    private struct State {
        var jobs: [Job] = []
        var isClosed = false
    }

    /// The most writes in one transaction.
    private static let groupLimit = 256
    /// How many writes may wait.
    private static let queueLimit = 65536

    private let state = Mutex(State())
    private let thread: SerialThread
    /// Used by the thread alone; nil once the writer is closed.
    private let commit: Mutex<(([Write]) -> SystemError?)?>
    private let path: String

    /// Starts the thread, the only user of `commit` and of what it captures.
    init(
        path: String,
        commit: sending @escaping ([Write]) -> SystemError?
    ) throws(SystemError) {
        self.path = path
        thread = try SerialThread(named: path)
        self.commit = Mutex(commit)
    }

    /// Queues a write; if the queue is full, it fails at once.
    func add(_ job: Job) {
        let refusal: SystemError? = state.withLock { state in
            guard !state.isClosed else {
                return SystemError(.closed, "The store is closed.", path: path)
            }
            guard state.jobs.count < Self.queueLimit else {
                return SystemError(.busy, "Too much waits to be written.", path: path)
            }
            state.jobs.append(job)
            if state.jobs.count == 1 { thread.perform { self.writeQueued() } }
            return nil
        }
        if let refusal { job.done(refusal) }
    }

    /// Writes what is queued, frees what `commit` has captured and ends the thread.
    ///
    /// Called by a `done`, it doesn't wait for that. Closing twice is closing once.
    func close() {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        guard !wasClosed else { return }
        thread.perform { self.commit.withLock { $0 = nil } }
        thread.close(waiting: true)
    }

    private func writeQueued() {
        while let group = next() {
            let error = commit.withLock { $0?(group.map(\.write)) }
            for job in group {
                job.done(error)
            }
        }
    }

    private func next() -> [Job]? {
        state.withLock { state in
            let group = Array(state.jobs.prefix(Self.groupLimit))
            state.jobs.removeFirst(group.count)
            return group.isEmpty ? nil : group
        }
    }
}
