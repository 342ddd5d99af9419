import CLinux
import DBus
import Glibc
import Linux
import TestSupport
import Testing

@testable import AuthService

/// L2: the history that a process of the service passes to the next.
@Suite("Login record")
struct LoginRecordTests {
    private let folder: TemporaryFolder
    private let memory: OwnedDescriptor
    private let watch: OwnedDescriptor
    private let manager = LoginHistory.Program(pid: 100, start: 7)
    private let alice: UInt32 = 1000
    private let bob: UInt32 = 1001

    init() throws {
        EventLoop.shared.startThread()
        folder = try TemporaryFolder()
        memory = OwnedDescriptor(adopting: memfd_create("logins", 1))
        watch = try #require(LoginRecord.newWatch())
    }

    /// Returns the record of a new process of the service, which inherits the descriptors.
    @BusActor
    private func process() -> LoginRecord {
        LoginRecord(memory: memory, watch: watch, folder: folder.path)
    }

    /// Writes a session as the login manager does: to a temporary file, which is then renamed.
    private func write(_ session: String) {
        let temporary = folder.path + "/.#" + session
        close(open(temporary, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
        rename(temporary, folder.path + "/" + session)
    }

    /// Returns a history in which Alice has been only at this machine, and Bob remote, since login
    /// at 200.
    private func history() -> LoginHistory {
        var time: UInt64 = 100
        var history = LoginHistory(now: { time })
        history.begin()
        time = 300
        history.addSession(ObjectPath(unchecked: "/session/1"))
        for path in history.assignSessions(to: bob) {
            history.recordPlace(path, of: bob, isAtMachine: false)
        }
        history.believed(LoginHistory.Program(pid: 42, start: 9), of: alice)
        return history
    }

    @Test("L2: each next process has the previous process's history")
    @BusActor
    func restart() throws {
        process().save(history(), of: manager, read: 0)
        for _ in 1...2 {
            let known = try #require(process().recall(of: manager))
            #expect(known.isAtMachine(alice, since: 200))
            #expect(!known.isAtMachine(alice, since: 50))
            #expect(!known.isAtMachine(bob, since: 200))
            #expect(known.isAtMachine(bob, since: 301))
            #expect(known.knows(LoginHistory.Program(pid: 42, start: 9), of: alice))
            #expect(!known.knows(LoginHistory.Program(pid: 42, start: 10), of: alice))
            #expect(!known.knows(LoginHistory.Program(pid: 42, start: 9), of: bob))
        }
    }

    @Test("L2: a session that came and went between two processes makes the history invalid")
    @BusActor
    func gap() {
        process().save(history(), of: manager, read: 0)
        write("5")
        unlink(folder.path + "/5")
        #expect(process().recall(of: manager) == nil)
    }

    @Test("L2: a save marks only the counted bytes as read")
    @BusActor
    func counting() {
        let record = process()
        write("5")
        let unread = record.unread
        #expect(unread > 0)
        record.save(history(), of: manager, read: unread)
        #expect(process().recall(of: manager) != nil)
        write("6")
        let second = record.unread
        write("7")
        record.save(history(), of: manager, read: second)
        #expect(record.unread > 0)
        #expect(process().recall(of: manager) == nil)
    }

    @Test("L2: a history of another login manager, or an incomplete one, is rejected")
    @BusActor
    func doubts() {
        let record = process()
        #expect(record.recall(of: manager) == nil)
        record.save(history(), of: manager, read: 0)
        #expect(record.recall(of: LoginHistory.Program(pid: 100, start: 8)) == nil)
        #expect(record.recall(of: manager) != nil)
        var size = stat()
        fstat(memory.rawValue, &size)
        for cut in stride(from: size.st_size - 1, through: 0, by: -1) {
            ftruncate(memory.rawValue, cut)
            #expect(record.recall(of: manager) == nil, "cut to \(cut)")
        }
        record.save(history(), of: manager, read: 0)
        record.forget()
        #expect(record.recall(of: manager) == nil)
    }

    @Test("L2: the loop learns of unread sessions")
    @BusActor
    func news() async {
        let record = process()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            record.whenUnread { continuation.resume() }
            write("5")
        }
        #expect(record.unread > 0)
    }
}
