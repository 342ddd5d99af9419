import DBus
import LocalAuthBus
import TestSupport
import Testing

/// When sensors may learn, tested on the real daemon.
@Suite("Learning", .timeLimit(.minutes(10)))
struct LearningTests {
    private static let isOn = "[Biometry]\nFaceLearning=yes\n"

    /// Runs a test with a webcam that has a person's template.
    private func run(
        _ configuration: String = isOn,
        _ body:
            @escaping @BusActor (
                ServiceBench, Person, ScriptedSensor, _ template: String
            ) async throws -> Void
    ) async throws {
        try await ServiceBench.run(configuration: configuration) { bench in
            let (person, sensor, template) = try await bench.enrolled { sensor in
                sensor.type = 2
                sensor.saidStrength = "convenience"
            }
            try await body(bench, person, sensor, template)
        }
    }

    @Test("A match confirmed by the password in its prompt is passed to the sensor by number")
    func confirmed() async throws {
        try await run { bench, person, sensor, template in
            person.passcode = nil
            let call = try bench.begin(person.connection, 2)
            let operation = try await sensor.operation()
            #expect(operation.mayUpdateTemplate)
            operation.succeed(template)
            _ = try await person.updates.first("the question whether it is meant") {
                $0.kind == "confirmation-required"
            }
            #expect(sensor.templateUpdates.seen.isEmpty)
            person.enter(ScriptedVerifier.passcode, into: try await person.prompt())
            #expect(try await call.reply()["mechanism"] == .string("passcode"))
            let update = try await sensor.templateUpdates.first("an update") { _ in true }
            #expect(update == operation.number)
        }
    }

    @Test("A match without a password is not passed to the sensor")
    func matchAlone() async throws {
        try await run { bench, person, sensor, template in
            person.passcode = nil
            let call = try bench.begin(person.connection, 2)
            try await sensor.operation().succeed(template)
            _ = try await person.updates.first("the question whether it is meant") {
                $0.kind == "confirmation-required"
            }
            let prompt = try await person.prompt()
            try await bench.manager(person.connection).submitConfirm(prompt: prompt.handle)
            #expect(try await call.reply()["mechanism"] == .string("biometry"))
            // A password in another prompt has no effect on the earlier match.
            person.passcode = ScriptedVerifier.passcode
            let options: [String: Variant] = ["sensors": .strings([])]
            _ = try await bench.begin(person.connection, 2, options).reply()
            for _ in 0..<3 { await bench.heard() }
            #expect(sensor.templateUpdates.seen.isEmpty)
        }
    }

    @Test("Without the setting, sensors are never told to learn")
    func off() async throws {
        try await run("") { bench, person, sensor, template in
            person.passcode = nil
            let call = try bench.begin(person.connection, 2)
            let operation = try await sensor.operation()
            #expect(!operation.mayUpdateTemplate)
            operation.succeed(template)
            _ = try await person.updates.first("the question whether it is meant") {
                $0.kind == "confirmation-required"
            }
            person.enter(ScriptedVerifier.passcode, into: try await person.prompt())
            #expect(try await call.reply()["mechanism"] == .string("passcode"))
            for _ in 0..<3 { await bench.heard() }
            #expect(sensor.templateUpdates.seen.isEmpty)
        }
    }

    /// Confirms a match by the password in its prompt, and waits until the sensor is told.
    @BusActor private func learn(
        _ bench: ServiceBench,
        _ person: Person,
        _ sensor: ScriptedSensor,
        _ template: String
    ) async throws {
        person.passcode = nil
        let call = try bench.begin(person.connection, 2)
        try await sensor.operation().succeed(template)
        _ = try await person.updates.first("the question whether it is meant") {
            $0.kind == "confirmation-required"
        }
        person.enter(ScriptedVerifier.passcode, into: try await person.prompt())
        _ = try await call.reply()
        _ = try await sensor.templateUpdates.first("an update") { _ in true }
    }

    @Test("A sensor that does not learn, or fails to, affects no evaluation")
    func unknown() async throws {
        for error in [DBusError.Name.unknownMethod, .sensorFailed] {
            try await run { bench, person, sensor, template in
                sensor.learnError = error
                try await learn(bench, person, sensor, template)
                for _ in 0..<3 { await bench.heard() }
                #expect(try await bench.device().unavailability().isEmpty)
                guard error == .unknownMethod else { return }
                let device = bench.device("Third", on: person.connection)
                #expect(try await device.listLearned(options: [:]).isEmpty)
            }
        }
    }

    /// Returns operation and outcome of the audit records about learned entries.
    @BusActor private func records(_ bench: ServiceBench) -> [String] {
        bench.daemon.process.errors.split(separator: "\n")
            .filter { $0.contains("audit: learned-changed ") }
            .map { line in
                line.split(separator: " ")
                    .compactMap { word in
                        ["operation=", "outcome="].first { word.hasPrefix($0) }
                            .map { word.dropFirst($0.count) }
                    }
                    .joined(separator: " ")
            }
    }

    @Test(
        "L15: a learned entry is recorded, as uncertain if the reply is lost",
        arguments: [
            (nil, "add Success"), ("org.localauth.Test.Error.Odd", "add Odd"),
            (.noReply, "add NoReply"),
            (.sensorFailed, nil), (.invalidArgs, nil), (.unknownMethod, nil),
            (.limitsExceeded, nil),
        ] as [(DBusError.Name?, String?)]
    )
    func audit(_ error: DBusError.Name?, _ record: String?) async throws {
        try await run { bench, person, sensor, template in
            sensor.learnError = error
            try await learn(bench, person, sensor, template)
            if record != nil {
                try await eventually("a record") { !self.records(bench).isEmpty }
            }
            for _ in 0..<3 { await bench.heard() }
            #expect(self.records(bench) == [record].compactMap(\.self))
        }
    }

    @Test(
        "L15: a sensor that exits while it learns is recorded as uncertain"
    )
    func left() async throws {
        try await run { bench, person, sensor, template in
            sensor.unanswered = ["Learn"]
            try await learn(bench, person, sensor, template)
            sensor.connection.close()
            try await eventually("a record") { self.records(bench) == ["add NoReply"] }
        }
    }

    @Test("L15: a removed learned entry is recorded, as uncertain if the reply is lost")
    func removed() async throws {
        try await run { bench, person, sensor, template in
            sensor.learned = [
                LearnedEntry(id: "seen", template: template, learned: 5),
                LearnedEntry(id: "other", template: template, learned: 5),
            ]
            let device = bench.device("Third", on: person.connection)
            try await device.removeLearned(id: "seen", options: [:])
            #expect(self.records(bench) == ["delete Success"])
            sensor.removeError = "org.localauth.Test.Error.Odd"
            await expectName(.sensorFailed) {
                try await device.removeLearned(id: "other", options: [:])
            }
            #expect(self.records(bench) == ["delete Success", "delete Odd"])
            sensor.removeError = .sensorFailed
            await expectName(.sensorFailed) {
                try await device.removeLearned(id: "other", options: [:])
            }
            #expect(self.records(bench).count == 2)
        }
    }

    @Test("L12: adding and removing learned entries does not change the domain state")
    func domainState() async throws {
        try await run { bench, person, sensor, template in
            let context = try await bench.context(on: person.connection)
            let before = try await bench.state(context)
            try await learn(bench, person, sensor, template)
            for _ in 0..<3 { await bench.heard() }
            #expect(try await bench.state(context) == before)
            sensor.learned = [LearnedEntry(id: "seen", template: template, learned: 5)]
            let device = bench.device("Third", on: person.connection)
            #expect(try await device.listLearned(options: [:]) == sensor.learned)
            person.passcode = ScriptedVerifier.passcode
            try await device.removeLearned(id: "seen", options: [:])
            #expect(sensor.learned.isEmpty && person.prompts.seen.count == 2)
            let after = try await bench.state(context)
            #expect(!before.isEmpty && after == before)
        }
    }

    @Test("Only the user with a password can see and remove learned entries")
    func owners() async throws {
        try await run { bench, person, sensor, template in
            sensor.learned = [
                LearnedEntry(id: "seen", template: template, learned: 5),
                LearnedEntry(id: "stray", template: "another's", learned: 5),
            ]
            let device = bench.device("Third", on: person.connection)
            #expect(try await device.listLearned(options: [:]).map(\.id) == ["seen"])
            for id in ["stray", "unknown", template] {
                await expectName(.sensorNoTemplates) {
                    try await device.removeLearned(id: id, options: [:])
                }
            }
            await expectName(.invalidArgs) { try await device.removeLearned(id: "", options: [:]) }
            let other: [String: Variant] = ["uid": .uint32(person.peer.uid + 1)]
            await expectName(.accessDenied) { _ = try await device.listLearned(options: other) }
            await expectName(.accessDenied) {
                try await device.removeLearned(id: "seen", options: other)
            }
            #expect(person.prompts.seen.isEmpty)
            person.passcode = nil
            let removal = onLoop {
                await expectName(.userCancel) {
                    try await device.removeLearned(id: "seen", options: [:])
                }
            }
            let prompt = try await person.prompt()
            try await bench.manager(person.connection).submitCancel(prompt: prompt.handle)
            await removal.value
            #expect(sensor.count(of: "RemoveLearned") == 0 && sensor.learned.count == 2)
        }
    }

    @Test("L16: an invalid list of learned entries is refused")
    func unsound() async throws {
        try await run { bench, person, sensor, template in
            let device = bench.device("Third", on: person.connection)
            let entry = LearnedEntry(id: "seen", template: template, learned: 5)
            let lists = [
                [entry, entry], [LearnedEntry(id: "", template: template, learned: 5)],
                (0..<300).map { LearnedEntry(id: "\($0)", template: template, learned: 5) },
            ]
            for list in lists {
                sensor.learned = list
                await expectName(.sensorFailed) { _ = try await device.listLearned(options: [:]) }
            }
        }
    }
}
