import DBus
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

/// Runs the simulated sensor's process against the contract of all sensors, and against its own.
@Suite(.timeLimit(.minutes(10)))
struct SimulatedSensorTests {
    static let fixture = SensorFixture(
        program: ["localauth-sensor-simulated"],
        name: "Simulated",
        keepsTemplates: false,
        patience: .seconds(60),
        promptness: .seconds(20),
        present: { matching, bench in
            try? await control(bench).touch(matching: matching)
        }
    )

    init() { EventLoop.shared.startThread() }

    @Test(
        "The simulated sensor keeps the contract of all sensors",
        arguments: SensorContractSuite.checks
    )
    func contract(_ check: SensorCheck) async throws {
        try await check.run(Self.fixture)
    }

    @Test("The simulated sensor's own contract holds", arguments: Self.checks)
    func ownContract(_ check: SensorCheck) async throws {
        try await check.run(Self.fixture)
    }

    @Test("Every type has its name on the command line", arguments: ["face": 2, "companion": 0])
    func types(_ word: String, _ type: UInt32) async throws {
        try await SensorCheck("The type is as asked for") { bench in
            try expect(try await bench.sensor.biometryType() == type, "\(type)")
        }
        .run(
            SensorFixture(
                program: ["localauth-sensor-simulated", "--name", "Other", "--type", word],
                name: "Other",
                patience: .seconds(60),
                promptness: .seconds(20),
                present: Self.fixture.present
            )
        )
    }

    @Test("An idle sensor exits in good order, unless its templates are only in memory")
    @BusActor func idle() async throws {
        try await PrivateBus.run { bus in
            let name = "org.localauth.Sensor1.Busy"
            let words = ["localauth-sensor-simulated", "--name", "Busy", "--idle-timeout", "5"]
            // The first call activates the sensor, so it is not idle earlier.
            try await bus.offer(name, words)
            let control = SimulatedSensor1Proxy(
                try bus.connect(),
                destination: name,
                path: ObjectPath(trusted: "/org/localauth/Sensor1")
            )
            _ = try await control.addTemplate(uid: SensorBench.user, label: "one")
            let busy = try await bus.process(of: name)
            let idle = try bus.start(
                ["localauth-sensor-simulated", "--name", "Idle", "--idle-timeout", "10"]
            )
            #expect(try await idle.exitStatus(within: .seconds(50)) == 0, "\(idle.errors)")
            #expect(try await bus.process(of: name) == busy && busy != nil)
            try await control.reset()
            try await bus.waitForOwner(of: name, false)
        }
    }

    @Test("A malformed timeout is a usage error", arguments: ["0", "x", "86401"])
    func timeouts(_ word: String) async throws {
        let program = try ChildProcess(["localauth-sensor-simulated", "--idle-timeout", word])
        #expect(try await program.exitStatus() == 64)
        #expect(program.errors.contains("--idle-timeout"))
    }

    @Test(
        "Only root and, off the system bus, the sensor's own user may drive it",
        .enabled(if: getuid() == 0)
    )
    @BusActor func drivers() async throws {
        try await PrivateBus.run { bus in
            // Use a uid that every Debian has, because the bus refuses unknown users.
            let someone = ["/usr/bin/setpriv", "--reuid=5", "--regid=5", "--clear-groups"]
            let address =
                "unixexec:path=/usr/bin/setpriv,argv0=setpriv,argv1=--reuid=5,argv2=--clear-groups,"
                + "argv3=/usr/bin/systemd-stdio-bridge,argv4=--bus-path=\(bus.address)"
            let (root, other) = (try bus.connect(), try Connection(.address(address)))
            defer { other.close() }
            let sensors: [(String, launcher: [String], bus: String, takesOther: Bool)] = [
                ("Roots", [], bus.address, false), ("Others", someone, bus.address, true),
                ("OnSystemBus", someone, "system", false),
            ]
            for (name, launcher, place, takesOther) in sensors {
                let program = "\(ChildProcess.folder)/localauth-sensor-simulated"
                try bus.run(
                    launcher + [program, "--name", name, "--bus", place],
                    environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
                )
                let busName = "org.localauth.Sensor1.\(name)"
                try await bus.waitForOwner(of: busName)
                for (client, isTaken) in [(root, true), (other, takesOther)] {
                    let control = SimulatedSensor1Proxy(
                        client,
                        destination: busName,
                        path: ObjectPath(trusted: "/org/localauth/Sensor1")
                    )
                    if isTaken {
                        try await control.reset()
                    } else {
                        try await expectError(.accessDenied, of: name) { try await control.reset() }
                    }
                }
            }
        }
    }

    @BusActor static func control(_ bench: SensorBench) -> SimulatedSensor1Proxy {
        SimulatedSensor1Proxy(
            bench.daemon,
            destination: bench.owner,
            path: ObjectPath(trusted: "/org/localauth/Sensor1")
        )
    }

    @BusActor private static func add(_ bench: SensorBench, _ label: String) async throws -> String
    {
        try await control(bench).addTemplate(uid: SensorBench.user, label: label)
    }

    private static let checks = [
        SensorCheck("Queued outcomes are kept for the next Verify and consumed in order") { bench in
            let first = try await add(bench, "first")
            let words = ["no-match", "hint:clean-sensor", "delay:1", "match"]
            try await control(bench).queue(outcomes: words)
            try expect(try await control(bench).pending() == words, "the words as pending")
            let (number, call) = try await bench.verify()
            try expect(try await call.reply() == first, "the first template")
            let kinds = bench.events.seen.filter { $0.operation == number }.map(\.kind)
            try expect(kinds == ["ready", "no-match", "hint"], "got \(kinds)")
            try expect(try await control(bench).pending().isEmpty, "nothing pending")
        },
        SensorCheck("The sensor does not scan until a miss is counted; silence is no answer") {
            bench in
            let id = try await add(bench, "first")
            // Leave the first call unanswered.
            let silence = Gate()
            defer { silence.open() }
            bench.answer = { count throws(DBusError) in
                if count == 1 { try await silence.wait() }
                return 3
            }
            try await control(bench).queue(outcomes: ["no-match", "no-match", "match"])
            let (_, call) = try await bench.verify()
            _ = try await bench.events.first("a failed attempt") { $0.kind == "no-match" }
            try expect(try await control(bench).pending() == ["no-match", "match"], "it waits")
            _ = try await bench.events.first("the same again", within: .seconds(60)) { _ in
                bench.misses.count >= 2
            }
            try expect(try await call.reply() == id, "a match")
            try expect(bench.misses.map(\.attempt) == [1, 1, 2], "got \(bench.misses)")
        },
        SensorCheck("Outcomes queued while Verify runs are consumed by it") { bench in
            let second = "another"
            _ = try await add(bench, "first")
            let (_, call) = try await bench.verify()
            try await control(bench).queue(outcomes: ["match:\(second)"])
            try expect(try await call.reply() == second, "the named template")
        },
        SensorCheck("A disconnect is a fault, and the sensor stays usable") { bench in
            let id = try await add(bench, "first")
            try await control(bench).queue(outcomes: ["disconnect"])
            let (_, call) = try await bench.verify()
            try await expectError(.sensorDisconnected, of: "Verify") { _ = try await call.reply() }
            try expect(try await bench.sensor.present(), "the sensor to be present")
            try await control(bench).queue(outcomes: ["match"])
            let (_, next) = try await bench.verify()
            try expect(try await next.reply() == id, "a match")
        },
        SensorCheck("A hang outlives Cancel; Reset ends it") { bench in
            _ = try await add(bench, "first")
            try await control(bench).queue(outcomes: ["hang"])
            let (number, call) = try await bench.verify()
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorBusy, of: "another Verify") {
                _ = try await bench.sensor.verify(
                    operation: bench.nextOperation(),
                    uid: SensorBench.user,
                    options: [:],
                    timeout: bench.fixture.patience
                )
            }
            try await control(bench).reset()
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.reply() }
        },
        SensorCheck("A fault's sentence is logged, and in Health until something works") { bench in
            let id = try await add(bench, "first")
            try expect(try await bench.sensor.health().state == "ok", "ok at the start")
            let (_, call) = try await bench.verify()
            try await control(bench).reset()
            try await expectError(.sensorFailed, of: "Verify") { _ = try await call.reply() }
            let health = try await bench.sensor.health()
            let sentence = "The simulated sensor was reset."
            try expect(health == (state: "degraded", message: sentence), "got \(health)")
            let said = bench.program.errors
            try expect(said.contains("Simulated: \(sentence)\n"), "the log: \(said)")
            let again = try await add(bench, id)
            try await control(bench).queue(outcomes: ["match"])
            let (_, next) = try await bench.verify()
            try expect(try await next.reply() == again, "a match")
            try expect(try await bench.sensor.health().state == "ok", "ok again")
        },
        SensorCheck("A crash ends the process with a status that is not 0") { bench in
            _ = try await add(bench, "first")
            try await control(bench).queue(outcomes: ["crash"])
            let call = try bench.sensor.verifyStream(
                operation: 1,
                uid: SensorBench.user,
                options: [:]
            )
            try expect(try await bench.program.exitStatus() != 0, "another status than 0")
            try await expectError(.noReply, .disconnected, .failed, of: "Verify") {
                _ = try await call.reply()
            }
        },
        SensorCheck("Words that are no outcome queue nothing") { bench in
            let bad = ["", "Match", "match:", "hint:dance", "delay:-1", "delay:x", "delay:600001"]
            for word in bad {
                try await expectError(.invalidArgs, of: word) {
                    try await control(bench).queue(outcomes: ["match", word])
                }
            }
            try await expectError(.limitsExceeded, of: "a queue that is too long") {
                try await control(bench)
                    .queue(
                        outcomes: Array(repeating: "match", count: 257)
                    )
            }
            try expect(try await control(bench).pending().isEmpty, "nothing pending")
        },
        SensorCheck("Reset goes back to the start and tells what changed") { bench in
            let control = control(bench)
            _ = try await add(bench, "first")
            _ = try await bench.changes.first("TemplatesChanged") { _ in true }
            bench.changes.forget()
            try await control.setBiometryType(biometryType: 4)
            try await control.setStrength(strength: "weak")
            try await control.setPresent(present: false)
            try expect(try await !bench.sensor.present(), "not present")
            try expect(try await bench.sensor.unavailability() == "no-hardware", "no-hardware")
            try await control.reset()
            _ = try await bench.changes.first("TemplatesChanged") { _ in true }
            try expect(try await bench.sensor.present(), "present")
            try expect(try await bench.sensor.biometryType() == 1, "a fingerprint sensor")
            try expect(try await bench.sensor.strength() == "strong", "strong")
            let left = try await bench.sensor.listTemplates(uid: SensorBench.user)
            try expect(left.isEmpty, "no template")
        },
        SensorCheck("Changes of properties are told") { bench in
            let changed = EventRecorder<[String: Variant]>()
            _ = bench.sensor.onPropertiesChanged { values, _ in changed.record(values) }
            try await control(bench).setStrength(strength: "convenience")
            _ = try await changed.first("Strength") {
                $0 == ["Strength": .string("convenience")]
            }
        },
        SensorCheck("A sensor that is pulled out ends its operation") { bench in
            _ = try await add(bench, "first")
            let (_, call) = try await bench.verify()
            try await control(bench).setPresent(present: false)
            try await expectError(.sensorDisconnected, of: "Verify") { _ = try await call.reply() }
        },
        SensorCheck("A wrong touch during an enrolment is a hint") { bench in
            let number = bench.nextOperation()
            let call = try bench.sensor.enrollStream(
                operation: number,
                uid: SensorBench.user,
                label: "one",
                options: [:]
            )
            _ = try await bench.event("ready", of: number)
            try await control(bench).touch(matching: false)
            _ = try await bench.event("hint", of: number)
            try await control(bench).queue(outcomes: Array(repeating: "match", count: 5))
            _ = try await call.reply()
            let stages = bench.events.seen.filter { $0.kind == "stage" }
            try expect(stages.compactMap { $0.detail["stage"]?.asUInt32 } == [1, 2, 3, 4, 5], "5")
        },
        SensorCheck("With no room left an enrolment is Full") { bench in
            let room = try await bench.sensor.maxTemplates()
            for number in 0..<room { _ = try await add(bench, "\(number)") }
            try await expectError(.sensorFull, of: "Enroll") {
                _ = try await bench.sensor.enroll(
                    operation: 1,
                    uid: SensorBench.user,
                    label: "more",
                    options: [:],
                    timeout: bench.fixture.patience
                )
            }
        },
        SensorCheck("A touch that nobody waits for is forgotten") { bench in
            _ = try await add(bench, "first")
            try await control(bench).touch(matching: true)
            let (number, call) = try await bench.verify()
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.reply() }
        },
    ]
}
