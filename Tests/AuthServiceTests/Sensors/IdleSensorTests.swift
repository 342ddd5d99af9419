import AuthEngine
import AuthStore
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

/// Sensors that exit when idle, and that the bus starts when needed.
@Suite(.timeLimit(.minutes(10)))
struct IdleSensorTests {
    init() { EventLoop.shared.startThread() }

    private static let program =
        ChildProcess.folder + "/localauth-sensor-simulated --idle-timeout 5"
    private static let name = "org.localauth.Sensor1.Sleepy"

    @Test(
        "An idle sensor that exited is available, and only a query wakes it"
    )
    func asleep() async throws {
        try await ServiceBench.run { bench in
            try await bench.install("Sleepy", program: Self.program)
            try await bench.waitForDevice("Sleepy", is: "")
            // The daemon looks up template changes at once for users with a context.
            let context = try await bench.context()
            let states = try await bench.announcedStates(of: "Sleepy")
            // Record all owners, because a process may exit before a poll sees it.
            let owners = EventRecorder<String>()
            let watch = bench.client.watchName(Self.name) { owner in
                if let owner { owners.record(owner) }
            }
            defer { watch.cancel() }
            try await bench.bus.waitForOwner(of: Self.name, false)
            #expect(try await bench.client.nameOwner(Self.name) == nil)
            for _ in 0..<2 {
                let before = Set(owners.seen)
                #expect(try await bench.canEvaluate().code == -7)
                // The background query starts a process.
                _ = try await owners.first("another process") { !before.contains($0) }
                try await bench.bus.waitForOwner(of: Self.name, false)
                for _ in 0..<5 {
                    #expect(try await bench.device("Sleepy").available())
                    #expect(try await bench.manager.biometryTypes() == [1])
                    _ = try await context.biometryType()
                }
                #expect(try await bench.client.nameOwner(Self.name) == nil)
            }
            #expect(states.seen.isEmpty, "\(states.seen)")
            try await bench.uninstall("Sleepy")
        }
    }

    @Test("A device that is connected while its sensor sleeps is found by the next query")
    func plugged() async throws {
        try await ServiceBench.run { bench in
            let first = try await bench.sensor("Sleepy", expecting: "no-hardware") {
                $0.isPresent = false
                $0.reason = "no-hardware"
            }
            try await bench.bus.allowSuccessor()
            first.connection.releaseName(Self.name)
            try await bench.bus.waitForOwner(of: Self.name, false)
            let answer = Task.immediate { @BusActor in try await bench.canEvaluate() }
            let second = try await bench.bus.successor {
                _ = $0.add(for: bench.uid, announcing: false)
            }
            #expect(try await answer.value.code == 0)
            withExtendedLifetime(second) {}
        }
    }

    /// Makes a sensor list a finger and then exit cleanly.
    @BusActor
    private static func fallAsleep(_ bench: ServiceBench) async throws {
        let first = try await bench.sensor("Sleepy")
        _ = first.add(for: bench.uid)
        #expect(try await bench.canEvaluate().code == 0)
        try await bench.bus.allowSuccessor()
        first.connection.releaseName(Self.name)
        try await bench.bus.waitForOwner(of: Self.name, false)
        // After the last reply, the daemon knows how it ended.
        for _ in 0..<4 { await bench.heard() }
    }

    @Test("L11b: a sleeping sensor's list is answered, and the sensor is woken in the background")
    func told() async throws {
        try await ServiceBench.run { bench in
            try await Self.fallAsleep(bench)
            // No process can answer, so the answer comes from the cache.
            try await eventually("a start") {
                try expect(
                    try await bench.manager.canEvaluate(policy: 1).code == 0,
                    "a finger that is known"
                )
                return bench.bus.isWanted
            }
            let second = try await bench.bus.successor { _ in }
            try await eventually("the next one's list") {
                try await bench.canEvaluate().code == -7
            }
            withExtendedLifetime(second) {}
        }
    }

    @Test("L11b: a sleeping sensor's list does not count for its next process")
    func another() async throws {
        try await ServiceBench.run { bench in
            try await Self.fallAsleep(bench)
            let second = ScriptedSensor("Sleepy", on: try bench.bus.connect())
            try second.appear()
            _ = try await bench.manager(second.connection).version()
            try await bench.waitForDevice("Sleepy", is: "")
            #expect(try await bench.canEvaluate().code == -7)
        }
    }

    @Test("L12: a domain state is read after a sensor that slept has reported changes")
    func state() async throws {
        try await ServiceBench.run { bench in
            let first = try await bench.sensor("Sleepy")
            _ = first.add(for: bench.uid)
            let context = try await bench.context()
            #expect(try await context.canEvaluate(policy: 1).code == 0)
            let known = try await context.domainState()
            let evaluated = try await context.evaluatedPolicyDomainState()
            #expect(known["biometry"] == .bytes(evaluated))
            try await bench.bus.allowSuccessor()
            first.connection.releaseName(Self.name)
            try await bench.bus.waitForOwner(of: Self.name, false)
            // After the last reply, the daemon knows how it ended.
            for _ in 0..<4 { await bench.heard() }
            #expect(try await context.canEvaluate(policy: 1).code == 0)
            let refused = try await bench.context()
            #expect(try await refused.canEvaluate(policy: 1).code == 0)
            let state = Task.immediate { @BusActor in try await context.domainState() }
            let later = Task.immediate { @BusActor in
                try await context.evaluatedPolicyDomainState()
            }
            let second = try await bench.bus.successor {
                for _ in 0..<2 { _ = $0.add(for: bench.uid, announcing: false) }
            }
            #expect(try await state.value["biometry"] == .bytes(later.value))
            #expect(try await later.value != evaluated)
            // An evaluation since then has cleared this state, which is not replaced.
            let options: [String: Variant] = ["interaction-not-allowed": .bool(true)]
            await expectName(.notInteractive) {
                _ = try await refused.evaluate(policy: 1, reason: "test", options: options)
            }
            #expect(try await refused.evaluatedPolicyDomainState().isEmpty)
            withExtendedLifetime(second) {}
        }
    }

    /// Runs a test after a sensor reported a missing device and fell asleep.
    ///
    /// `isTold` returns whether the cache still answers when the last query is no longer recent.
    private func withoutDevice(
        _ body:
            @escaping @BusActor (
                _ bench: AuditBench, _ records: String, _ isTold: @BusActor () -> Bool
            ) async throws -> Void
    ) async throws {
        let records = try TemporaryFolder()
        try await AuditBench.run(deviceRecords: records.path) { bench in
            let first = ScriptedSensor("Sleepy", on: try bench.bus.connect())
            (first.isPresent, first.reason) = (false, "no-hardware")
            try first.appear()
            let manager = bench.manager()
            try await eventually("a sensor without a device") {
                try await manager.canEvaluate(policy: 1).code == -6
            }
            try await bench.bus.allowSuccessor()
            first.connection.releaseName(Self.name)
            try await bench.bus.waitForOwner(of: Self.name, false)
            for _ in 0..<4 { _ = try await bench.manager(first.connection).version() }
            let enrolments = bench.service.enrolments
            try await body(bench, records.path) {
                enrolments.isCached(of: getuid(), at: Instant.now() + .seconds(2))
            }
        }
    }

    @Test("L11b: without a new device, a sensor without hardware delays no answer")
    func noDevice() async throws {
        try await withoutDevice { bench, _, isTold in
            #expect(isTold())
            let manager = bench.manager()
            try await eventually("a start") {
                try expect(try await manager.canEvaluate(policy: 1).code == -6, "no device")
                return bench.bus.isWanted
            }
        }
    }

    @Test("L11b: with a new device, a sensor without hardware is queried before the answer")
    func newDevice() async throws {
        try await withoutDevice { bench, records, isTold in
            #expect(isTold())
            try TemporaryFolder.write(records + "/c189:7", "".utf8)
            try await eventually("the device to be recorded") { !isTold() }
            let peer = try await bench.service.connection.peer(named: bench.client.uniqueName)
            // A query within the last second is not repeated.
            try await eventually("an answer that waits") {
                switch bench.service.evaluations.canEvaluate(.biometrics, for: peer) {
                case .now: false
                case .later: true
                }
            }
            // The wait is not caused by an earlier background query.
            #expect(!bench.bus.isWanted)
            let manager = bench.manager()
            let answer = Task.immediate { @BusActor in try await manager.canEvaluate(policy: 1) }
            let uid = getuid()
            let second = try await bench.bus.successor { _ = $0.add(for: uid, announcing: false) }
            // If the start exceeds the patience, a later answer includes the device.
            _ = try await answer.value
            try await eventually("the device") {
                try await manager.canEvaluate(policy: 1).code == 0
            }
            withExtendedLifetime(second) {}
        }
    }

    @Test("L11b: a sleeping verifier's answer stays valid while the shadow file is unchanged")
    func sleepingVerifier() async throws {
        let folder = try TemporaryFolder()
        let shadow = folder.path + "/shadow"
        try TemporaryFolder.write(shadow, "root:x".utf8)
        try await AuditBench.run(shadowFile: shadow) { bench in
            let manager = bench.manager()
            #expect(try await manager.canEvaluate(policy: 2).code == 0)
            try await bench.bus.allowSuccessor(of: ScriptedVerifier.name)
            bench.verifier.connection.releaseName(ScriptedVerifier.name)
            try await bench.bus.waitForOwner(of: ScriptedVerifier.name, false)
            for _ in 0..<4 { _ = try await bench.manager(bench.verifier.connection).version() }
            // No process can answer, so the answer comes from the cache.
            try await eventually("a start") {
                try expect(try await manager.canEvaluate(policy: 2).code == 0, "a passcode")
                return bench.bus.isWanted
            }
            try TemporaryFolder.write(shadow, "root:".utf8)
            let answer = Task.immediate { @BusActor in try await manager.canEvaluate(policy: 2) }
            // After this reply the daemon has read the query, while no verifier exists.
            _ = try await manager.version()
            let next = try ScriptedVerifier(on: bench.bus, isPasscodeSet: false)
            #expect(try await answer.value.code == -5)
            withExtendedLifetime(next) {}
        }
    }

    @Test(
        "A list query to an exiting sensor is sent to its successor",
        arguments: [false, true]
    )
    func leavingList(isUnheard: Bool) async throws {
        try await ServiceBench.run { bench in
            let first = try await bench.sensor("Sleepy") { $0.unanswered = ["ListTemplates"] }
            try await bench.bus.allowSuccessor()
            first.listError = .sensorBusy
            // Lose signals before the query starts, because its answer has a timeout.
            if isUnheard { try await bench.bus.lose(.nameOwnerChanged) }
            let answer = Task.immediate { @BusActor in try await bench.canEvaluate() }
            _ = try await first.calls.first("the question") { $0 == "ListTemplates" }
            first.connection.releaseName(Self.name)
            first.speak()
            let second = try await bench.bus.successor {
                _ = $0.add(for: bench.uid, announcing: false)
            }
            #expect(try await answer.value.code == 0)
            withExtendedLifetime(second) {}
        }
    }

    @Test(
        "A verification sent to an exiting sensor is sent to its successor",
        arguments: [false, true]
    )
    func leavingLook(isUnheard: Bool) async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let uid = person.peer.uid
            let first = try await bench.sensor("Sleepy")
            let id = first.add(for: uid)
            try await bench.bus.allowSuccessor()
            let evaluation = bench.evaluate(person)
            let asked = try await first.operation()
            if isUnheard { try await bench.bus.lose(.nameOwnerChanged) }
            first.connection.releaseName(Self.name)
            asked.fail(.sensorBusy)
            let second = try await bench.bus.successor { _ = $0.add(for: uid, announcing: false) }
            try await second.operation().succeed(id)
            #expect(try await evaluation.value()["mechanism"] == .string("biometry"))
            #expect(!person.updates.seen.contains { $0.kind == "sensor-failed" })
        }
    }

    @Test("A sensor that crashed without a signal did not fall asleep", arguments: [false, true])
    func crashed(isUnheard: Bool) async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor("Sleepy")
            _ = sensor.add(for: person.peer.uid)
            try await bench.bus.allowSuccessor()
            if isUnheard { try await bench.bus.lose(.nameOwnerChanged) }
            sensor.connection.close()
            await #expect(throws: DBusError.self) {
                try await bench.begin(person.connection).reply()
            }
            try await bench.waitForDevice("Sleepy", is: "crashed")
        }
    }

    @Test(
        "A password sent to an exiting verifier is verified by its successor",
        arguments: [false, true]
    )
    func leavingVerifier(isUnheard: Bool) async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            try await bench.bus.allowSuccessor(of: ScriptedVerifier.name)
            if isUnheard { try await bench.bus.lose(.nameOwnerChanged) }
            bench.verifier.isLeaving = true
            let evaluation = bench.evaluate(person, 2)
            try await bench.bus.waitUntilWanted()
            let next = try ScriptedVerifier(on: bench.bus)
            next.sealingKey = bench.verifier.sealingKey
            #expect(try await evaluation.value()["mechanism"] == .string("passcode"))
            #expect(next.verified.seen.count == 1)
        }
    }
}

extension PrivateBus {
    /// Makes the bus wait for `successor` when the present sensor is needed again.
    ///
    /// Returns when the daemon knows.
    @BusActor func allowSuccessor(
        of name: String = "org.localauth.Sensor1.Sleepy"
    ) async throws {
        let script = folder + "/want"
        try TemporaryFolder.write(script, "touch \(folder)/wanted\n".utf8)
        try await offer(name, ["/bin/sh", script])
        // The daemon queries activatable names before its first reply, and has the answer by the
        // second.
        let manager = Authentication1Proxy(
            try connect(),
            destination: TestDaemon.name,
            path: TestDaemon.root
        )
        for _ in 0..<2 { _ = try await manager.version() }
    }

    @BusActor var isWanted: Bool { access(folder + "/wanted", F_OK) == 0 }

    @BusActor func waitUntilWanted() async throws {
        try await eventually("a start") { self.isWanted }
    }

    /// Connects the sensor after the bus was asked to start it.
    @BusActor func successor(
        _ prepare: @BusActor (ScriptedSensor) -> Void
    ) async throws -> ScriptedSensor {
        try await waitUntilWanted()
        let next = ScriptedSensor("Sleepy", on: try connect())
        prepare(next)
        try next.appear()
        return next
    }
}
