import DBus
import LocalAuthBus
import TestSupport
import Testing

/// A template of a refused enrolment is removed, and ignored until then.
@Suite("Unwanted templates", .timeLimit(.minutes(10)))
struct DiscardedTemplateTests {
    /// A person with a template, and an enrolment that the sensor completed despite its
    /// cancellation.
    @BusActor
    private struct Bench {
        let service: ServiceBench
        let person: Person
        let sensor: ScriptedSensor
        let known: String
        let unwanted: String

        init(
            _ service: ServiceBench,
            removalError: DBusError.Name? = nil,
            _ prepare: @BusActor (Person, ScriptedSensor) async throws -> Void = { _, _ in }
        ) async throws {
            self.service = service
            (person, sensor, known) = try await service.enrolled()
            let uid = person.peer.uid
            sensor.removalError = removalError
            let call = try service.enroll(person)
            let operation = try await sensor.operation()
            sensor.onCancel = .ignore
            let id = sensor.add(for: uid)
            unwanted = id
            try await prepare(person, sensor)
            try await service.device(on: person.connection).cancelEnroll()
            _ = try await operation.canceled.first("Cancel") { $0 }
            operation.succeed(id)
            await expectName(.appCancel) { _ = try await call.reply() }
        }

        func listed() async throws -> [String] {
            try await service.device(on: person.connection).listTemplates(options: [:]).map(\.id)
        }

        func removed() async throws {
            let uid = person.peer.uid
            try await eventually("the template to be removed") {
                sensor.templates[uid]?.map(\.id) == [known]
            }
        }
    }

    @Test("R50: a template that was complete before its cancellation arrived is removed")
    func crossed() async throws {
        try await ServiceBench.run { service in
            let bench = try await Bench(service)
            try await bench.removed()
            #expect(try await bench.listed() == [bench.known])
        }
    }

    @Test("R50: the user's other changes can't delay the removal")
    func behindOthers() async throws {
        try await ServiceBench.run { service in
            let ends = EventRecorder<Bool>()
            let bench = try await Bench(service) { person, sensor in
                sensor.unanswered.insert("RenameTemplate")
                let device = service.device(on: person.connection)
                let id = try #require(sensor.templates[person.peer.uid]?.first?.id)
                onLoop {
                    try? await device.renameTemplate(id: id, label: "a", options: [:])
                    ends.record(true)
                }
                _ = try await sensor.calls.first("the change") { $0 == "RenameTemplate" }
            }
            try await bench.removed()
            #expect(ends.seen.isEmpty, "it waited for the change")
        }
    }

    @Test("R50: while the sensor is busy the template is not listed and matches no user")
    func busy() async throws {
        try await ServiceBench.run { service in
            let bench = try await Bench(service, removalError: .sensorBusy)
            let sensor = bench.sensor
            _ = try await sensor.calls.first("an attempt") { $0 == "RemoveTemplate" }
            #expect(try await bench.listed() == [bench.known])
            let call = try service.begin(bench.person.connection)
            try await sensor.operation(1).succeed(bench.unwanted)
            let refusal = await #expect(throws: DBusError.self) { try await call.reply() }
            #expect(refusal?.name == .biometryNotAvailable, "\(String(describing: refusal))")
            // This is no fault of the sensor.
            #expect(try await service.device().unavailability() == "")
            let next = try service.begin(bench.person.connection)
            try await sensor.operation(2).succeed(bench.known)
            #expect(try await next.reply()["mechanism"] == .string("biometry"))
            sensor.removalError = nil
            try await bench.removed()
        }
    }

    @Test("R50: a template that the sensor failed to remove is removed after the next list")
    func failing() async throws {
        try await ServiceBench.run { service in
            let bench = try await Bench(service, removalError: .sensorFailed)
            let sensor = bench.sensor
            _ = try await sensor.calls.first("an attempt") { $0 == "RemoveTemplate" }
            sensor.removalError = nil
            #expect(try await bench.listed() == [bench.known])
            try await bench.removed()
        }
    }

    enum Return: CaseIterable {
        /// Another program removed it, and enrolled it again.
        case byOthers
        case afterFailure
        /// The daemon retries the removal all the time.
        case whileBusy
    }

    @Test(
        "R50: a new enrolment with the id of an unwanted template is kept",
        arguments: Return.allCases
    )
    func again(_ way: Return) async throws {
        try await ServiceBench.run { service in
            let error: DBusError.Name = way == .whileBusy ? .sensorBusy : .sensorFailed
            let bench = try await Bench(service, removalError: error)
            let (person, sensor) = (bench.person, bench.sensor)
            let uid = person.peer.uid
            _ = try await sensor.calls.first("an attempt") { $0 == "RemoveTemplate" }
            let templates = sensor.templates[uid]
            if way == .byOthers {
                sensor.templates[uid]?.removeLast()
                #expect(try await bench.listed() == [bench.known])
                sensor.templates[uid] = templates
            } else {
                let call = try service.enroll(person)
                let operation = try await sensor.operation(1)
                if way == .whileBusy {
                    sensor.removalError = nil
                    // Wait for some seconds.
                    let count = sensor.count(of: "Health")
                    try await eventually("the sensor to be asked how it is") {
                        sensor.count(of: "Health") > count + 1
                    }
                }
                operation.succeed(bench.unwanted)
                #expect(try await call.reply() == bench.unwanted)
            }
            for _ in 0..<2 {
                #expect(try await bench.listed() == [bench.known, bench.unwanted])
            }
            sensor.removalError = nil
            #expect(try await bench.listed() == [bench.known, bench.unwanted])
            #expect(sensor.templates[uid]?.count == templates?.count)
        }
    }
}
