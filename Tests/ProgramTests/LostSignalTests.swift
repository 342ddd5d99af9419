import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// Signals of logind that a full bus dropped are noticed before the next decision.
@Suite("Lost signals of logind", .timeLimit(.minutes(10)))
struct LostSignalTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    /// A lock, a switch or a sleep, and its end.
    enum Event: CaseIterable {
        case lock
        case leave
        case suspend

        @BusActor func happen(_ isOver: Bool, at bench: SessionBench) {
            switch self {
            case .lock: bench.session.lock(!isOver)
            case .leave: bench.session.activate(isOver)
            case .suspend: bench.logind.prepareForSleep(!isOver)
            }
        }

        var refusal: DBusError.Name { self == .suspend ? .systemCancel : .notInteractive }
    }

    @Test("L2, L4: A lost signal refuses the next evaluation", arguments: Event.allCases)
    @BusActor
    func arriving(_ event: Event) async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        #expect(try await bench.evaluateWithMatch() == nil)
        bench.logind.losesSignals = true
        event.happen(false, at: bench)
        #expect(await bench.evaluate()?.name == event.refusal)
        #expect(await bench.evaluate(policy: 2)?.name == event.refusal)
        event.happen(true, at: bench)
        #expect(try await bench.evaluateWithMatch() == nil)
    }

    @Test("L4: A match after a lost signal does not count", arguments: Event.allCases)
    @BusActor
    func matching(_ event: Event) async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let running = try await bench.evaluation()
        bench.logind.losesSignals = true
        event.happen(false, at: bench)
        try await bench.simulated.touch(matching: true)
        #expect(await bench.end(of: running)?.name == .systemCancel)
        #expect(try await bench.agent.end() == "system")
    }

    @Test(
        "L4: A match does not count if a signal was lost during the look-up of its template",
        arguments: [nil] + Event.allCases
    )
    @BusActor
    func lookedUp(_ event: Event?) async throws {
        let bench = try await SessionBench()
        let slow = try ScriptedSensor.slow(on: bench.bus.connect())
        try await bench.device("Slow", becomes: "")
        try await bench.registerAgent()
        let running = try await bench.evaluation(sensors: 2)
        bench.logind.losesSignals = true
        slow.onList = {
            slow.onList = nil
            _ = slow.add("new", for: getuid())
            event?.happen(false, at: bench)
        }
        try await slow.operation().succeed("new")
        #expect(await bench.end(of: running)?.name == (event == nil ? nil : .systemCancel))
        #expect(slow.onList == nil)
    }

    @Test(
        "L4: A match does not count if a signal was lost during a second look-up of its template",
        arguments: [nil] + Event.allCases
    )
    @BusActor
    func lookedUpOnceMore(_ event: Event?) async throws {
        let bench = try await SessionBench()
        // On logind's connection, so that its messages precede logind's later replies.
        let slow = try ScriptedSensor.slow(on: bench.logind.connection)
        try await bench.device("Slow", becomes: "")
        try await bench.registerAgent()
        let running = try await bench.evaluation(sensors: 2)
        bench.logind.losesSignals = true
        bench.logind.onSleepQuestion = {
            bench.logind.onSleepQuestion = nil
            slow.signals.templatesChanged(uid: getuid())
            slow.onList = {
                slow.onList = nil
                event?.happen(false, at: bench)
            }
        }
        try await slow.operation().succeed("one")
        #expect(await bench.end(of: running)?.name == (event == nil ? nil : .systemCancel))
        #expect(bench.logind.onSleepQuestion == nil)
        #expect(slow.onList == nil)
    }

    @Test("L4: A right password after a lost signal does not count", arguments: Event.allCases)
    @BusActor
    func typing(_ event: Event) async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let running = try await bench.evaluation(policy: 2)
        bench.logind.losesSignals = true
        event.happen(false, at: bench)
        bench.agent.enter(PAMService.passcode)
        #expect(await bench.end(of: running)?.name == .systemCancel)
    }

    @Test("L4: A face confirmed after a lost signal does not count", arguments: Event.allCases)
    @BusActor
    func confirming(_ event: Event) async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let running = try await bench.evaluationOfFace()
        bench.logind.losesSignals = true
        event.happen(false, at: bench)
        try await bench.manager.submitConfirm(prompt: bench.agent.last)
        #expect(await bench.end(of: running)?.name == .systemCancel)
        #expect(try await bench.agent.end() == "system")
    }

    @Test("L4: An app's password after a lost signal is not accepted", arguments: Event.allCases)
    @BusActor
    func password(_ event: Event) async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let context = try await bench.context([:])
        let running = try await bench.evaluation(withPasswordIn: context)
        bench.logind.losesSignals = true
        event.happen(false, at: bench)
        bench.agent.enter("word")
        #expect(await bench.end(of: running)?.name == .systemCancel)
        #expect(try await !context.isCredentialSet(credentialType: 0))
    }

    @Test(
        "L2, L9: A queued evaluation shows no prompt after a lost signal",
        arguments: Event.allCases
    )
    @BusActor
    func waiting(_ event: Event) async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let running = try await bench.evaluation()
        // A connection may queue two calls: once a third is refused, the others are queued.
        let ends = EventRecorder<DBusError.Name?>()
        for _ in 0..<3 {
            let call = try bench.manager.evaluateStream(policy: 1, reason: "test", options: [:])
            onLoop { ends.record(await bench.end(of: call)?.name) }
        }
        _ = try await ends.first("one too many") { $0 == .limitsExceeded }
        bench.logind.losesSignals = true
        event.happen(false, at: bench)
        try await bench.manager.submitCancel(prompt: bench.agent.last)
        #expect(await bench.end(of: running)?.name == .userCancel)
        try await eventually("all to end") { ends.seen.count == 3 }
        #expect(ends.seen == [.limitsExceeded, .systemCancel, .systemCancel])
        #expect(bench.agent.count == 1)
    }

    @Test("L2, L4: A session whose end was not signalled counts as ended")
    @BusActor
    func gone() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        #expect(try await bench.evaluateWithMatch() == nil)
        bench.logind.losesSignals = true
        bench.logind.remove(bench.session)
        #expect(try await bench.evaluateWithMatch()?.name == .notInteractive)
    }

    @Test("L2: A lock ends a context's proof, even if its signal was lost")
    @BusActor
    func kept() async throws {
        for isLost in [false, true] {
            let bench = try await SessionBench()
            try await bench.registerAgent()
            let context = try await bench.context(["SuccessDuration": .double(3600)])
            try await bench.simulated.queue(outcomes: ["match"])
            _ = try await context.evaluate(policy: 1, reason: "test", options: [:])
            let again = try await context.evaluate(policy: 1, reason: "test", options: [:])
            #expect(again["mechanism"] == .string("context"))
            bench.logind.losesSignals = isLost
            bench.session.lock(true)
            let refusal = await #expect(throws: DBusError.self) {
                try await context.evaluate(policy: 1, reason: "test", options: [:])
            }
            #expect(refusal?.name == .notInteractive)
            #expect(refusal?.message.contains("locked") == true)
            bench.session.lock(false)
            try await bench.simulated.queue(outcomes: ["match"])
            let anew = try await context.evaluate(policy: 1, reason: "test", options: [:])
            #expect(anew["mechanism"] == .string("biometry"))
        }
    }

    @Test("L2, L4: An older reply does not undo a lock that was signalled meanwhile")
    @BusActor
    func overtakenByLock() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        #expect(try await bench.evaluateWithMatch() == nil)
        let session = bench.session
        session.onLookUp = {
            session.onLookUp = nil
            session.lock(true)
        }
        let refusal = try await bench.evaluateWithMatch()
        #expect(refusal?.name == .notInteractive)
        #expect(refusal?.message.contains("locked") == true)
        #expect(try await bench.absence() == "locked")
    }

    @Test("L4: An older reply does not undo a sleep that was signalled meanwhile")
    @BusActor
    func overtakenBySleep() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        #expect(try await bench.evaluateWithMatch() == nil)
        let logind = bench.logind
        logind.onSleepQuestion = {
            logind.onSleepQuestion = nil
            logind.prepareForSleep(true)
        }
        #expect(await bench.evaluate()?.name == .systemCancel)
        // The replies to the daemon came earlier, so the daemon has handled them.
        for _ in 0..<20 { _ = try await bench.manager.version() }
        #expect(try await bench.device("Simulated").unavailability() == "suspended")
    }

    @Test("L4: The daemon notices the end of sleep without a signal")
    @BusActor
    func waking() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        bench.logind.prepareForSleep(true)
        #expect(await bench.evaluate()?.name == .systemCancel)
        bench.logind.losesSignals = true
        bench.logind.prepareForSleep(false)
        #expect(try await bench.evaluateWithMatch() == nil)
    }
}
