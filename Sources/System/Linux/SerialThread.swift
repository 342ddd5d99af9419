import Glibc
import Synchronization

/// A thread for blocking work: the executor of an actor, or a queue of closures, in order.
package final class SerialThread: SerialExecutor {
    private enum Work {
        case job(UnownedJob)
        case body(@Sendable () -> Void)
    }

    private struct State {
        var work: [Work] = []
        var isClosed = false
        var thread: pthread_t?
    }

    private let state = Mutex(State())
    private let wake: EventDescriptor

    /// Starts the thread, which keeps this object until it has ended.
    ///
    /// - Parameter name: The subject of error messages.
    /// - Throws: `io` when the kernel refuses a descriptor or a thread.
    package init(named name: String) throws(SystemError) {
        wake = try EventDescriptor(isBlocking: true)
        let thread = try Self.start(named: name) { self.work() }
        state.withLock { $0.thread = thread }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    /// Runs the body after all earlier work.
    package func perform(_ body: @escaping @Sendable () -> Void) {
        add(.body(body))
    }

    /// Ends the thread once it has no work left.
    ///
    /// Later work may never run.
    ///
    /// With `waiting`, returns after the thread has ended, except on the thread itself.
    package func close(waiting: Bool = false) {
        let thread = state.withLock { state in
            defer { state.thread = nil }
            state.isClosed = true
            return state.thread
        }
        guard let thread else { return }
        wake.signal()
        if waiting, pthread_equal(thread, pthread_self()) == 0 {
            pthread_join(thread, nil)
        } else {
            pthread_detach(thread)
        }
    }

    private func add(_ work: Work) {
        // The thread takes all waiting work at once, so only the first item has to wake it.
        let isFirst = state.withLock { state in
            state.work.append(work)
            return state.work.count == 1
        }
        if isFirst { wake.signal() }
    }

    private func work() {
        while true {
            let (work, isClosed) = state.withLock { state in
                defer { state.work = [] }
                return (state.work, state.isClosed)
            }
            for piece in work {
                switch piece {
                case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
                case .body(let body): body()
                }
            }
            guard work.isEmpty else { continue }
            if isClosed { return }
            wake.clear()
        }
    }

    /// The closure of a thread, passed through the C call that starts it.
    private final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    private static func start(
        named name: String,
        _ run: @escaping @Sendable () -> Void
    ) throws(SystemError) -> pthread_t {
        // Signals are for the program's own thread; a new thread inherits the mask.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        // SAFETY: the C call passes the pointer on, and the new thread takes the reference over.
        let body = Unmanaged.passRetained(Body(run))
        var thread = pthread_t()
        let result = pthread_create(
            &thread,
            nil,
            { context in
                // SAFETY: taking the reference frees the body, with all captures, before the thread
                // ends.
                context.map { Unmanaged<Body>.fromOpaque($0).takeRetainedValue().run() }
                return nil
            },
            body.toOpaque()
        )
        guard result == 0 else {
            body.release()
            throw SystemError(errno: result, "The thread can't be started", path: name)
        }
        return thread
    }
}
