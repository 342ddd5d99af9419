import AuthEngine
import Linux
import Synchronization

/// A thread that commits queued writes in order.
///
/// Writes that wait together share a transaction.
final class Writer: Sendable {
    enum Write: Sendable {
        case record(UserRecord, uid: UInt32)
        case enrolment(Enrolment, uid: UInt32)
    }

    struct Job: Sendable {
        let write: Write
        let done: @Sendable (SystemError?) -> Void
    }

    private struct State {
        var jobs: [Job] = []
        var isClosed = false
    }

    private static let groupLimit = 256
    private static let queueLimit = 65536

    private let state = Mutex(State())
    private let thread: SerialThread
    /// Only the thread uses this; nil once the writer is closed.
    private let commit: Mutex<(([Write]) -> SystemError?)?>
    private let path: String

    /// Starts the thread, which alone uses `commit` and its captures.
    init(
        path: String,
        commit: sending @escaping ([Write]) -> SystemError?
    ) throws(SystemError) {
        self.path = path
        thread = try SerialThread(named: path)
        self.commit = Mutex(commit)
    }

    /// Queues a write, or fails it at once if the queue is full or closed.
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

    /// Writes all queued jobs, releases the captures of `commit` and ends the thread.
    ///
    /// Does not wait if `done` calls it. A second call has no effect.
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
