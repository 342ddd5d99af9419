import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// L2: agents that a user's service manager runs, as desktops do.
///
/// The test's process acts as such a unit, and has no terminal.
@Suite("Agents that are units", .timeLimit(.minutes(10)), .enabled(if: hasNoTerminal))
struct UnitAgentTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    /// A user who has just logged in on a desktop while the service was running.
    @BusActor
    private final class Desk {
        let bench: SessionBench
        var logind: StandInLogind { bench.logind }

        init(type: String = "wayland") async throws {
            bench = try await SessionBench(type: type)
            bench.logind.isUnit = true
            bench.logind.current = nil
            try await settle()
            logIn()
        }

        func logIn() {
            logind.logIn()
            logind.begin(bench.session)
        }

        func logIn(as uid: UInt32) {
            let session = StandInSession("c2", at: logind, uid: uid)
            session.type = "wayland"
            (logind.more, logind.display) = ([session], session)
            logind.logIn()
            logind.begin(session)
        }

        /// Begins a session of the user, which may end before the service can look it up.
        func begin(_ id: String, kind: String = "user", remote: Bool = false) -> StandInSession {
            let session = StandInSession(id, at: logind, isRemote: remote)
            (session.seat, session.kind, session.service) = ("", kind, "sshd")
            logind.more.append(session)
            logind.begin(session)
            return session
        }

        func end(_ session: StandInSession) {
            logind.more.removeAll { $0 === session }
            logind.remove(session)
        }

        func expectRefused() async {
            let refusal = await #expect(throws: DBusError.self) {
                try await self.bench.registerAgent()
            }
            #expect(refusal?.name == .accessDenied)
        }

        /// Waits until the service has handled logind's signals.
        func settle() async throws { _ = try await bench.manager.canInteract() }
    }

    @Test("L2: The unit of a user who was only at this desktop may prompt, with sensors")
    @BusActor
    func believed() async throws {
        let desk = try await Desk()
        try await desk.bench.registerAgent()
        #expect(try await desk.bench.absence() == "")
        #expect(try await desk.bench.evaluateWithMatch() == nil)
        // A later remote login does not affect an agent that was registered before.
        _ = desk.begin("c9", remote: true)
        try await desk.settle()
        #expect(try await desk.bench.evaluateWithMatch() == nil)
    }

    @Test(
        "L28: Without an agent, a desktop's remedy is a new login, a console's to start one",
        arguments: [("wayland", "Log out and in again"), ("tty", "Start a prompt")]
    )
    @BusActor
    func remedy(_ type: String, _ beginning: String) async throws {
        let desk = try await Desk(type: type)
        #expect(try await desk.bench.manager.canInteract().remedy.hasPrefix(beginning))
        let finding = try await desk.bench.manager.diagnose()
            .first { $0["name"] == .string("agent") }
        #expect(finding?["remedy"]?.asString?.hasPrefix(beginning) == true)
    }

    /// Ways in which a user's program could have come from another place.
    enum Way: CaseIterable {
        case isThere, wasThere, wasGoneAtOnce, wasBefore, asSu
    }

    @Test("L2: A unit of a user who also logged in elsewhere is no agent", arguments: Way.allCases)
    @BusActor
    func elsewhere(_ way: Way) async throws {
        let desk = try await Desk()
        switch way {
        case .isThere: _ = desk.begin("c9", remote: true)
        case .wasThere:
            let remote = desk.begin("c9", remote: true)
            try await desk.settle()
            desk.end(remote)
        case .wasGoneAtOnce: desk.end(desk.begin("c9", remote: true))
        // The desktop began while units of an earlier login still ran.
        case .wasBefore:
            let remote = desk.begin("c9", remote: true)
            try await desk.settle()
            desk.end(remote)
            desk.logind.begin(desk.bench.session)
        case .asSu: _ = desk.begin("c9")
        }
        await desk.expectRefused()
        #expect(try await desk.bench.absence() == "no-agent-at-machine")
        // After all units of that login have ended, a new login is trusted.
        for session in desk.logind.more { desk.end(session) }
        try await desk.settle()
        desk.logIn()
        try await desk.bench.registerAgent()
        #expect(try await desk.bench.evaluateWithMatch() == nil)
    }

    @Test("L2: logind's session for a user's service manager does not count as elsewhere")
    @BusActor
    func manager() async throws {
        let desk = try await Desk()
        _ = desk.begin("c0", kind: "manager")
        try await desk.bench.registerAgent()
    }

    /// Reasons to refuse a unit whose user was nowhere else.
    enum Doubt: CaseIterable {
        case loggedInUnseen, isNoUnit, noDesktop, twoDesktops, namelessSession
    }

    @Test("L2: A unit that can't be tied to one desktop is no agent", arguments: Doubt.allCases)
    @BusActor
    func doubt(_ doubt: Doubt) async throws {
        let desk = try await Desk(type: doubt == .noDesktop ? "tty" : "wayland")
        switch doubt {
        case .loggedInUnseen: desk.logind.loginTime = 1
        case .isNoUnit: desk.logind.isUnit = false
        case .noDesktop: break
        case .twoDesktops:
            let other = StandInSession("c2", at: desk.logind)
            other.type = "x11"
            desk.logind.more = [other]
            desk.logind.begin(other)
        case .namelessSession: desk.logind.tell("SessionNew")
        }
        let refusal = await #expect(throws: DBusError.self) {
            try await desk.bench.registerAgent()
        }
        #expect(refusal?.name == .accessDenied)
    }

    @Test("L2: A unit that serves one process is no agent, even where the user's unit would be")
    @BusActor
    func servesProcess() async throws {
        for isForProcess in [false, true] {
            let desk = try await Desk()
            // Root's agent of a process may run in no session. A user's agent comes over a bridge,
            // as a unit.
            if getuid() == 0 { desk.logIn(as: 65534) }
            try await desk.settle()
            let refusal: DBusError?
            do {
                _ = try await Person(bus: desk.bench.bus, isForProcess: isForProcess)
                refusal = nil
            } catch {
                refusal = error as? DBusError
            }
            #expect(refusal?.name == (isForProcess ? .accessDenied : nil))
        }
    }
}

private let hasNoTerminal: Bool = {
    let terminal = open("/dev/tty", O_RDWR | O_NOCTTY)
    if terminal >= 0 { close(terminal) }
    return terminal < 0
}()
