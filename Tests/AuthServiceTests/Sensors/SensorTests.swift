import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

@Suite("Sensors as the daemon sees them", .timeLimit(.minutes(10)))
struct SensorTests {
    @Test("L16: a sensor that speaks no common version is incompatible, and only asked how it is")
    func versions() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor(expecting: "incompatible") { $0.versions = [2, 7] }
            sensor.templates[bench.uid] = [Template(id: "a", label: "", created: 0)]
            #expect(try await bench.canEvaluate().code == -6)
            // One that was slow to say its versions is asked how it does, and for nothing else.
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

    @Test("Hotplug: a sensor's object comes with its name and goes with it")
    func hotplug() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            #expect(try await bench.manager.biometryTypes() == [1])
            let told = Witness<Variant>()
            let context = try await bench.context()
            _ = context.onPropertiesChanged { values, _ in
                if let type = values["BiometryType"] { told.record(type) }
            }
            let announced = Witness<[String: Variant]>()
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

    @Test("What a sensor is now is announced, and nothing else")
    func changes() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            let announced = Witness<[String]>()
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

    @Test("L16: of a flood of names some are sensors, and another is one when one of them goes")
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

    @Test("L16: a silent sensor costs its patience once, and comes back when Health says ok")
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

    @Test("L16: a process that hangs from its first moment is failed, and recovers")
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
        "L16: a list of templates that no sound sensor has makes the sensor failed",
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
        "L16: a property of a wrong type, or none of those that exist, makes the sensor failed",
        arguments: [
            "Present", "BiometryType", "Strength", "ProtocolVersions", "EnrollStages",
            "Description", "Unavailability", "BuiltIn",
        ]
    )
    func properties(_ name: String) async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            let states = try await bench.announcedStates()
            // Any text is a description.
            let isText = ["Description", "Unavailability"].contains(name)
            sensor.announce(name, as: isText ? .uint32(1) : .string("fnord"))
            _ = try await states.first("failed") { $0 == "failed" }
            try await bench.waitForDevice(is: "")
            let told = try await bench.diagnosis(on: sensor.connection)
            #expect(told.contains { $0.contains("Its property \(name) has a wrong") }, "\(told)")
        }
    }

    @Test("L16: what a sensor did wrong is told though it says that it failed, until it works")
    func kept() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            let states = try await bench.announcedStates()
            sensor.state = "failed"
            sensor.announce("Present", as: .string("fnord"))
            _ = try await states.first("failed") { $0 == "failed" }
            // It is asked again where its first answer was taken.
            try await eventually("Health") { sensor.count(of: "Health") > 1 }
            sensor.state = "ok"
            try await bench.waitForDevice(is: "")
            let told = try await bench.diagnosis(on: sensor.connection)
            #expect(told.contains { $0.contains("Its property Present has a wrong") }, "\(told)")
        }
    }

    @Test("L16: a match of who gave its name away is no fault of who has it now")
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
            // Nobody lists it; the service asks again before it says so.
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

    @Test("L16: a word for Unavailability that is none of the contract's reads as failed")
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

    @Test("L16: a sensor that floods keeps nobody from an answer")
    func flood() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            _ = sensor.add(for: bench.uid)
            let announcements = Witness<String>()
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

    @Test("A sensor that the bus starts sleeps after status 0 and is woken when it is needed")
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

    @Test("L16: a sensor that crashes is crashed, and the bus starts it again")
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
    /// Lets the bus start a simulated sensor, or whatever `program` is.
    func install(_ name: String, program: String = "localauth-sensor-simulated") async throws {
        try await bus.offer("org.localauth.Sensor1." + name, [program, "--name", name])
    }

    func uninstall(_ name: String) async throws {
        try await bus.withdraw("org.localauth.Sensor1." + name)
    }

    /// The process that owns a sensor's name; one that this bus started.
    func process(_ name: String) async throws -> Int32 {
        guard let pid = try await bus.process(of: "org.localauth.Sensor1." + name) else {
            throw TestFailure("expected an owner of \(name)")
        }
        return pid
    }
}
