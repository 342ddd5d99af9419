import Glibc
import Synchronization

/// A thread of its own for what blocks: the camera and the engine.
final class CameraThread: SerialExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    /// A byte for each job.
    private let count: (reading: Int32, writing: Int32)

    /// Starts the thread, which lives as long as the process.
    init() throws(FaceFault) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .failed("The kernel refuses a pipe.") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        count = (ends[0], ends[1])
        // Signals are for the program's own thread; a new thread inherits the mask.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let this = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { context in
                context.map { Unmanaged<CameraThread>.fromOpaque($0).takeRetainedValue().work() }
                return nil
            },
            this.toOpaque()
        )
        guard code == 0 else {
            this.release()
            throw .failed("The kernel refuses a thread.")
        }
        pthread_detach(thread)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        var byte: UInt8 = 1
        _ = write(count.writing, &byte, 1)
    }

    private func work() {
        var byte: UInt8 = 0
        while true {
            guard read(count.reading, &byte, 1) == 1 else { continue }
            let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            job?.runSynchronously(on: asUnownedSerialExecutor())
        }
    }
}
