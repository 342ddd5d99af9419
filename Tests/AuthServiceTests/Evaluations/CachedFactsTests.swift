import AuthEngine
import AuthStore
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

/// Announcements of sensors and verifier make cached answers usable or stale (L11b).
@Suite("Cached answers", .timeLimit(.minutes(10)))
struct CachedFactsTests {
    init() { EventLoop.shared.startThread() }

    @Test("L11b: a fresh cache answers without a query, even an app's first call")
    func withoutQuestion() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            let isTold = try await Self.inLessThanASecond {
                try await Self.tellAll(bench, sensor, to: person)
                let before = Self.questions(bench, sensor)
                for connection in [person.connection, try person.app(bench.bus)] {
                    for policy in UInt32(1)...4 {
                        let answer = try await bench.manager(connection).canEvaluate(policy: policy)
                        #expect(answer.available == (policy != 3), "policy \(policy)")
                    }
                }
                for policy in UInt32(1)...4 {
                    let answer = try await context.canEvaluate(policy: policy)
                    #expect(answer.available == (policy != 3), "policy \(policy) of a context")
                }
                _ = (try await context.domainState(), try await bench.context())
                return Self.questions(bench, sensor) == before
            }
            #expect(isTold)
        }
    }

    /// Makes all sources announce a change and answer, so that no query is due for a second.
    @BusActor private static func tellAll(
        _ bench: ServiceBench,
        _ sensor: ScriptedSensor,
        to person: Person
    ) async throws {
        sensor.signals.templatesChanged(uid: person.peer.uid)
        bench.verifier.tellChange()
        #expect(try await bench.canEvaluate(as: person.connection).code == 0)
        // By this point, queries caused by the announcement alone have been sent.
        await bench.heard()
    }

    @BusActor private static func questions(
        _ bench: ServiceBench,
        _ sensor: ScriptedSensor
    ) -> [Int] {
        [sensor.count(of: "ListTemplates"), bench.verifier.asked.seen.count]
    }

    @Test("L11b: many CanEvaluate calls cause one query a second for each source and user")
    func onceASecond() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let manager = bench.manager(person.connection)
            let start = ContinuousClock.now
            _ = try await bench.canEvaluate(as: person.connection)
            // The template's announcement may or may not have been queried by this point.
            let lists = sensor.count(of: "ListTemplates")
            let questions = bench.verifier.asked.seen.count
            for number in 0..<1000 {
                _ = try await manager.canEvaluate(policy: UInt32(number % 4) + 1)
            }
            let seconds = Int((ContinuousClock.now - start).components.seconds)
            #expect(sensor.count(of: "ListTemplates") - lists <= seconds + 1)
            #expect(bench.verifier.asked.seen.count - questions <= seconds + 1)
            // Without cached answers, concurrent calls share a query.
            bench.verifier.isPasscodeSet = false
            sensor.signals.templatesChanged(uid: person.peer.uid)
            await bench.heard()
            let before = sensor.count(of: "ListTemplates")
            let again = ContinuousClock.now
            let calls = try (0..<100)
                .map { _ in
                    try person.connection.startCall(
                        to: TestDaemon.name,
                        path: TestDaemon.root,
                        interface: Authentication1.interface,
                        member: "CanEvaluate",
                        signature: "u"
                    ) { writer throws(DBusError) in try writer.write(UInt32(1)) }
                }
            for call in calls { _ = try await call.reply() }
            let passed = Int((ContinuousClock.now - again).components.seconds)
            #expect(sensor.count(of: "ListTemplates") - before <= passed + 2)
        }
    }

    @Test("L11b: two users who call in the same second are both queried")
    func twoUsers() async throws {
        try await AuditBench.run { bench in
            let (sensor, _) = try await bench.sensor(for: getuid())
            let service = bench.service
            // No query for these users has been made yet.
            let (users, now) = ([70_001, 70_002] as [UInt32], Instant.now())
            for uid in users {
                service.enrolments.refreshInBackground(uid, at: now)
                service.verifier.refreshInBackground(uid, at: now)
            }
            for uid in users {
                _ = try await sensor.listed.first("a list of \(uid)") { $0 == uid }
                _ = try await bench.verifier.asked.first("the passcode of \(uid)") { $0 == uid }
            }
        }
    }

    @Test("L11b: reading BiometryType queries the sensors in the background")
    func behindProperties() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            let manager = bench.manager(person.connection)
            for number in 0..<3 {
                let before = sensor.count(of: "ListTemplates")
                let start = ContinuousClock.now
                try await eventually("the question behind property \(number)") {
                    let types =
                        switch number {
                        case 0: [try await manager.biometryType()]
                        case 1: [try await context.biometryType()]
                        default: try await manager.biometryTypes()
                        }
                    return types == [1] && sensor.count(of: "ListTemplates") > before
                }
                let seconds = Int((ContinuousClock.now - start).components.seconds)
                #expect(sensor.count(of: "ListTemplates") - before <= seconds + 1)
            }
        }
    }

    @Test("L11b: after an announced change no older answer is used")
    func changes() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            for round in 0..<5 {
                // The signal names the user, or covers all users.
                bench.verifier.toldUser = round.isMultiple(of: 2) ? .max : person.peer.uid
                #expect(try await bench.canEvaluateCode(context) == 0)
                let state = try await bench.state(context)
                let templates = sensor.templates
                sensor.templates = [:]
                sensor.signals.templatesChanged(uid: person.peer.uid)
                if round.isMultiple(of: 2) {
                    #expect(try await bench.state(context).isEmpty)
                }
                #expect(try await bench.canEvaluateCode(context) == -7)
                sensor.templates = templates
                sensor.signals.templatesChanged(uid: person.peer.uid)
                let after = try await bench.state(context)
                #expect(after.count == 32 && after != state)
                bench.verifier.isPasscodeSet = false
                #expect(try await bench.canEvaluate(as: person.connection).code == -5)
                #expect(try await bench.canEvaluate(2, as: person.connection).code == -5)
                bench.verifier.isPasscodeSet = true
                #expect(try await bench.canEvaluate(2, as: person.connection).code == 0)
            }
        }
    }

    @Test("L11b: an answer overtaken by a change is not used again")
    func overtaken() async throws {
        try await ServiceBench.run { bench in
            let (person, verifier) = (try await bench.person(), bench.verifier)
            verifier.onQuestion = {
                verifier.onQuestion = nil
                verifier.isPasscodeSet = false
            }
            // This answer may be either, because its query came before the change.
            _ = try await bench.canEvaluate(2, as: person.connection)
            #expect(!verifier.isPasscodeSet)
            #expect(try await bench.canEvaluate(2, as: person.connection).code == -5)
        }
    }

    @Test(
        "L11b: after a property was invalidated without a value, no older answer is used"
    )
    func invalidated() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            _ = sensor.add(for: bench.uid)
            #expect(try await bench.canEvaluate(as: sensor.connection).code == 0)
            let context = try await bench.context(on: sensor.connection)
            // Over the sensor's connection, the service gets the call before the sensor's reply.
            let manager = bench.manager(sensor.connection)
            let device = bench.device(on: sensor.connection)
            for (code, isPresent) in [(Int32(-13), false), (0, true)] {
                sensor.isPresent = isPresent
                sensor.invalidated("Present")
                #expect(try await manager.canEvaluate(policy: 1).code == code)
            }
            for type in [2, 4, 1, 2] as [UInt32] {
                sensor.type = type
                sensor.invalidated("BiometryType")
                switch type {
                case 4: #expect(try await context.biometryType() == 4)
                case 1: #expect(try await device.biometryType() == 1)
                default: #expect(try await manager.biometryType() == 2)
                }
            }
            sensor.type = 1
            sensor.invalidated("BiometryType")
            let types = try await manager.properties()["BiometryTypes"]
            #expect(types == .array(element: .uint32, [.uint32(1)]))
        }
    }

    @Test("L11b: a domain state is read only after an announced change was queried")
    func waitingProperty() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            let state = try await bench.state(context)
            sensor.unanswered = ["ListTemplates"]
            let asked = sensor.count(of: "ListTemplates")
            _ = sensor.add(for: person.peer.uid)
            await bench.heard()
            let states = EventRecorder<[UInt8]>()
            let read = onLoop {
                let known = try? await context.domainState()
                states.record(known?["biometry"]?.asBytes ?? [])
            }
            try await eventually("the question") { sensor.count(of: "ListTemplates") > asked }
            // The sensor got the query and answers only here.
            #expect(states.seen.isEmpty)
            sensor.speak()
            await read.value
            #expect(states.seen.first?.count == 32 && states.seen.first != state)
        }
    }

    /// Repeats `body` until it is fast enough that no query was due because of time.
    @BusActor private static func inLessThanASecond(
        _ body: @BusActor () async throws -> Bool
    ) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < end {
            let start = ContinuousClock.now
            let isSo = try await body()
            if ContinuousClock.now - start < .seconds(1) { return isSo }
        }
        throw TestFailure("expected less than a second for a few calls")
    }

    @Test("L11b: forged signals in the name of a sensor or the verifier have no effect")
    func forged() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let uid = person.peer.uid
            let forger = try bench.bus.connect()
            let isUntouched = try await Self.inLessThanASecond {
                try await Self.tellAll(bench, sensor, to: person)
                let before = Self.questions(bench, sensor)
                for destination in [nil, bench.daemon.owner] {
                    Sensor1Signals(forger, path: ScriptedSensor.path)
                        .templatesChanged(uid: uid, to: destination)
                    Passcode1Signals(forger, path: Passcode1.path)
                        .changed(uid: .max, to: destination)
                }
                _ = try await bench.manager(forger).version()
                _ = try await bench.canEvaluate(as: person.connection)
                return Self.questions(bench, sensor) == before
            }
            #expect(isUntouched)
        }
    }

    @Test("L11b, L12: an unannounced change is found in the background and announced")
    func behindItsBack() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            let state = try await bench.state(context)
            let told = EventRecorder<[UInt8]>()
            _ = context.onPropertiesChanged { values, _ in
                let state = values["DomainState"]?.asDictionary?["biometry"]?.asBytes
                if let state { told.record(state) }
            }
            #expect(try await bench.canEvaluate(as: person.connection).code == 0)
            _ = sensor.add(for: person.peer.uid, announcing: false)
            try await eventually("the announcement") {
                _ = try await bench.canEvaluate(as: person.connection)
                return !told.seen.isEmpty
            }
            #expect(told.seen.allSatisfy { $0.count == 32 && $0 != state })
            sensor.templates = [:]
            try await eventually("nothing to be enrolled") {
                try await bench.canEvaluate(as: person.connection).code == -7
            }
            // Reading the property also queries the sensors.
            told.forget()
            _ = sensor.add(for: person.peer.uid, announcing: false)
            try await eventually("the announcement") {
                _ = try await context.domainState()
                return !told.seen.isEmpty
            }
            // A change of the password whose signal was lost.
            bench.verifier.tells = false
            bench.verifier.isPasscodeSet = false
            try await eventually("no passcode") {
                try await bench.canEvaluate(2, as: person.connection).code == -5
            }
            // CanEvaluate of biometry also queries the verifier in the background.
            bench.verifier.isPasscodeSet = true
            try await eventually("a passcode") {
                try await bench.canEvaluate(as: person.connection).code == 0
            }
        }
    }

    @Test("L11b: a verifier that left is queried again before the next answer")
    func absentVerifier() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            #expect(try await bench.canEvaluate(2, as: person.connection).code == 0)
            try await bench.bus.allowSuccessor(of: ScriptedVerifier.name)
            bench.verifier.connection.releaseName(ScriptedVerifier.name)
            try await bench.bus.waitForOwner(of: ScriptedVerifier.name, false)
            await bench.heard()
            let manager = bench.manager(person.connection)
            let answer = Task.immediate { @BusActor in try await manager.canEvaluate(policy: 2) }
            try await bench.bus.waitUntilWanted()
            let next = try ScriptedVerifier(on: bench.bus, isPasscodeSet: false)
            #expect(try await answer.value.code == -5)
            #expect(next.asked.seen.contains(person.peer.uid))
        }
    }
}
