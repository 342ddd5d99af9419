import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// L3 and L4: the lid and sleep.
@Suite("Lid and sleep", .timeLimit(.minutes(10)))
struct SessionSleepTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    @Test("L3: With a closed lid no sensor looks, unless docked")
    @BusActor
    func lid() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let running = try await bench.evaluation()
        bench.logind.closeLid(true)
        #expect(await bench.end(of: running)?.name == .biometryNotAvailable)
        try await bench.device("Simulated", becomes: "lid-closed")
        #expect(try await bench.manager.canEvaluate(policy: 1).code == -6)
        bench.logind.closeLid(true, docked: true)
        try await bench.device("Simulated", becomes: "")
        #expect(try await bench.evaluateWithMatch() == nil)
        bench.logind.closeLid(true)
        try await bench.device("Simulated", becomes: "lid-closed")
        bench.logind.closeLid(false)
        try await bench.device("Simulated", becomes: "")
        #expect(try await bench.evaluateWithMatch() == nil)
    }

    @Test("L3: Closing and opening the lid signals the sensor's unavailability")
    @BusActor
    func lidSignals() async throws {
        let bench = try await SessionBench()
        let told = Feed<[String: Variant]>()
        let source = bench.device("Simulated").onPropertiesChanged { values, _ in told.add(values) }
        defer { source.cancel() }
        for (isClosed, reason) in [(true, "lid-closed"), (false, "")] {
            bench.logind.closeLid(isClosed)
            var values = await told.next()
            while values?["Unavailability"] != .string(reason) { values = await told.next() }
            #expect(values?["Available"] == .bool(!isClosed))
        }
    }

    @Test("L3: The next evaluation notices a lid that moved without a signal")
    @BusActor
    func silentLid() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        bench.logind.isLidClosed = true
        #expect(await bench.evaluate()?.name == .biometryNotAvailable)
        #expect(try await bench.manager.canEvaluate(policy: 1).code == -6)
        bench.logind.isLidClosed = false
        #expect(try await bench.evaluateWithMatch() == nil)
        #expect(try await bench.manager.canEvaluate(policy: 1).code == 0)
    }

    @Test("L3: A daemon that starts with a closed lid knows it before the first evaluation")
    @BusActor
    func startUnderLid() async throws {
        let bench = try await SessionBench()
        // An evaluation, or a query about evaluations, would check the lid itself.
        @BusActor func becomes(_ reason: String) async throws {
            try await eventually("a sensor that is “\(reason)”") {
                (try? await bench.device("Simulated").unavailability()) == reason
            }
        }
        try await bench.restartDaemon { bench.logind.isLidClosed = true }
        try await becomes("lid-closed")
        // A new logind reports its state too.
        bench.logind.stop()
        bench.logind.isLidClosed = false
        try bench.logind.start()
        try await becomes("")
    }

    @Test("L3, L11b, R67: A finger added while the lid is closed deletes the item")
    @BusActor
    func addedUnderLid() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let keychain = Keychain1Proxy(
            bench.logind.connection,
            destination: bench.owner,
            path: Keychain1.path
        )
        let current: UInt64 = 1 << 3
        let id = try await keychain.add(
            attributes: ["class": .string("genp"), "svce": .string("current")],
            secret: Array("secret".utf8),
            accessControl: ["flags": .uint64(current)],
            options: [:]
        )
        let context = try await bench.context([:])
        try await bench.simulated.queue(outcomes: ["match"])
        _ = try await context.evaluate(policy: 1, reason: "test", options: [:])
        @BusActor func read() async throws -> Bool {
            let options: [String: Variant] = [
                "context": .objectPath(context.path), "interaction-not-allowed": .bool(true),
            ]
            let secret = try await keychain.read(id: id, reason: "test", options: options)
            return secret == Array("secret".utf8)
        }
        bench.logind.closeLid(true)
        try await bench.device("Simulated", becomes: "lid-closed")
        // The templates have not changed, so the context still counts.
        let state = try await context.domainState()
        #expect(state["biometry"] != .bytes([]))
        #expect(try await read())

        _ = try await bench.simulated.addTemplate(uid: getuid(), label: "another")
        let error = await #expect(throws: DBusError.self) { _ = try await read() }
        #expect(error?.name == .keychainNotFound)
        #expect(try await context.domainState() != state)
    }

    @Test("L4: Sleep ends everything with -4, and waits until the sensors have ended")
    @BusActor
    func suspend() async throws {
        let bench = try await SessionBench()
        let slow = try ScriptedSensor.slow(on: bench.bus.connect())
        try await bench.device("Slow", becomes: "")
        try await bench.registerAgent()
        #expect(await bench.logind.delays.next() == true)
        let words = try #require(bench.logind.inhibitions.first)
        #expect(words[0] == "sleep" && words[1] == "localauthd" && words[3] == "delay")
        let call = try await bench.evaluation(sensors: 2)

        bench.logind.prepareForSleep(true)
        #expect(await bench.end(of: call)?.name == .systemCancel)
        #expect(try await bench.agent.end() == "system")
        _ = try await slow.operation().canceled.first("Cancel") { _ in true }
        for name in ["Simulated", "Slow"] { try await bench.device(name, becomes: "suspended") }
        #expect(await bench.evaluate(policy: 2)?.name == .systemCancel)
        // A match after Cancel does not count, and the machine may sleep only afterwards.
        #expect(bench.logind.isDelayed)
        try await slow.operation().succeed("one")
        #expect(await bench.logind.delays.next() == false)

        bench.logind.prepareForSleep(false)
        #expect(await bench.logind.delays.next() == true)
        for name in ["Simulated", "Slow"] { try await bench.device(name, becomes: "") }
        let next = try await bench.evaluation(sensors: 2)
        try await slow.operation(1).succeed("one")
        #expect(try await next.reply()["sensor"] == .string("Slow"))
        #expect(try await bench.evaluateWithMatch() == nil)
    }

    @Test("L4: A sleep inhibitor that arrives after sleep began anew is released at once")
    @BusActor
    func lateLock() async throws {
        let bench = try await SessionBench()
        let logind = bench.logind
        #expect(await logind.delays.next() == true)
        logind.prepareForSleep(true)
        #expect(await logind.delays.next() == false)
        let word = EventRecorder<Bool>()
        logind.beforeInhibitor = {
            _ = try? await word.first("a word", within: .seconds(60)) { $0 }
        }
        logind.questions = [:]
        logind.prepareForSleep(false)
        try await eventually("the lock to be asked for") { logind.questions["Inhibit"] == 1 }
        logind.prepareForSleep(true)
        try await bench.device("Simulated", becomes: "suspended")
        // No sensor runs an operation, so sleep need not wait.
        for _ in 0..<20 { _ = try await bench.manager.version() }
        word.record(true)
        #expect(await logind.delays.next() == true)
        try await eventually("sleep not to wait") { !logind.isDelayed }
    }

    @Test("L4: An enrolment ends before sleep")
    @BusActor
    func enrolment() async throws {
        let bench = try await SessionBench()
        #expect(await bench.logind.delays.next() == true)
        try await bench.simulated.queue(outcomes: ["match"])
        let call = try bench.device("Simulated").enrollStream(label: "one", options: [:])
        // Root needs no password. Other users are refused, because no agent prompts for it.
        var hasBegun = false
        for await event in call.events where event.kind == "stage" {
            hasBegun = true
            break
        }
        #expect(hasBegun == (getuid() == 0))
        bench.logind.prepareForSleep(true)
        let ended = await #expect(throws: DBusError.self) { try await call.reply() }
        #expect(ended?.name == (hasBegun ? .systemCancel : .notInteractive))
        #expect(await bench.logind.delays.next() == false)
        bench.logind.prepareForSleep(false)
        try await bench.device("Simulated", becomes: "")
    }

    @Test("L4: A daemon that starts while the machine goes to sleep knows it")
    @BusActor
    func startAsleep() async throws {
        let bench = try await SessionBench(isAsleep: true)
        #expect(await bench.evaluate()?.name == .systemCancel)
        // A restarted daemon knows it too.
        try await bench.restartDaemon()
        try await bench.device("Simulated", becomes: "suspended")
        #expect(await bench.evaluate()?.name == .systemCancel)
        bench.logind.prepareForSleep(false)
        try await bench.device("Simulated", becomes: "")
        try await bench.registerAgent()
        #expect(try await bench.evaluateWithMatch() == nil)
        // A new logind reports its state too.
        bench.logind.stop()
        bench.logind.isPreparingForSleep = true
        try bench.logind.start()
        try await bench.device("Simulated", becomes: "suspended")
        bench.logind.prepareForSleep(false)
        try await bench.device("Simulated", becomes: "")
    }
}
