import AuthEngine
import AuthStore
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

/// What sensors and verifier tell is answered at once, and nothing from before it (L11b).
@Suite("Told, not asked", .timeLimit(.minutes(10)))
struct ToldTests {
    init() { EventLoop.shared.startThread() }

    @Test("L11b: what was told is answered without a question, also the first one of an app")
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

    /// Everybody says that something may have changed, and was asked since: for a second nobody is
    /// asked again.
    @BusActor private static func tellAll(
        _ bench: ServiceBench,
        _ sensor: ScriptedSensor,
        to person: Person
    ) async throws {
        sensor.signals.templatesChanged(uid: person.peer.uid)
        bench.verifier.tellChange()
        #expect(try await bench.canEvaluate(as: person.connection).code == 0)
        // What was asked because of the signal alone has been asked by then.
        await bench.heard()
    }

    @BusActor private static func questions(
        _ bench: ServiceBench,
        _ sensor: ScriptedSensor
    ) -> [Int] {
        [sensor.count(of: "ListTemplates"), bench.verifier.asked.seen.count]
    }

    @Test("L11b: however often CanEvaluate is called, each is asked once a second for a user")
    func onceASecond() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let manager = bench.manager(person.connection)
            let start = ContinuousClock.now
            _ = try await bench.canEvaluate(as: person.connection)
            // The template was told of as well, which may have been listed by then or not.
            let lists = sensor.count(of: "ListTemplates")
            let questions = bench.verifier.asked.seen.count
            for number in 0..<1000 {
                _ = try await manager.canEvaluate(policy: UInt32(number % 4) + 1)
            }
            let seconds = Int((ContinuousClock.now - start).components.seconds)
            #expect(sensor.count(of: "ListTemplates") - lists <= seconds + 1)
            #expect(bench.verifier.asked.seen.count - questions <= seconds + 1)
            // All at once, of whom nothing is known: they share the question.
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

    @Test("L11b: of two users who call in the same second, each is asked about")
    func twoUsers() async throws {
        try await AuditBench.run { bench in
            let (sensor, _) = try await bench.sensor(for: getuid())
            let service = bench.service
            // Of these nobody has asked yet.
            let (users, now) = ([70_001, 70_002] as [UInt32], Instant.now())
            for uid in users {
                service.enrolments.askBehind(uid, at: now)
                service.verifier.askBehind(uid, at: now)
            }
            for uid in users {
                _ = try await sensor.listed.first("a list of \(uid)") { $0 == uid }
                _ = try await bench.verifier.asked.first("the passcode of \(uid)") { $0 == uid }
            }
        }
    }

    @Test("L11b: behind BiometryType, of the service and of a context, the sensors are asked")
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

    @Test("L11b: after a change was told nothing is answered from before it")
    func changes() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            for round in 0..<5 {
                // It may name the user, or say that it may be anybody's.
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

    @Test("L11b: an answer that was on its way when a change was told is not answered again")
    func overtaken() async throws {
        try await ServiceBench.run { bench in
            let (person, verifier) = (try await bench.person(), bench.verifier)
            verifier.onQuestion = {
                verifier.onQuestion = nil
                verifier.isPasscodeSet = false
            }
            // Whatever this one is told: it was asked before the change.
            _ = try await bench.canEvaluate(2, as: person.connection)
            #expect(!verifier.isPasscodeSet)
            #expect(try await bench.canEvaluate(2, as: person.connection).code == -5)
        }
    }

    @Test(
        "L11b: once a sensor said that it is another, not what, nothing is answered from before"
    )
    func invalidated() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            _ = sensor.add(for: bench.uid)
            #expect(try await bench.canEvaluate(as: sensor.connection).code == 0)
            let context = try await bench.context(on: sensor.connection)
            // The service has the question in its hands before the sensor's answer.
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

    @Test("L11b: a domain state is not read before it is known what was changed")
    func waitingProperty() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            let state = try await bench.state(context)
            sensor.unanswered = ["ListTemplates"]
            let asked = sensor.count(of: "ListTemplates")
            _ = sensor.add(for: person.peer.uid)
            await bench.heard()
            let states = Witness<[UInt8]>()
            let read = onLoop {
                let known = try? await context.domainState()
                states.record(known?["biometry"]?.asBytes ?? [])
            }
            try await eventually("the question") { sensor.count(of: "ListTemplates") > asked }
            // It was asked, and is answered only now.
            #expect(states.seen.isEmpty)
            sensor.speak()
            await read.value
            #expect(states.seen.first?.count == 32 && states.seen.first != state)
        }
    }

    /// Runs `body` until it took so little time that nobody was asked because time had passed.
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

    @Test("L11b: signals that somebody else sends in a sensor's or the verifier's name are nothing")
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

    @Test("L11b, L12: what changed behind a sensor's back is found behind an answer, and announced")
    func behindItsBack() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            let state = try await bench.state(context)
            let told = Witness<[UInt8]>()
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
            // Whoever only reads the property has the sensors asked, too.
            told.forget()
            _ = sensor.add(for: person.peer.uid, announcing: false)
            try await eventually("the announcement") {
                _ = try await context.domainState()
                return !told.seen.isEmpty
            }
            // A change of the passcode whose signal got lost.
            bench.verifier.tells = false
            bench.verifier.isPasscodeSet = false
            try await eventually("no passcode") {
                try await bench.canEvaluate(2, as: person.connection).code == -5
            }
            // Behind an answer about biometry the verifier is asked as well.
            bench.verifier.isPasscodeSet = true
            try await eventually("a passcode") {
                try await bench.canEvaluate(as: person.connection).code == 0
            }
        }
    }

    @Test("L11b: a verifier that left can't tell, so it is asked before the next answer")
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
