import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// L2 and L4: the user must sit at the machine from the call to its reply.
@Suite("Enrolments and sessions", .timeLimit(.minutes(10)))
struct AttendedEnrolmentTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    /// A user other than root, with a session and an agent.
    @BusActor
    private struct Seat {
        let bench: SessionBench
        let person: Person
        let session: StandInSession
        let device: Device1Proxy

        init(isRemote: Bool = false) async throws {
            bench = try await SessionBench()
            // Makes the daemon learn of another session too.
            _ = try await bench.manager.canInteract()
            let uid = getuid() == 0 ? 65534 : getuid()
            session = StandInSession("c2", at: bench.logind, uid: uid, isRemote: isRemote)
            let logind = bench.logind
            (logind.current, logind.others, logind.display) = (session, session, session)
            logind.tell("SessionNew")
            person = try await Person(bus: bench.bus, isForProcess: isRemote)
            person.passcode = PAMService.passcode
            device = Device1Proxy(
                person.connection,
                destination: bench.owner,
                path: ObjectPath(unchecked: TestDaemon.root.rawValue + "/sensor/Simulated")
            )
        }

        func refusal(_ options: [String: Variant] = [:]) async throws -> DBusError? {
            let device = device
            return await #expect(throws: DBusError.self) {
                try await device.enroll(label: "one", options: options)
            }
        }

        func context() async throws -> Context1Proxy {
            let manager = Authentication1Proxy(
                person.connection,
                destination: bench.owner,
                path: TestDaemon.root
            )
            let path = try await manager.createContext(properties: [:])
            return Context1Proxy(person.connection, destination: bench.owner, path: path)
        }

        /// The option with a context that just received the password.
        func lentPasscode() async throws -> [String: Variant] {
            let context = try await context()
            let result = try await context.evaluate(
                policy: 2,
                reason: "test",
                options: ["sensors": .strings([])]
            )
            #expect(result["mechanism"] == .string("passcode"))
            return ["context": .objectPath(context.path)]
        }

        /// Starts an enrolment and waits until the sensor has reported a stage.
        func begin() async throws -> StreamingCall<String> {
            try await bench.simulated.queue(outcomes: ["match"])
            let call = try device.enrollStream(label: "one", options: [:])
            for await event in call.events where event.kind == "stage" { return call }
            _ = try await call.reply()
            return call
        }

        func touch() async throws {
            for _ in 0..<4 { try await bench.simulated.touch(matching: true) }
        }

        func templates() async throws -> [String] {
            try await device.listTemplates(options: [:]).map(\.label)
        }
    }

    @Test("L2, L4: A user at the machine can enrol, even if another session is locked")
    @BusActor
    func local() async throws {
        let seat = try await Seat()
        let call = try await seat.begin()
        seat.bench.session.lock(true)
        // Waits until the daemon has the lock: the touches use another connection.
        _ = try await seat.bench.manager.version()
        try await seat.touch()
        _ = try await call.reply()
        #expect(seat.person.prompts.seen.count == 1)
        #expect(try await seat.templates().contains("one"))
    }

    @Test("L2: A remote session can't enrol, and no password prompt appears")
    @BusActor
    func remote() async throws {
        let seat = try await Seat(isRemote: true)
        // Otherwise an enrolment would not end.
        try await seat.bench.simulated.queue(outcomes: Array(repeating: "match", count: 5))
        let refusal = try await seat.refusal()
        #expect(refusal?.name == .biometryNotAvailable)
        #expect(refusal?.message.contains("remote session") == true)
        #expect(seat.person.prompts.seen.isEmpty)
    }

    @Test("L2: A locked session, or a prompt in no session, can't enrol")
    @BusActor
    func absent() async throws {
        let seat = try await Seat()
        seat.session.lock(true)
        #expect(try await seat.refusal()?.message.contains("locked") == true)
        seat.session.lock(false)
        // The agent has no terminal, and its session is not graphical.
        seat.bench.logind.current = nil
        seat.bench.logind.others = nil
        seat.bench.logind.tell("SessionNew")
        // Waits until the daemon has the change: the call uses another connection.
        _ = try await seat.bench.manager.version()
        #expect(try await seat.refusal()?.message.contains("in no session") == true)
        #expect(seat.person.prompts.seen.isEmpty)
    }

    @Test("L2: An inactive session can't enrol, even with a password in a context")
    @BusActor
    func inactive() async throws {
        let seat = try await Seat()
        let lent = try await seat.lentPasscode()
        // Otherwise an enrolment would not end.
        try await seat.bench.simulated.queue(outcomes: Array(repeating: "match", count: 5))
        for isInFront in [false, true] {
            seat.session.activate(isInFront)
            // Waits until the daemon has the change: the call uses another connection.
            _ = try await seat.bench.manager.version()
            if isInFront {
                _ = try await seat.device.enroll(label: "one", options: lent)
            } else {
                let refusal = try await seat.refusal(lent)
                #expect(refusal?.message.contains("not in front") == true)
            }
        }
        #expect(seat.person.prompts.seen.count == 1)
    }

    @Test("L2, L4: A password from before a lock whose signal was lost removes no template")
    @BusActor
    func stale() async throws {
        let seat = try await Seat()
        let uid = seat.person.peer.uid
        let id = try await seat.bench.simulated.addTemplate(uid: uid, label: "mine")
        let lent = try await seat.lentPasscode()
        seat.bench.logind.losesSignals = true
        seat.session.lock(true)
        let device = seat.device
        let refusal = await #expect(throws: DBusError.self) {
            try await device.removeTemplate(id: id, options: lent)
        }
        #expect(refusal?.name == .notInteractive)
        #expect(try await seat.templates().contains("mine"))
    }

    enum Event: CaseIterable {
        case lock, leave, end, suspend, lose
    }

    @Test("L4: An enrolment ends with -4 when its session ends", arguments: Event.allCases)
    @BusActor
    func interrupted(_ event: Event) async throws {
        let seat = try await Seat()
        let call = try await seat.begin()
        let logind = seat.bench.logind
        switch event {
        case .lock: seat.session.lock(true)
        case .leave: seat.session.activate(false)
        case .end: logind.remove(seat.session)
        case .suspend: logind.prepareForSleep(true)
        case .lose: logind.stop()
        }
        // Waits until the daemon has the change: the touches use another connection.
        _ = try await seat.bench.manager.version()
        try await seat.touch()
        let refusal = await #expect(throws: DBusError.self) { try await call.reply() }
        #expect(refusal?.name == .systemCancel)
    }

    @Test("L4: An enrolment is undone after a lock or switch whose signal was lost")
    @BusActor
    func missed() async throws {
        for isLocked in [true, false] {
            let seat = try await Seat()
            let before = try await seat.templates()
            let call = try await seat.begin()
            seat.bench.logind.losesSignals = true
            if isLocked { seat.session.lock(true) } else { seat.session.activate(false) }
            try await seat.touch()
            let refusal = await #expect(throws: DBusError.self) { try await call.reply() }
            #expect(refusal?.name == .systemCancel)
            #expect(try await seat.templates() == before)
        }
    }

    @Test("R50: An enrolment canceled during a call to logind shows no prompt")
    @BusActor
    func canceled() async throws {
        let seat = try await Seat()
        let logind = seat.bench.logind
        let context = try await seat.context()
        let (device, before) = (seat.device, logind.questions)
        var isCanceled = false
        logind.preparation = {
            // The daemon has looked up the caller's session, and now checks the lent context.
            let hasLooked = ["LidClosed", "PreparingForSleep"]
                .allSatisfy { logind.questions[$0, default: 0] > before[$0, default: 0] }
            guard !isCanceled, hasLooked else { return }
            isCanceled = true
            try? await device.cancelEnroll()
        }
        let refusal = try await seat.refusal(["context": .objectPath(context.path)])
        #expect(refusal?.name == .appCancel)
        #expect(isCanceled)
        #expect(seat.person.prompts.seen.isEmpty)
    }

    @Test("L4: An enrolment is undone while logind can't be reached")
    @BusActor
    func unasked() async throws {
        let seat = try await Seat()
        let before = try await seat.templates()
        let call = try await seat.begin()
        seat.bench.logind.refusals = .max
        try await seat.touch()
        let refusal = await #expect(throws: DBusError.self) { try await call.reply() }
        #expect(refusal?.name == .systemCancel)
        #expect(try await seat.templates() == before)
    }
}
