import AuthEngine
import Glibc
import Linux
import Synchronization
import Testing

@testable import AuthStore

/// What waits for a disk that doesn't answer.
@Suite(.timeLimit(.minutes(10)))
struct WriterTests {
    /// What a thread waits for, what it has begun, and what was said of it.
    private final class Disk: Sendable {
        private let gate = Mutex(())
        private let begun = Mutex(0)
        private let answers = Mutex<[SystemError.Code?]>([])

        var writes: Int { begun.withLock { $0 } }
        var said: [SystemError.Code?] { answers.withLock { $0 } }

        /// Holds up every write while the body runs.
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

    @Test("L21: so many writes may wait for the disk; one more fails at once, and none is lost")
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
            // The first one is with the disk, and doesn't wait any more.
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
