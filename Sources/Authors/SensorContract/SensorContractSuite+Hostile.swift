import BusBench
import DBus
import Linux
import LocalAuthBus

extension SensorContractSuite {
    /// Checks with calls that no genuine daemon sends.
    static let hostileChecks = [
        SensorCheck("An unknown member or object is answered with an error", .malformed) { bench in
            let calls = [
                ("/org/localauth/Sensor1", "org.localauth.Sensor1", "Dance"),
                ("/org/localauth/Sensor1", "org.localauth.Other1", "Verify"),
                ("/org/localauth/Nowhere", "org.localauth.Sensor1", "Health"),
            ]
            for (path, interface, member) in calls {
                try await expectRefusal("\(path) \(interface).\(member)") {
                    _ = try await bench.daemon.call(
                        to: bench.owner,
                        path: ObjectPath(unchecked: path),
                        interface: interface,
                        member: member,
                        timeout: bench.fixture.patience
                    )
                }
            }
            try await expectHealth(bench)
        },
        SensorCheck("Wrong or missing arguments are answered with an error", .malformed) { bench in
            let members = [
                "Verify", "Enroll", "Cancel", "ListTemplates", "RenameTemplate", "RemoveTemplate",
                "RemoveAllTemplates",
            ]
            for member in members {
                for signature in ["", "s", "asas"] {
                    try await expectRefusal("\(member)(\(signature))") {
                        let called = ("org.localauth.Sensor1", member)
                        try await bench.daemon.callWrongly(
                            bench.owner,
                            path,
                            called,
                            signature,
                            within: bench.fixture.patience
                        )
                    }
                }
            }
            try await expectHealth(bench)
            let user = SensorBench.user
            try expect(try await bench.sensor.listTemplates(uid: user).isEmpty, "no template")
        },
        SensorCheck("The sensor's properties cannot be set", .malformed) { bench in
            try await expectRefusal("Set") {
                try await bench.daemon.setProperty(
                    "Strength",
                    of: "org.localauth.Sensor1",
                    at: path,
                    on: bench.owner,
                    to: "strong"
                )
            }
            try await expectHealth(bench)
        },
        SensorCheck("Unknown ids are refused, also hostile ids", .bounds) { bench in
            let user = SensorBench.user
            for id in ["", "../../../etc/passwd", "%s%n", "a\nb", "'; --"] {
                try await expectError(.sensorNoTemplates, .invalidArgs, of: "RemoveTemplate") {
                    try await bench.sensor.removeTemplate(uid: user, id: id)
                }
            }
            let long = String(repeating: "x", count: 257)
            try await expectError(.invalidArgs, of: "RemoveTemplate of a long id") {
                try await bench.sensor.removeTemplate(uid: user, id: long)
            }
            try await expectError(.invalidArgs, of: "RenameTemplate of a long id") {
                try await bench.sensor.renameTemplate(uid: user, id: long, label: "two")
            }
            try await expectHealth(bench)
        },
        SensorCheck(
            "Unknown options are ignored",
            .sensor("Verify", "Unknown options are ignored.")
        ) { bench in
            _ = try await bench.enroll()
            let number = bench.nextOperation()
            let call = try bench.sensor.verifyStream(
                operation: number,
                uid: SensorBench.user,
                options: ["colour": .string("red"), "many": .strings(["a", "b"])]
            )
            _ = try await bench.event("ready", of: number)
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.answer() }
        },
        SensorCheck(
            "An operation's number may be any of 64 bits",
            .sensor("The daemon numbers the operations")
        ) { bench in
            _ = try await bench.enroll()
            for number: UInt64 in [.max, 0, 1 << 63] {
                let call = try bench.sensor.verifyStream(
                    operation: number,
                    uid: SensorBench.user,
                    options: [:]
                )
                _ = try await bench.event("ready", of: number)
                try await bench.sensor.cancel(operation: number)
                try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.answer() }
            }
        },
        SensorCheck(
            "A hundred simultaneous calls are answered while an operation runs",
            .sensor("ListTemplates", "The sensor answers while an operation runs.")
        ) { bench in
            let id = try await bench.enroll()
            let (number, call) = try await bench.verify()
            let answers = EventRecorder<[Template]>()
            for _ in 0..<100 {
                onLoop {
                    let listed = try? await bench.sensor.listTemplates(uid: SensorBench.user)
                    answers.record(listed ?? [])
                }
            }
            _ = try await answers.first("100 answers", within: .seconds(20)) { _ in
                answers.seen.count == 100
            }
            try expect(answers.seen.allSatisfy { $0.map(\.id) == [id] }, "the template in each")
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.answer() }
        },
    ]

    /// Throws a failure unless the sensor is still healthy.
    @BusActor private static func expectHealth(_ bench: SensorBench) async throws {
        let state = try await bench.sensor.health(timeout: bench.fixture.patience).state
        try expect(["ok", "degraded"].contains(state), "a state of health, got \(state)")
    }
}
