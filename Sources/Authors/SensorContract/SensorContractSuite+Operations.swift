import BusBench
import DBus
import Glibc
import LocalAuthBus

extension SensorContractSuite {
    /// Checks of Verify and of simultaneous operations.
    static let operationChecks = [
        SensorCheck("Verify without templates is answered with NoTemplates", .nothingEnrolled) {
            bench in
            try await expectError(.sensorNoTemplates, of: "Verify") {
                _ = try await bench.sensor.verify(
                    operation: 1,
                    uid: SensorBench.user,
                    options: [:],
                    timeout: bench.fixture.patience
                )
            }
        },
        SensorCheck(
            "A match is answered with the template that was enrolled",
            .sensor("Verify", "the reply is the template that matched.")
        ) { bench in
            let id = try await bench.enroll()
            let (_, call) = try await bench.verify()
            let matched = try await bench.presenting(true) { try await call.answer() }
            try expect(matched == id, "\(id), got \(matched)")
        },
        SensorCheck(
            "A miss is a call, and the sensor goes on after its answer",
            .sensor("Verify", "The sensor reports each failed attempt by the call NoMatch")
        ) {
            bench in
            try bench.requireMiss()
            let id = try await bench.enroll()
            let (number, call) = try await bench.verify()
            _ = try await bench.presenting(false) { try await bench.event("no-match", of: number) }
            let matched = try await bench.presenting(true) { try await call.answer() }
            try expect(matched == id, "\(id), got \(matched)")
        },
        SensorCheck(
            "The sensor repeats a miss under the same number until the service answers",
            .noMatch("calls again with an unchanged number until Cancel comes")
        ) {
            bench in
            try bench.requireMiss()
            _ = try await bench.enroll()
            bench.answer = { count throws(DBusError) in
                guard count > 2 else { throw DBusError(.failed, "The disk is full.") }
                return 0
            }
            let (number, call) = try await bench.verify()
            _ = try await bench.presenting(false) {
                try await bench.events.first("three calls", within: bench.fixture.patience) { _ in
                    bench.misses.count == 3
                }
            }
            try expect(bench.misses.map(\.attempt) == [1, 1, 1], "got \(bench.misses)")
            // Without attempts left the sensor stops looking.
            for _ in 0..<5 { await bench.fixture.present(true, bench) }
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.answer() }
            try expect(bench.misses.count == 3, "got \(bench.misses)")
        },
        SensorCheck(
            "A second operation is Busy and does not disturb the first",
            .sensor("A sensor runs at most one operation at a time.")
        ) { bench in
            let id = try await bench.enroll()
            let (_, call) = try await bench.verify()
            try await expectError(.sensorBusy, of: "a second Verify") {
                _ = try await bench.sensor.verify(
                    operation: bench.nextOperation(),
                    uid: SensorBench.user,
                    options: [:],
                    timeout: bench.fixture.patience
                )
            }
            try await expectError(.sensorBusy, of: "Enroll") {
                _ = try await bench.sensor.enroll(
                    operation: bench.nextOperation(),
                    uid: SensorBench.user,
                    label: "two",
                    options: [:],
                    timeout: bench.fixture.patience
                )
            }
            let matched = try await bench.presenting(true) { try await call.answer() }
            try expect(matched == id, "\(id), got \(matched)")
        },
    ]

    static let cancelChecks = [
        SensorCheck("Cancel ends Verify, and the next Verify works", .canceled) { bench in
            let id = try await bench.enroll()
            let (number, call) = try await bench.verify()
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.answer() }
            let (_, next) = try await bench.verify()
            let matched = try await bench.presenting(true) { try await next.answer() }
            try expect(matched == id, "\(id), got \(matched)")
        },
        SensorCheck(
            "Cancel ends Enroll, and no template stays",
            .sensor("Enroll", "A template exists only after the reply is sent.")
        ) { bench in
            let number = bench.nextOperation()
            let call = try bench.sensor.enrollStream(
                operation: number,
                uid: SensorBench.user,
                label: "one",
                options: [:]
            )
            _ = try await bench.event("ready", of: number)
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Enroll") { _ = try await call.answer() }
            let listed = try await bench.sensor.listTemplates(uid: SensorBench.user)
            try expect(listed.isEmpty, "no template, got \(listed)")
        },
        SensorCheck(
            "A match after Cancel is never reported",
            .sensor("Cancel", "A match that is found after Cancel arrived is never reported.")
        ) { bench in
            _ = try await bench.enroll()
            for _ in 0..<20 {
                let (number, call) = try await bench.verify()
                let cancel = EventRecorder<Bool>()
                onLoop {
                    _ = try? await bench.sensor.cancel(operation: number)
                    cancel.record(true)
                }
                // A touch by another path than the bus may arrive before Cancel.
                if !bench.fixture.touchesByBus {
                    _ = try await cancel.first("Cancel to be answered") { _ in true }
                }
                await bench.fixture.present(true, bench)
                _ = try await cancel.first("Cancel to be answered") { _ in true }
                try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.answer() }
                let count = bench.events.seen.count
                await bench.fixture.present(true, bench)
                try expect(bench.events.seen.count == count, "no event after Cancel")
            }
        },
        SensorCheck("A Cancel that comes before its operation counts", .early) { bench in
            _ = try await bench.enroll()
            let number = bench.nextOperation()
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") {
                _ = try await bench.sensor.verify(
                    operation: number,
                    uid: SensorBench.user,
                    options: [:],
                    timeout: bench.fixture.patience
                )
            }
        },
        SensorCheck("A Cancel of another operation has no effect", .unknown) { bench in
            let id = try await bench.enroll()
            let (number, call) = try await bench.verify()
            try await bench.sensor.cancel(operation: number + 1000)
            let matched = try await bench.presenting(true) { try await call.answer() }
            try expect(matched == id, "\(id), got \(matched)")
        },
    ]

    static let processChecks = [
        SensorCheck("SIGTERM ends it with status 0 within a second, also while it looks", .ended) {
            bench in
            _ = try await bench.enroll()
            _ = try await bench.verify()
            bench.program.signal(SIGTERM)
            let status = try await bench.program.exitStatus(within: bench.fixture.promptness)
            try expect(status == 0, "status 0, got \(status)")
            let name = "org.localauth.Sensor1." + bench.fixture.name
            _ = try await bench.bus.waitForOwner(of: name, false)
        },
        SensorCheck(
            "A second process under the sensor's name ends with a single line",
            .process("ends with status 1 and one line on standard error")
        ) { bench in
            let second = try bench.bus.start(bench.fixture.program)
            let status = try await second.exitStatus(within: .seconds(20))
            try expect(status == 1, "status 1, got \(status)")
            let lines = second.errors.split(separator: "\n")
            try expect(lines.count == 1, "one line, got \(lines)")
        },
    ]
}
