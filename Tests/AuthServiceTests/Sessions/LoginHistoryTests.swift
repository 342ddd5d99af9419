import DBus
import Testing

@testable import AuthService

/// L2: what is known of where users have been.
@Suite("Login history")
struct LoginHistoryTests {
    private let clock = Clock()
    private let alice: UInt32 = 1000
    private let bob: UInt32 = 1001

    /// A clock that goes on each time it is read.
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

    @Test("L2: before anything is heard, and of a login before that, nothing is known")
    func unknown() {
        let silent = LoginHistory(now: clock.now)
        #expect(!silent.isAtMachine(alice, since: UInt64.max))
        let early = clock.now()
        let history = begun()
        #expect(!history.isAtMachine(alice, since: early))
        #expect(history.isAtMachine(alice, since: clock.now()))
    }

    @Test("L2: a session counts as elsewhere until it was found at the machine")
    func undecided() {
        var history = begun()
        let login = clock.now()
        history.appeared(path(1))
        #expect(!history.isAtMachine(alice, since: login))
        #expect(!history.isAtMachine(bob, since: login))
        #expect(history.belong(to: alice) == [path(1)])
        #expect(!history.isAtMachine(alice, since: login))
        #expect(history.isAtMachine(bob, since: login))
        history.found(path(1), of: alice, isAtMachine: true)
        #expect(history.isAtMachine(alice, since: login))
    }

    @Test("L2: who was elsewhere stays so until the next login")
    func elsewhere() {
        var history = begun()
        let login = clock.now()
        for number in 1...2 { history.appeared(path(number)) }
        #expect(history.belong(to: alice).count == 2)
        history.found(path(1), of: alice, isAtMachine: false)
        history.found(path(2), of: alice, isAtMachine: true)
        // An answer that comes twice, or for nobody's session, changes nothing.
        history.found(path(1), of: alice, isAtMachine: true)
        history.found(path(3), of: bob, isAtMachine: false)
        #expect(!history.isAtMachine(alice, since: login))
        #expect(history.isAtMachine(alice, since: clock.now()))
        #expect(history.isAtMachine(bob, since: login))
    }

    @Test("L2, L21: more sessions than are kept leave doubts, and no more memory")
    func flood() {
        var history = begun()
        let login = clock.now()
        for number in 1...(LoginHistory.limit + 1) { history.appeared(path(number)) }
        #expect(history.belong(to: bob).count == 1)
        history.found(path(LoginHistory.limit + 1), of: bob, isAtMachine: true)
        #expect(!history.isAtMachine(alice, since: login))
        #expect(!history.isAtMachine(bob, since: login))
        #expect(history.isAtMachine(alice, since: clock.now()))
    }
}
