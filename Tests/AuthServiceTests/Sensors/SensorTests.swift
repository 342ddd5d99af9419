import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

@Suite("Sensors from the daemon's view", .timeLimit(.minutes(10)))
struct SensorTests {
    @Test("L16: a sensor without a common version is incompatible, and gets health queries only")
    func versions() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor(expecting: "incompatible") { $0.versions = [2, 7] }
            sensor.templates[bench.uid] = [Template(id: "a", label: "", created: 0)]
            #expect(try await bench.canEvaluate().code == -6)
            // If its properties came late, the daemon queries its health, and no other method.
            #expect(sensor.calls.seen.allSatisfy { $0 == "Health" })
            sensor.connection.close()
            try await bench.waitForNoDevice()
            _ = try await bench.sensor { $0.versions = [1, 2] }
            #expect(try await bench.canEvaluate().code == -7)
        }
    }

    @Test(
        "L16: a sensor of an untrusted user is untrusted and never called",
        .enabled(if: getuid() == 0, "needs a second user")
    )
    func untrusted() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = ScriptedSensor("Third", on: person.connection)
            sensor.templates[person.peer.uid] = [Template(id: "a", label: "", created: 0)]
            try sensor.appear()
            try await bench.waitForDevice(is: "untrusted")
            #expect(try await bench.device().description().isEmpty)
            #expect(try await bench.canEvaluate(as: person.connection).code == -6)
            #expect(sensor.calls.seen.isEmpty)
        }
    }

    @Test("A sensor's object appears and disappears with its bus name")
    func hotplug() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            #expect(try await bench.manager.biometryTypes() == [1])
            let told = EventRecorder<Variant>()
            let context = try await bench.context()
            _ = context.onPropertiesChanged { values, _ in
                if let type = values["BiometryType"] { told.record(type) }
            }
            let announced = EventRecorder<[String: Variant]>()
            _ = bench.manager.onPropertiesChanged { values, _ in announced.record(values) }
            _ = try await bench.manager.version()
            sensor.connection.close()
            _ = try await told.first("no type") { $0 == .uint32(0) }
            _ = try await announced.first("neither") {
                $0["BiometryType"] == .uint32(0) && $0["BiometryTypes"] != nil
            }
            try await bench.waitForNoDevice()
            #expect(try await bench.manager.biometryTypes() == [])
            _ = try await bench.sensor { $0.type = 2 }
            #expect(try await bench.manager.biometryTypes() == [2])
        }
    }

    @Test("Only changed properties of a sensor are announced")
    func changes() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            let announced = EventRecorder<[String]>()
            _ = bench.device()
                .onPropertiesChanged { values, _ in
                    announced.record(values.keys.sorted())
                }
            _ = try await bench.manager.version()
            sensor.saidStrength = "weak"
            sensor.changed("Strength")
            _ = try await announced.first("its strength") { $0 == ["Strength"] }
            sensor.words = ["enroll": "Swipe it"]
            sensor.changed("Instructions")
            _ = try await announced.first("its words") { $0 == ["Instructions"] }
            sensor.type = 4
            sensor.changed("BiometryType")
            _ = try await announced.first("its type") { $0 == ["BiometryType"] }
            sensor.isPresent = false
            sensor.changed("Present")
            _ = try await announced.first("that it is gone") {
                $0 == ["Available", "Unavailability"]
            }
        }
    }

    @Test("L16: with too many names some are sensors, and a removed sensor makes room for another")
    func room() async throws {
        try await ServiceBench.run { bench in
            let others = try bench.bus.connect()
            for number in 0..<SensorDirectory.limit {
                try others.requestName("\(Sensor1.namespace).A\(number)")
            }
            for number in [0, SensorDirectory.limit - 1] {
                try await eventually("sensor \(number)") {
                    (try? await bench.device("A\(number)").unavailability()) != nil
                }
            }
            let sensor = ScriptedSensor("Third", on: try bench.bus.connect())
            try sensor.appear()
            _ = try await bench.manager(sensor.connection).version()
            #expect((try? await bench.device().unavailability()) == nil)
            others.releaseName("\(Sensor1.namespace).A7")
            try await bench.waitForDevice(is: "")
        }
    }

    @Test("L16: a silent sensor costs its timeout once, and returns when Health is ok")
    func silent() async throws {
        try await ServiceBench.run { bench in
            let silent = try await bench.sensor("Silent")
            let other = try await bench.sensor("Other")
            _ = other.add(for: bench.uid, announcing: false)
            #expect(try await bench.canEvaluate().code == 0)
            silent.isSilent = true
            let states = try await bench.announcedStates(of: "Silent")
            let asked = silent.count(of: "ListTemplates")
            silent.signals.templatesChanged(uid: bench.uid)
            let first = try await bench.answer(
                within: .seconds(3),
                since: {
                    try await eventually("the question") {
                        silent.count(of: "ListTemplates") > asked
                    }
                },
                { try await bench.canEvaluate() }
            )
            #expect(first.code == 0)
            _ = try await states.first("failed") { $0 == "failed" }
            let count = silent.count(of: "ListTemplates")
            #expect(count == asked + 1)
            #expect(try await bench.canEvaluate().code == 0)
            #expect(silent.count(of: "ListTemplates") == count)
            silent.isSilent = false
            try await bench.waitForDevice("Silent", is: "")
            #expect(silent.count(of: "Health") > 0)
        }
    }

    @Test("L16: a process that hangs from its start fails, and recovers")
    func hung() async throws {
        try await ServiceBench.run { bench in
            let program = try bench.bus.start(["localauth-sensor-simulated"])
            _ = try await bench.bus.waitForOwner(of: "org.localauth.Sensor1.Simulated")
            program.signal(SIGSTOP)
            try await bench.restartDaemon()
            try await bench.waitForDevice("Simulated", is: "failed")
            _ = try await bench.answer(within: .seconds(1)) { try await bench.canEvaluate() }
            program.signal(SIGCONT)
            try await bench.waitForDevice("Simulated", is: "")
            await program.end()
            try await bench.waitForNoDevice("Simulated")
        }
    }

    @Test(
        "L16: an invalid list of templates makes the sensor failed",
        arguments: [
            templates(["a", "a"]), templates([""]), templates([String(repeating: "x", count: 257)]),
            templates((0...256).map { "t\($0)" }),
            templates(["a"], label: String(repeating: "x", count: 1025)),
        ]
    )
    func lists(_ list: [Template]) async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            let states = try await bench.announcedStates()
            sensor.templates[bench.uid] = list
            let answer = try await bench.canEvaluate()
            #expect(answer.code == -6 && answer.message.contains("doesn't work"), "\(answer)")
            _ = try await states.first("failed") { $0 == "failed" }
            sensor.templates = [:]
            try await bench.waitForDevice(is: "")
        }
    }

    private static func templates(_ ids: [String], label: String = "") -> [Template] {
        ids.map { Template(id: $0, label: label, created: 0) }
    }

    @Test(
        "L16: a property with a wrong type or an unknown value makes the sensor failed",
        arguments: [
            "Present", "BiometryType", "Strength", "ProtocolVersions", "EnrollStages",
            "Description", "Unavailability", "BuiltIn",
        ]
    )
    func properties(_ name: String) async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            let states = try await bench.announcedStates()
            // Any text is valid here, so use a wrong type.
            let isText = ["Description", "Unavailability"].contains(name)
            sensor.announce(name, as: isText ? .uint32(1) : .string("fnord"))
            _ = try await states.first("failed") { $0 == "failed" }
            try await bench.waitForDevice(is: "")
            let told = try await bench.diagnosis(on: sensor.connection)
            #expect(told.contains { $0.contains("Its property \(name) has a wrong") }, "\(told)")
        }
    }

    @Test("L16: a sensor's fault is kept while it reports a failure, until it works")
    func kept() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            let states = try await bench.announcedStates()
            sensor.state = "failed"
            sensor.announce("Present", as: .string("fnord"))
            _ = try await states.first("failed") { $0 == "failed" }
            // The daemon queries it again after handling its first answer.
            try await eventually("Health") { sensor.count(of: "Health") > 1 }
            sensor.state = "ok"
            try await bench.waitForDevice(is: "")
            let told = try await bench.diagnosis(on: sensor.connection)
            #expect(told.contains { $0.contains("Its property Present has a wrong") }, "\(told)")
        }
    }

    @Test("L16: a match of a sensor without the name is no fault of the current owner")
    func successor() async throws {
        try await ServiceBench.run { bench in
            let (person, first, template) = try await bench.enrolled()
            let name = "org.localauth.Sensor1.Third"
            try await bench.bus.allowSuccessor(of: name)
            let second = ScriptedSensor("Third", on: try bench.bus.connect())
            second.templates = first.templates
            let states = try await bench.announcedStates()
            let call = try bench.begin(person.connection)
            let operation = try await first.operation()
            let asked = first.count(of: "ListTemplates")
            first.unanswered.insert("ListTemplates")
            // No sensor lists the template, so the service queries again before it decides.
            operation.succeed("unknown")
            try await eventually("the question") { first.count(of: "ListTemplates") > asked }
            try await first.connection.giveUpName(name)
            try second.appear()
            _ = try await bench.manager(second.connection).version()
            first.speak()
            try await second.operation().succeed(template)
            #expect(try await call.reply()["mechanism"] == .string("biometry"))
            #expect(!states.seen.contains("failed"))
        }
    }

    @Test("L16: an unknown word for Unavailability counts as failed")
    func reasons() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            sensor.reason = "lid-closed"
            sensor.changed("Unavailability")
            try await bench.waitForDevice(is: "lid-closed")
            sensor.reason = "out to lunch"
            sensor.changed("Unavailability")
            try await bench.waitForDevice(is: "failed")
        }
    }

    @Test("L16: a sensor that floods the daemon blocks no answer")
    func flood() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            _ = sensor.add(for: bench.uid)
            let announcements = EventRecorder<String>()
            _ = bench.device().onPropertiesChanged { _, _ in announcements.record("") }
            let start = ContinuousClock.now
            for number in 0..<3000 {
                sensor.signals.templatesChanged(uid: UInt32(number % 2) * 77_777 + bench.uid)
                sensor.isPresent.toggle()
                sensor.changed("Present")
            }
            _ = try await bench.answer(within: .seconds(5)) { try await bench.canEvaluate() }
            try await eventually("biometry") { try await bench.canEvaluate().code == 0 }
            #expect(announcements.seen.count <= ScriptedSensor.most(since: start))
        }
    }

    // MARK: - Started by the bus

    @Test("A sensor that the bus starts sleeps after exit status 0, and is woken when needed")
    func sleeping() async throws {
        try await ServiceBench.run { bench in
            try await bench.install("Sleepy")
            try await bench.waitForDevice("Sleepy", is: "")
            let first = try await bench.process("Sleepy")
            kill(first, SIGTERM)
            _ = try await bench.bus.waitForOwner(of: "org.localauth.Sensor1.Sleepy", false)
            try await bench.waitForDevice("Sleepy", is: "")
            #expect(try await bench.manager.biometryTypes() == [1])
            #expect(try await bench.canEvaluate().code == -7)
            let second = try await bench.process("Sleepy")
            #expect(second != first)
            try await bench.uninstall("Sleepy")
            kill(second, SIGTERM)
            try await bench.waitForNoDevice("Sleepy")
        }
    }

    @Test("L16: a sensor that crashes is reported as crashed, and the bus starts it again")
    func crashing() async throws {
        try await ServiceBench.run { bench in
            try await bench.install("Shaky")
            try await bench.waitForDevice("Shaky", is: "")
            let first = try await bench.process("Shaky")
            let states = try await bench.announcedStates(of: "Shaky")
            kill(first, SIGKILL)
            _ = try await states.first("crashed") { $0 == "crashed" }
            _ = try await bench.answer(within: .seconds(1)) { try await bench.canEvaluate() }
            try await bench.waitForDevice("Shaky", is: "")
            let second = try await bench.process("Shaky")
            #expect(second != first)
            try await bench.uninstall("Shaky")
            kill(second, SIGKILL)
            try await bench.waitForNoDevice("Shaky")
        }
    }

    @Test("L16: a sensor that can't be started is crashed")
    func unstartable() async throws {
        try await ServiceBench.run { bench in
            try await bench.install("Broken", program: "/bin/false")
            try await bench.waitForDevice("Broken", is: "crashed")
            #expect(try await bench.canEvaluate().code == -6)
            try await bench.uninstall("Broken")
            try await bench.waitForNoDevice("Broken")
        }
    }
}

extension ServiceBench {
    /// Lets the bus start a simulated sensor, or another program.
    func install(_ name: String, program: String = "localauth-sensor-simulated") async throws {
        try await bus.offer("org.localauth.Sensor1." + name, [program, "--name", name])
    }

    func uninstall(_ name: String) async throws {
        try await bus.withdraw("org.localauth.Sensor1." + name)
    }

    /// Returns the process that owns a sensor's name, which this bus started.
    func process(_ name: String) async throws -> Int32 {
        guard let pid = try await bus.process(of: "org.localauth.Sensor1." + name) else {
            throw TestFailure("expected an owner of \(name)")
        }
        return pid
    }
}
