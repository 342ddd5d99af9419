import DBus
import Testing

@testable import AuthService

/// L2: the history of users' sessions.
@Suite("Login history")
struct LoginHistoryTests {
    private let clock = Clock()
    private let alice: UInt32 = 1000
    private let bob: UInt32 = 1001

    /// A clock that advances at each reading.
    private final class Clock {
        var time: UInt64 = 100

        func now() -> UInt64 {
            time += 1
            return time
        }
    }

    private func path(_ number: Int) -> ObjectPath {
        ObjectPath(unchecked: "/org/freedesktop/login1/session/_\(number)")
    }

    private func begun() -> LoginHistory {
        var history = LoginHistory(now: clock.now)
        history.begin()
        return history
    }

    @Test("L2: nothing is known before the first event, or about earlier logins")
    func unknown() {
        let silent = LoginHistory(now: clock.now)
        #expect(!silent.isAtMachine(alice, since: UInt64.max))
        let early = clock.now()
        let history = begun()
        #expect(!history.isAtMachine(alice, since: early))
        #expect(history.isAtMachine(alice, since: clock.now()))
    }

    @Test("L2: a session counts as remote until it is found at the machine")
    func undecided() {
        var history = begun()
        let login = clock.now()
        history.addSession(path(1))
        #expect(!history.isAtMachine(alice, since: login))
        #expect(!history.isAtMachine(bob, since: login))
        #expect(history.assignSessions(to: alice) == [path(1)])
        #expect(!history.isAtMachine(alice, since: login))
        #expect(history.isAtMachine(bob, since: login))
        history.recordPlace(path(1), of: alice, isAtMachine: true)
        #expect(history.isAtMachine(alice, since: login))
    }

    @Test("L2: a user who was remote stays remote until the next login")
    func elsewhere() {
        var history = begun()
        let login = clock.now()
        for number in 1...2 { history.addSession(path(number)) }
        #expect(history.assignSessions(to: alice).count == 2)
        history.recordPlace(path(1), of: alice, isAtMachine: false)
        history.recordPlace(path(2), of: alice, isAtMachine: true)
        // A repeated result, or a result for an unknown session, has no effect.
        history.recordPlace(path(1), of: alice, isAtMachine: true)
        history.recordPlace(path(3), of: bob, isAtMachine: false)
        #expect(!history.isAtMachine(alice, since: login))
        #expect(history.isAtMachine(alice, since: clock.now()))
        #expect(history.isAtMachine(bob, since: login))
    }

    @Test("L2, L21: more sessions than the limit cause doubts, but no more memory")
    func flood() {
        var history = begun()
        let login = clock.now()
        for number in 1...(LoginHistory.limit + 1) { history.addSession(path(number)) }
        #expect(history.assignSessions(to: bob).count == 1)
        history.recordPlace(path(LoginHistory.limit + 1), of: bob, isAtMachine: true)
        #expect(!history.isAtMachine(alice, since: login))
        #expect(!history.isAtMachine(bob, since: login))
        #expect(history.isAtMachine(alice, since: clock.now()))
    }
}
