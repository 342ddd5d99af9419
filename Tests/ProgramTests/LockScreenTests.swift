import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// L2: Root evaluates a user from its own process in the user's session, as GDM's lock screen does.
@Suite("Root in a user's session", .enabled(if: getuid() == 0), .timeLimit(.minutes(10)))
struct LockScreenTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    /// The verifier looks up users by name.
    private static let uid = getpwnam("nobody").pointee.pw_uid

    /// A bench on which root's test process evaluates a user in the user's session, with the user's
    /// finger on the sensor.
    @BusActor
    private final class Screen {
        let bench: SessionBench
        let session: StandInSession

        init(isRemote: Bool = false) async throws {
            bench = try await SessionBench(configuration: "[Biometry]\nPasscodeAfterBoot=no\n")
            session = StandInSession(
                "c7",
                at: bench.logind,
                uid: LockScreenTests.uid,
                isRemote: isRemote
            )
            session.type = "wayland"
            enter(session)
            _ = try await bench.simulated.addTemplate(uid: LockScreenTests.uid, label: "finger")
            try await bench.simulated.queue(outcomes: ["match"])
        }

        func register() async throws {
            try await bench.registerAgent(["process": .uint32(UInt32(getpid()))])
        }

        /// Moves the process to a session, which is in front.
        func enter(_ session: StandInSession) {
            bench.logind.current = session
            bench.logind.display = session
            bench.logind.tell("SessionNew")
        }

        func ask() async -> DBusError? {
            do throws(DBusError) {
                _ = try await bench.manager.evaluate(
                    policy: 1,
                    reason: "unlock",
                    options: ["uid": .uint32(LockScreenTests.uid)]
                )
                return nil
            } catch {
                return error
            }
        }
    }

    @Test("L2: Root may use the finger on the lock screen of its session")
    @BusActor
    func locked() async throws {
        let screen = try await Screen()
        try await screen.register()
        screen.session.lock(true)
        #expect(await screen.ask()?.message == nil)
        #expect(screen.bench.agent.count == 1)
    }

    @Test("L4: A face confirmed for root after a switch whose signal was lost does not count")
    @BusActor
    func confirmed() async throws {
        let screen = try await Screen()
        try await screen.register()
        let bench = screen.bench
        try await bench.simulated.setBiometryType(biometryType: 2)
        try await eventually("a face sensor") {
            try await bench.device("Simulated").biometryType() == 2
        }
        let call = try bench.manager.evaluateStream(
            policy: 1,
            reason: "unlock",
            options: ["uid": .uint32(Self.uid), "require-confirmation": .bool(true)]
        )
        for await event in call.events where event.kind == "confirmation-required" { break }
        bench.logind.losesSignals = true
        screen.session.activate(false)
        try await bench.manager.submitConfirm(prompt: bench.agent.last)
        #expect(await bench.end(of: call)?.name == .systemCancel)
    }

    enum Hindrance: CaseIterable {
        case inactive, remote, remoteRoot, otherUser, ended
    }

    @Test(
        "L2: Root's session must belong to the user, and be local, in front and not ended",
        arguments: Hindrance.allCases
    )
    @BusActor
    func refused(by hindrance: Hindrance) async throws {
        let screen = try await Screen(isRemote: hindrance == .remote)
        let logind = screen.bench.logind
        if hindrance == .otherUser || hindrance == .remoteRoot {
            // The user's own session is in front too, on another seat.
            let isRemote = hindrance == .remoteRoot
            let uid = isRemote ? 0 : Self.uid + 1
            screen.enter(StandInSession("c8", at: logind, uid: uid, isRemote: isRemote))
            logind.display = screen.session
        }
        try await screen.register()
        if hindrance == .inactive { screen.session.activate(false) }
        if hindrance == .ended {
            // Another session of the user is in front, and the process is in no session.
            logind.remove(screen.session)
            screen.enter(StandInSession("c9", at: logind, uid: Self.uid))
            logind.current = nil
        }
        let refusal = await screen.ask()
        let reasons: [DBusError.Name] =
            switch hindrance {
            case .remote, .remoteRoot: [.biometryNotAvailable]
            case .inactive, .otherUser: [.notInteractive]
            // The reason depends on whether the daemon has noticed the agent's end.
            case .ended: [.notInteractive, .biometryNotAvailable]
            }
        let told = refusal?.message ?? "nothing"
        #expect(refusal.map { reasons.contains($0.name) } == true, "\(hindrance): \(told)")
        #expect(screen.bench.agent.count == 0)
        #expect(try await screen.bench.simulated.pending() == ["match"])
    }
}
