import BusBench
import DBus
import Glibc
import LocalAuthBus

extension SensorContractSuite {
    /// Checks of a template's user and lifetime.
    static let belongingChecks = [
        SensorCheck(
            "An id is short and equal in every list",
            .bounds
        ) { bench in
            let id = try await bench.enroll()
            try expect(1...256 ~= id.utf8.count, "an id of 1 to 256 bytes, got \(id.utf8.count)")
            for _ in 0..<3 {
                let listed = try await bench.sensor.listTemplates(uid: SensorBench.user)
                try expect(listed.map(\.id) == [id], "\(id), got \(listed)")
                let created = listed[0].created
                try expect(0...Int64(time(nil) + 60) ~= created, "a past time, got \(created)")
            }
        },
        SensorCheck(
            "A template belongs to its user alone",
            .sensor("ListTemplates", "Lists a user's templates.")
        ) { bench in
            let id = try await bench.enroll()
            let other = SensorBench.user + 1
            try await expectError(.sensorNoTemplates, of: "another user's RemoveTemplate") {
                try await bench.sensor.removeTemplate(uid: other, id: id)
            }
            try await expectError(.sensorNoTemplates, of: "another user's RenameTemplate") {
                try await bench.sensor.renameTemplate(uid: other, id: id, label: "mine")
            }
            let removed = try await bench.sensor.removeAllTemplates(uid: other)
            try expect(removed == 0, "no template of another user, got \(removed)")
            try await expectError(.sensorNoTemplates, of: "another user's Verify") {
                _ = try await bench.sensor.verify(
                    operation: bench.nextOperation(),
                    uid: other,
                    options: [:],
                    timeout: bench.fixture.patience
                )
            }
            let listed = try await bench.sensor.listTemplates(uid: SensorBench.user)
            try expect(listed.map(\.id) == [id] && listed[0].label == "one", "got \(listed)")
        },
        SensorCheck("Templates outlive the process, with their ids", .kept) { bench in
            guard bench.fixture.keepsTemplates else {
                throw NotApplicable("the sensor is for tests and keeps templates in memory only")
            }
            let id = try await bench.enroll()
            try await bench.restart()
            let listed = try await bench.sensor.listTemplates(uid: SensorBench.user)
            try expect(listed.map(\.id) == [id], "\(id), got \(listed)")
        },
        SensorCheck(
            "A template over the sensor's limit is refused as Full",
            .sensor("Enroll", "`Full` when MaxTemplates is reached")
        ) { bench in
            let room = try await bench.sensor.maxTemplates()
            guard 1...5 ~= room else { throw NotApplicable("MaxTemplates is \(room)") }
            for number in 1...room {
                do {
                    _ = try await bench.enroll("template \(number)")
                } catch let error as DBusError where error.name == .sensorDuplicate {
                    throw NotApplicable(
                        "the check cannot show the sensor \(room) different fingers or faces"
                    )
                }
            }
            try await expectError(.sensorFull, of: "one more Enroll") {
                _ = try await bench.sensor.enroll(
                    operation: bench.nextOperation(),
                    uid: SensorBench.user,
                    label: "one more",
                    options: [:],
                    timeout: bench.fixture.patience
                )
            }
        },
    ]

    /// Checks of start, reconnection and exit.
    static let lifeChecks = [
        SensorCheck(
            "The sensor starts before the daemon and serves the daemon that starts later",
            .process("starts whether or not the service is there")
        ) { bench in
            bench.daemon.releaseName(SensorBench.daemonName)
            _ = try await bench.bus.waitForOwner(of: SensorBench.daemonName, false)
            try await bench.restart()
            try await bench.replaceDaemon()
            let user = SensorBench.user
            _ = try await bench.sensor.listTemplates(uid: user)
            let id = try await bench.enroll()
            let listed = try await bench.sensor.listTemplates(uid: user)
            try expect(listed.map(\.id).contains(id), "\(id), got \(listed)")
        },
        SensorCheck("SIGTERM ends it with status 0 within a second while it is idle", .ended) {
            bench in
            bench.program.signal(SIGTERM)
            let status = try await bench.program.exitStatus(within: bench.fixture.promptness)
            try expect(status == 0, "status 0, got \(status)")
            _ = try await bench.bus.waitForOwner(of: bench.busName, false)
        },
        SensorCheck(
            "After a kill during an enrolment the sensor starts again without a template",
            .sensor("Enroll", "A template exists only after the reply is sent.")
        ) { bench in
            let number = bench.nextOperation()
            _ = try bench.sensor.enrollStream(
                operation: number,
                uid: SensorBench.user,
                label: "one",
                options: [:]
            )
            _ = try await bench.event("ready", of: number)
            try await bench.restart(by: SIGKILL)
            let listed = try await bench.sensor.listTemplates(uid: SensorBench.user)
            try expect(listed.isEmpty, "no template, got \(listed)")
            _ = try await bench.enroll()
        },
        SensorCheck(
            "An unplugged sensor reports it and ends its operation; a plugged sensor works again",
            .sensor("Present", "Whether the hardware is present.")
        ) { bench in
            guard let plug = bench.fixture.plug else {
                throw NotApplicable("the check cannot take the sensor's device away")
            }
            _ = try await bench.enroll()
            let told = EventRecorder<Bool>()
            let watch = bench.sensor.onPropertiesChanged { changed, _ in
                if let isPresent = changed["Present"]?.asBool { told.record(isPresent) }
            }
            defer { watch.cancel() }
            let (_, call) = try await bench.verify()
            try await plug(false, bench)
            try await expectError(.sensorDisconnected, of: "Verify") { _ = try await call.answer() }
            _ = try await told.first("PropertiesChanged with Present false") { !$0 }
            try expect(try await !bench.sensor.present(), "Present false")
            try await plug(true, bench)
            _ = try await told.first("PropertiesChanged with Present true") { $0 }
            try expect(try await bench.sensor.present(), "Present true")
            let (_, next) = try await bench.verify()
            _ = try await bench.presenting(true) { try await next.answer() }
        },
    ]
}
