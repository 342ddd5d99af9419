import BusBench
import DBus
import LocalAuthBus

extension SensorContractSuite {
    /// Checks of Cancel at every point of an operation.
    static let cancelPointChecks = [
        SensorCheck("Cancel right behind Verify ends it, ready or not", .early) { bench in
            _ = try await bench.enroll()
            for _ in 0..<20 {
                let number = bench.nextOperation()
                let call = try bench.sensor.verifyStream(
                    operation: number,
                    uid: SensorBench.user,
                    options: [:]
                )
                try await bench.sensor.cancel(operation: number)
                try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.answer() }
            }
        },
        SensorCheck("A Cancel that comes before its enrolment counts", .early) { bench in
            let number = bench.nextOperation()
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Enroll") {
                _ = try await bench.sensor.enroll(
                    operation: number,
                    uid: SensorBench.user,
                    label: "one",
                    options: [:],
                    timeout: bench.fixture.patience
                )
            }
            let listed = try await bench.sensor.listTemplates(uid: SensorBench.user)
            try expect(listed.isEmpty, "no template, got \(listed)")
        },
        SensorCheck(
            "Cancel ends an enrolment after each of its stages, and no template stays",
            .sensor("Enroll", "A template exists only after the reply is sent.")
        ) { bench in
            let stages = Int(try await bench.sensor.enrollStages())
            for done in 0..<max(1, min(stages, 8)) { try await cancelEnrolment(bench, after: done) }
            _ = try await bench.enroll()
        },
        SensorCheck("A second Cancel and a Cancel after the end have no effect", .unknown) {
            bench in
            let id = try await bench.enroll()
            let (number, call) = try await bench.verify()
            try await bench.sensor.cancel(operation: number)
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.answer() }
            let (next, again) = try await bench.verify()
            try await bench.sensor.cancel(operation: number)
            let matched = try await bench.presenting(true) { try await again.answer() }
            try expect(matched == id, "\(id), got \(matched)")
            try await bench.sensor.cancel(operation: next)
        },
        SensorCheck("Another caller's Cancel ends nothing", .notOwner) { bench in
            let id = try await bench.enroll()
            let (number, call) = try await bench.verify()
            let neighbour = SensorBench.proxy(try bench.bus.connect(), bench.owner)
            try await expectError(.accessDenied, of: "another caller's Cancel") {
                try await neighbour.cancel(operation: number)
            }
            let matched = try await bench.presenting(true) { try await call.answer() }
            try expect(matched == id, "\(id), got \(matched)")
        },
    ]

    /// Cancels an enrolment after `done` stages.
    @BusActor private static func cancelEnrolment(
        _ bench: SensorBench,
        after done: Int
    ) async throws {
        let user = SensorBench.user
        let number = bench.nextOperation()
        let call = try bench.sensor.enrollStream(
            operation: number,
            uid: user,
            label: "one",
            options: [:]
        )
        _ = try await bench.event("ready", of: number)
        if done > 0 {
            _ = try await bench.presenting(true) {
                try await bench.events.first("stage \(done)", within: .seconds(30)) {
                    $0.operation == number && $0.kind == "stage"
                        && $0.detail["stage"]?.asUInt32 ?? 0 >= UInt32(done)
                }
            }
        }
        try await bench.sensor.cancel(operation: number)
        do throws(DBusError) {
            // The sensor may have seen enough before Cancel arrived.
            let id = try await call.answer()
            let listed = try await bench.sensor.listTemplates(uid: user)
            guard listed.map(\.id) == [id] else {
                throw DBusError(.failed, "answered \(id), but lists \(listed)")
            }
            try await bench.sensor.removeTemplate(uid: user, id: id)
        } catch {
            try expect(error.name == .sensorCanceled, "Canceled after stage \(done), got \(error)")
        }
        let listed = try await bench.sensor.listTemplates(uid: user)
        try expect(listed.isEmpty, "no template after stage \(done), got \(listed)")
    }
}
