import DBus
import FingerprintRig
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// Tests the whole path: from an image in libfprint to the daemon's answer.
@Suite(.timeLimit(.minutes(10)), .serialized, .enabled(if: getuid() == 0))
struct DaemonTests {
    init() { EventLoop.shared.startThread() }

    @Test("The enrolled finger's image matches through the daemon, and another image does not")
    @BusActor func endToEnd() async throws {
        try await DaemonBench.run { bench in
            let unable = try await bench.manager.canEvaluate(policy: 1)
            #expect(unable.code == -7, "\(unable.message)")
            let id = try await bench.enroll("right thumb")
            #expect(
                try await bench.device.listTemplates(options: [:]).map(\.label) == ["right thumb"]
            )
            #expect(try await bench.manager.canEvaluate(policy: 1).available)

            let call = try bench.evaluate()
            try await bench.rig.touch(1, again: true)
            let result = try await call.reply()
            #expect(result["mechanism"]?.asString == "biometry")
            #expect(result["sensor"]?.asString == "Fingerprint")
            #expect(result["biometry-type"]?.asUInt32 == 1)

            let refused = try bench.evaluate()
            for attempt in 1...3 {
                try await bench.rig.touch(2)
                let updates = bench.agent.updates
                _ = try await updates.first("no-match \(attempt)") { _ in
                    updates.seen.count { $0.kind == "no-match" } == attempt
                }
            }
            do throws(DBusError) {
                _ = try await refused.reply()
                Issue.record("the wrong finger was let in")
            } catch {
                #expect(error.name == "org.localauth.Error.AuthenticationFailed")
            }
            try await bench.device.removeTemplate(id: id, options: [:])
            #expect(try await bench.manager.canEvaluate(policy: 1).code == -7)
        }
    }

    @Test("L25: an evaluation waits for a busy reader and ends with the finger")
    @BusActor func inUse() async throws {
        try await DaemonBench.run { bench in
            _ = try await bench.enroll("one")
            let other = try bench.rig.bus.connect()
            try await eventually("another program to get the reader") {
                (try? await bench.rig.device("Claim", "bob", by: other)) != nil
            }
            let call = try bench.evaluate()
            let updates = bench.agent.updates
            _ = try await updates.first("sensor-busy") { $0.kind == "sensor-busy" }
            #expect(!updates.seen.contains { $0.kind == "sensor-ready" })
            try await bench.rig.device("Release", by: other)
            _ = try await updates.first("sensor-ready") { $0.kind == "sensor-ready" }
            try await bench.rig.touch(1, again: true)
            #expect(try await call.reply()["sensor"]?.asString == "Fingerprint")
        }
    }

    @Test("A finger enrolled with fprintd-enroll changes the domain state before the next answer")
    @BusActor func domainState() async throws {
        try await DaemonBench.run { bench in
            _ = try await bench.enroll("one")
            var states: [[UInt8]] = []
            for round in 0..<3 {
                if round == 2 {
                    try await bench.rig.enroll(2, as: "left-thumb", of: "tester")
                }
                let call = try bench.evaluate()
                try await bench.rig.touch(1, again: true)
                states.append(try #require(try await call.reply()["domain-state"]?.asBytes))
                try await bench.rig.waitUntilFree()
            }
            #expect(states[0] == states[1])
            #expect(states[1] != states[2])
        }
    }

    @Test("The next evaluation notices a finger removed while the sensor was stopped")
    @BusActor func asleep() async throws {
        try await DaemonBench.run(idleTimeout: 1) { bench in
            let id = try await bench.enroll("one")
            let name = "org.localauth.Sensor1.Fingerprint"
            try await bench.bus.waitForOwner(of: name, false)
            // The daemon answers from its cache and starts no sensor.
            #expect(try await bench.device.available())
            #expect(try await bench.device.listTemplates(options: [:]).map(\.id) == [id])
            try await bench.bus.waitForOwner(of: name, false)
            try await bench.rig.deletePrints(of: "tester")
            let evaluation = try bench.evaluate()
            do throws(DBusError) {
                _ = try await evaluation.reply()
                Issue.record("a finger that is not enrolled was looked for")
            } catch {
                #expect(error.name == "org.localauth.Error.BiometryNotEnrolled")
            }
            #expect(try await bench.manager.canEvaluate(policy: 1).code == -7)
        }
    }

    @Test("A match that blocks fprintd for seconds blocks no other caller")
    @BusActor func slowMatch() async throws {
        try await DaemonBench.run { bench in
            _ = try await bench.enroll("one")
            let call = try bench.evaluate()
            try await bench.rig.waitForFingerNeeded()
            // A stopped fprintd answers no call, as during a match, and stays so while the test
            // asks.
            let fprintd = try #require(bench.rig.fprintd)
            fprintd.signal(SIGSTOP)
            defer { fprintd.signal(SIGCONT) }
            let answered = EventRecorder<Bool>()
            onLoop { answered.record((try? await call.reply()) != nil) }
            let clock = ContinuousClock()
            var times: [Duration] = []
            for _ in 0..<21 {
                let start = clock.now
                #expect(try await bench.manager.canEvaluate(policy: 1).available)
                times.append(clock.now - start)
            }
            #expect(answered.seen.isEmpty)
            // A call to fprintd times out after 1.5 s. Use the median, because a busy machine
            // delays some calls.
            #expect(times.sorted()[10] < .seconds(1), "\(times)")
            fprintd.signal(SIGCONT)
            try await bench.rig.touch(1, again: true)
            let isMatch = try await answered.first("the match", within: .seconds(60)) { _ in true }
            #expect(isMatch)
        }
    }
}

/// Runs the daemon, the verifier and the sensor as programs on a rig, with a simulated agent.
@BusActor final class DaemonBench {
    let rig: FingerprintRig
    let manager: Authentication1Proxy
    let device: Device1Proxy
    let agent: ScriptedAgent
    let bus: PrivateBus
    /// On another bus than the rig's, because the rig's logind knows no sessions.
    private let daemon: TestDaemon

    private init(_ rig: FingerprintRig, _ bus: PrivateBus, _ idleTimeout: Int?) async throws {
        self.rig = rig
        self.bus = bus
        try await bus.startVerifier()
        let program = rig.words(["localauth-sensor-fingerprint"])
        if let idleTimeout {
            let words = program + ["--idle-timeout", "\(idleTimeout)"]
            try await bus.offer("org.localauth.Sensor1.Fingerprint", words)
        }
        daemon = try await TestDaemon(on: bus)
        if idleTimeout == nil { try bus.start(program) }
        // A sensor with an idle timeout may already have exited again.
        if idleTimeout == nil {
            try await bus.waitForOwner(of: "org.localauth.Sensor1.Fingerprint")
        }
        (manager, device) = (daemon.manager, daemon.device("Fingerprint"))
        agent = ScriptedAgent(daemon.client)
        agent.will(.watch)
        try await agent.register()
        try await eventually("a usable sensor") { (try? await self.device.available()) == true }
    }

    /// Runs `body` on a bench.
    ///
    /// With `idleTimeout`, the bus starts the sensor, which exits after so many idle seconds.
    static func run(
        idleTimeout: Int? = nil,
        _ body: @BusActor (DaemonBench) async throws -> Void
    ) async throws {
        let rig = try await FingerprintRig()
        do {
            try await PrivateBus.run { bus in
                try await body(try await DaemonBench(rig, bus, idleTimeout))
            }
        } catch {
            await rig.end()
            throw error
        }
        await rig.end()
    }

    func enroll(_ label: String, image: Fingerprints.Image? = nil) async throws -> String {
        let image = try image ?? Fingerprints.image(1)
        let call = try device.enrollStream(label: label, options: [:])
        let ended = EventRecorder<Bool>()
        onLoop {
            while ended.seen.isEmpty {
                if await self.rig.isFingerNeeded() { self.rig.readers[0].touch(image) }
                await pause(.milliseconds(10))
            }
        }
        defer { ended.record(true) }
        let id = try await call.reply()
        try await rig.waitUntilFree()
        return id
    }

    func evaluate() throws -> StreamingCall<[String: Variant]> {
        try manager.evaluateStream(policy: 1, reason: "open the vault", options: [:])
    }
}
