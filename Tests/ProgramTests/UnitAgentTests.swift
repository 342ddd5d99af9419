import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// L2: agents that a user's service manager runs, as desktops start theirs.
///
/// The test's process is such a unit; it has no terminal.
@Suite("Agents that are units", .timeLimit(.minutes(10)), .enabled(if: hasNoTerminal))
struct UnitAgentTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    /// A user who has just logged in on a desktop, before the eyes of the service.
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

        /// Another user logs in on a desktop.
        func logIn(as uid: UInt32) {
            let session = StandInSession("c2", at: logind, uid: uid)
            session.type = "wayland"
            (logind.more, logind.display) = ([session], session)
            logind.logIn()
            logind.begin(session)
        }

        /// A session of the user begins, and may be over before anybody can look at it.
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

        /// Once the service knows what the login manager has told.
        func settle() async throws { _ = try await bench.manager.canInteract() }
    }

    @Test("L2: a unit of a user who has only been at this desktop shows its prompts, with sensors")
    @BusActor
    func believed() async throws {
        let desk = try await Desk()
        try await desk.bench.registerAgent()
        #expect(try await desk.bench.absence() == "")
        #expect(try await desk.bench.evaluateWithMatch() == nil)
        // Who comes from afar later has nothing to do with an agent that was there before.
        _ = desk.begin("c9", remote: true)
        try await desk.settle()
        #expect(try await desk.bench.evaluateWithMatch() == nil)
    }

    @Test(
        "L28: without prompts a desktop is told to log in anew, a console to start one",
        arguments: [("wayland", "Log out and in again"), ("tty", "Start one")]
    )
    @BusActor
    func remedy(_ type: String, _ beginning: String) async throws {
        let desk = try await Desk(type: type)
        #expect(try await desk.bench.manager.canInteract().remedy.hasPrefix(beginning))
        let finding = try await desk.bench.manager.diagnose()
            .first { $0["name"] == .string("agent") }
        #expect(finding?["remedy"]?.asString?.hasPrefix(beginning) == true)
    }

    /// How a program of the user's could have got there from elsewhere.
    enum Way: CaseIterable {
        case isThere, wasThere, wasGoneAtOnce, wasBefore, asSu
    }

    @Test("L2: of a user who was elsewhere meanwhile no unit is an agent", arguments: Way.allCases)
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
        // The desktop began while the units of an earlier login ran on.
        case .wasBefore:
            let remote = desk.begin("c9", remote: true)
            try await desk.settle()
            desk.end(remote)
            desk.logind.begin(desk.bench.session)
        case .asSu: _ = desk.begin("c9")
        }
        await desk.expectRefused()
        #expect(try await desk.bench.absence() == "no-agent-at-machine")
        // With all units of that login gone, another one is another matter.
        for session in desk.logind.more { desk.end(session) }
        try await desk.settle()
        desk.logIn()
        try await desk.bench.registerAgent()
        #expect(try await desk.bench.evaluateWithMatch() == nil)
    }

    @Test("L2: the login manager's session for a user's service manager is not elsewhere")
    @BusActor
    func manager() async throws {
        let desk = try await Desk()
        _ = desk.begin("c0", kind: "manager")
        try await desk.bench.registerAgent()
    }

    /// What a unit is refused for, though its user was nowhere else.
    enum Doubt: CaseIterable {
        case loggedInUnseen, isNoUnit, noDesktop, twoDesktops, namelessSession
    }

    @Test("L2: a unit that can't be tied to one desktop is no agent", arguments: Doubt.allCases)
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

    @Test("L2: a unit that serves one process is no agent, where it would be one of the user's")
    @BusActor
    func servesProcess() async throws {
        for isForProcess in [false, true] {
            let desk = try await Desk()
            // Root's agent of a process may be anywhere; a person's comes over a bridge, as a unit.
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
