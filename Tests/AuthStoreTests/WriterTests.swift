import AuthEngine
import Glibc
import Linux
import Synchronization
import Testing

@testable import AuthStore

/// A writer whose disk does not respond.
@Suite(.timeLimit(.minutes(10)))
struct WriterTests {
    /// A disk that can be blocked, with its writes and the results of the writer.
    private final class Disk: Sendable {
        private let gate = Mutex(())
        private let begun = Mutex(0)
        private let answers = Mutex<[SystemError.Code?]>([])

        var writes: Int { begun.withLock { $0 } }
        var said: [SystemError.Code?] { answers.withLock { $0 } }

        /// Blocks every write while the body runs.
        func stopped(_ body: () -> Void) {
            gate.withLock { _ in body() }
        }

        func write(_ count: Int) {
            begun.withLock { $0 += count }
            gate.withLock { _ in }
        }

        func say(_ code: SystemError.Code?) {
            answers.withLock { $0.append(code) }
        }
    }

    @Test("L21: At the queue's limit the next write fails at once, and none is lost")
    func bound() throws {
        let disk = Disk()
        let writer = try Writer(path: "/test") { writes in
            disk.write(writes.count)
            return nil
        }
        func add() {
            let write = Writer.Write.record(UserRecord(), uid: 1)
            writer.add(.init(write: write) { error in disk.say(error?.code) })
        }
        let limit = 65_536
        disk.stopped {
            add()
            // The first write is at the disk, so it no longer waits in the queue.
            while disk.writes == 0 { sched_yield() }
            for _ in 0..<limit { add() }
            #expect(disk.said.isEmpty)
            add()
            #expect(disk.said == [.busy])
        }
        writer.close()
        #expect(disk.said.count { $0 == nil } == limit + 1)
        #expect(disk.writes == limit + 1)
    }
}
