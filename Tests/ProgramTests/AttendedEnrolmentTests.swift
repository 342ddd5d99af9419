import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// L2 and L4: who enrols sits at the machine, from the call to its answer.
@Suite("Enrolments and sessions", .timeLimit(.minutes(10)))
struct AttendedEnrolmentTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    /// A person, who isn't root, in a session of their own.
    @BusActor
    private struct Seat {
        let bench: SessionBench
        let person: Person
        let session: StandInSession
        let device: Device1Proxy

        init(isRemote: Bool = false) async throws {
            bench = try await SessionBench()
            // The daemon knows another session as well.
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

        /// A context of the person's.
        func context() async throws -> Context1Proxy {
            let manager = Authentication1Proxy(
                person.connection,
                destination: bench.owner,
                path: TestDaemon.root
            )
            let path = try await manager.createContext(properties: [:])
            return Context1Proxy(person.connection, destination: bench.owner, path: path)
        }

        /// The option of a context that was just given the passcode.
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

        /// Starts an enrolment and waits until the sensor has seen one of its stages.
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

    @Test("L2, L4: who sits at the machine enrols, whatever becomes of another session")
    @BusActor
    func local() async throws {
        let seat = try await Seat()
        let call = try await seat.begin()
        seat.bench.session.lock(true)
        // Heard before the touches, which come over another connection.
        _ = try await seat.bench.manager.version()
        try await seat.touch()
        _ = try await call.reply()
        #expect(seat.person.prompts.seen.count == 1)
        #expect(try await seat.templates().contains("one"))
    }

    @Test("L2: from a remote session nobody enrols, and no passcode is asked for")
    @BusActor
    func remote() async throws {
        let seat = try await Seat(isRemote: true)
        // Else the enrolment would end.
        try await seat.bench.simulated.queue(outcomes: Array(repeating: "match", count: 5))
        let refusal = try await seat.refusal()
        #expect(refusal?.name == .biometryNotAvailable)
        #expect(refusal?.message.contains("remote session") == true)
        #expect(seat.person.prompts.seen.isEmpty)
    }

    @Test("L2: whose prompt is shown elsewhere, or whose session is locked, enrols nothing")
    @BusActor
    func absent() async throws {
        let seat = try await Seat()
        seat.session.lock(true)
        #expect(try await seat.refusal()?.message.contains("locked") == true)
        seat.session.lock(false)
        // Its agent has no terminal, and its session isn't a graphical one.
        seat.bench.logind.current = nil
        seat.bench.logind.others = nil
        seat.bench.logind.tell("SessionNew")
        // Heard before the call, which comes over another connection.
        _ = try await seat.bench.manager.version()
        #expect(try await seat.refusal()?.message.contains("in no session") == true)
        #expect(seat.person.prompts.seen.isEmpty)
    }

    @Test("L2: whose session isn't in front enrols nothing, though a context has the passcode")
    @BusActor
    func inactive() async throws {
        let seat = try await Seat()
        let lent = try await seat.lentPasscode()
        // Else an enrolment that begins would not end.
        try await seat.bench.simulated.queue(outcomes: Array(repeating: "match", count: 5))
        for isInFront in [false, true] {
            seat.session.activate(isInFront)
            // Heard before the call, which comes over another connection.
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

    @Test("L2, L4: a passcode from before a lock that nobody told of removes no template")
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

    @Test("L4: an enrolment ends with -4 when its session does", arguments: Event.allCases)
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
        // Heard before the touches, which come over another connection.
        _ = try await seat.bench.manager.version()
        try await seat.touch()
        let refusal = await #expect(throws: DBusError.self) { try await call.reply() }
        #expect(refusal?.name == .systemCancel)
    }

    @Test("L4: what is enrolled after a lock or a switch that nobody told of is removed")
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

    @Test("R50: an enrolment that is canceled while the login manager is asked shows no prompt")
    @BusActor
    func canceled() async throws {
        let seat = try await Seat()
        let logind = seat.bench.logind
        let context = try await seat.context()
        let (device, before) = (seat.device, logind.questions)
        var isCanceled = false
        logind.preparation = {
            // It has looked where the caller sits, and asks about the context that is lent.
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

    @Test("L4: what is enrolled while logind can't be asked is removed")
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
