import Glibc
import Linux
import Synchronization
import Testing

struct SerialThreadTests {
    @Test("Work runs on its thread alone, in order, before the thread ends")
    func order() throws {
        let thread = try SerialThread(named: "test")
        let runs = Mutex<[(number: Int, thread: pthread_t)]>([])
        for number in 0..<1000 {
            thread.perform {
                let current = pthread_self()
                runs.withLock { $0.append((number, current)) }
            }
        }
        thread.close(waiting: true)
        runs.withLock { runs in
            #expect(runs.map(\.number) == Array(0..<1000))
            #expect(Set(runs.map(\.thread)).count == 1)
            #expect(runs.first?.thread != pthread_self())
        }
    }

    @Test("A thread frees its work, and receives no signals")
    func ends() throws {
        final class Given: Sendable {
            let isBlocked = Mutex(false)
        }
        let thread = try SerialThread(named: "test")
        weak var left: Given?
        do {
            let given = Given()
            left = given
            thread.perform {
                var mask = sigset_t()
                pthread_sigmask(SIG_BLOCK, nil, &mask)
                let isBlocked = [SIGTERM, SIGINT, SIGHUP, SIGCHLD]
                    .allSatisfy { sigismember(&mask, $0) == 1 }
                given.isBlocked.withLock { $0 = isBlocked }
            }
            thread.close(waiting: true)
            #expect(given.isBlocked.withLock { $0 })
        }
        #expect(left == nil)
    }

    @Test("A thread that closes itself does not wait for its own end")
    func closesItself() throws {
        let thread = try SerialThread(named: "test")
        let isClosed = try EventDescriptor(isBlocking: true)
        thread.perform {
            thread.close(waiting: true)
            isClosed.signal()
        }
        isClosed.clear()
    }

    @Test("An actor on a thread runs there")
    func actor() async throws {
        actor Worker {
            private let thread: SerialThread

            nonisolated var unownedExecutor: UnownedSerialExecutor {
                thread.asUnownedSerialExecutor()
            }

            init() throws { thread = try SerialThread(named: "test") }

            deinit { thread.close() }

            var current: pthread_t { pthread_self() }
        }
        let worker = try Worker()
        let first = await worker.current
        #expect(await worker.current == first)
    }
}
