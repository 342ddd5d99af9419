import DBus
import FaceSensor
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

/// Tests the face sensor as a real process, with the real engine, on clips.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Studio.isReady, Studio.reason))
struct FaceSensorTests {
    init() { EventLoop.shared.startThread() }

    @Test("The contract of all sensors holds", arguments: SensorContractSuite.checks)
    func contract(_ check: SensorCheck) async throws {
        let folder = try TemporaryFolder()
        try await check.run(try Stage.fixture(folder))
    }

    @Test("A failed write adds no template and changes no label")
    func disk() async throws {
        let folder = try TemporaryFolder()
        let faults = try Faults()
        var faulty = try Stage.fixture(folder)
        faulty.program = faults.starting(faulty.program)
        try await SensorCheck.disk(faults).run(faulty)
    }

    /// Runs a check on a clip that plays in a loop.
    private func onClip(
        _ clip: String,
        _ folder: TemporaryFolder,
        _ options: [String] = [],
        _ body: @escaping @BusActor @Sendable (SensorBench) async throws -> Void
    ) async throws {
        let file = "\(Studio.clips)/\(clip).mjpeg"
        let fixture = SensorFixture(
            program: Stage.program(folder, replay: file) + options,
            name: "Face",
            patience: .seconds(60),
            promptness: .seconds(20),
            present: { _, _ in }
        )
        try await SensorCheck(clip, body).run(fixture)
    }

    private func enrolled(_ folder: TemporaryFolder) async throws {
        try await onClip("enroll", folder) { bench in _ = try await bench.enroll("me") }
    }

    @Test("Another photograph of the enrolled person matches in another process")
    func samePerson() async throws {
        let folder = try TemporaryFolder()
        try await enrolled(folder)
        try await onClip("match", folder) { bench in
            let enrolled = try await bench.sensor.listTemplates(uid: SensorBench.user)
            let (number, call) = try await bench.verify()
            let id = try await call.reply()
            try expect(enrolled.map(\.id) == [id], "\(enrolled), got \(id)")
            let kinds = bench.events.seen.filter { $0.operation == number }.map(\.kind)
            try expect(!kinds.contains("no-match"), "no failed attempt, got \(kinds)")
        }
    }

    @Test("Another person doesn't match: two misses, and the scan continues")
    func anotherPerson() async throws {
        let folder = try TemporaryFolder()
        try await enrolled(folder)
        try await onClip("other", folder) { bench in
            let (number, call) = try await bench.verify()
            _ = try await bench.events.first("two failed attempts", within: .seconds(60)) { _ in
                bench.misses.count >= 2
            }
            try expect(bench.misses.prefix(2).map(\.attempt) == [1, 2], "numbers from 1")
            // The hint after a miss has to follow it, or the miss would overwrite it.
            let after = bench.events.seen.filter { $0.operation == number }
                .drop { $0.kind != "no-match" }
            try expect(
                after.dropFirst().first?.detail["hint"] == .string("look-at-camera"),
                "got \(after.map(\.kind))"
            )
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.reply() }
        }
    }

    @Test(
        "An unsuitable scene gives a hint and no miss, and can be cancelled",
        arguments: [
            "empty": "look-at-camera", "two": "one-person", "dark": "too-dark",
            "far": "move-closer", "aside": "center", "shaky": "hold-still",
        ]
    )
    func hints(_ clip: String, _ hint: String) async throws {
        let folder = try TemporaryFolder()
        // Enrol, because an enrolment requires better pictures than a match.
        try await onClip(clip, folder) { bench in
            let number = bench.nextOperation()
            let call = try bench.sensor.enrollStream(
                operation: number,
                uid: SensorBench.user,
                label: "one",
                options: [:]
            )
            _ = try await bench.events.first("the hint \(hint)", within: .seconds(60)) {
                $0.kind == "hint" && $0.detail["hint"]?.asString == hint
            }
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Enroll") { _ = try await call.reply() }
            let kinds = Set(bench.events.seen.map(\.kind))
            try expect(!kinds.contains("no-match"), "got \(kinds)")
        }
    }

    @Test("An empty scene times out", arguments: ["empty", "two"])
    func timesOut(_ clip: String) async throws {
        let folder = try TemporaryFolder()
        try await enrolled(folder)
        try await onClip(clip, folder) { bench in
            let (number, call) = try await bench.verify()
            // Cancel as the daemon does when its deadline passes.
            _ = try await bench.events.first("a hint", within: .seconds(60)) {
                $0.operation == number && $0.kind == "hint"
            }
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.reply() }
            let kinds = Set(bench.events.seen.filter { $0.operation == number }.map(\.kind))
            try expect(kinds == ["ready", "hint"], "got \(kinds)")
        }
    }

    @Test("A template removed during a scan no longer matches")
    func removed() async throws {
        let folder = try TemporaryFolder()
        let check = SensorCheck("removed") { bench in
            let id = try await bench.enroll()
            let (_, call) = try await bench.verify()
            try await bench.sensor.removeTemplate(uid: SensorBench.user, id: id)
            try await expectError(.sensorNoTemplates, of: "Verify") {
                _ = try await bench.presenting(true) { try await call.reply() }
            }
        }
        try await check.run(try Stage.fixture(folder))
    }

    @Test("A sensor with another camera refuses templates and says why")
    func anotherCamera() async throws {
        let folder = try TemporaryFolder()
        let store = try TemplateStore(folder: folder.path + "/state")
        let faces = (0..<5).map { Seen.numbers(Float($0)) }
        _ = try await store.add(
            faces,
            label: "me",
            user: SensorBench.user,
            camera: "usb 046d:085c - at home"
        )
        try await onClip("match", folder) { bench in
            do {
                _ = try await bench.sensor.verify(
                    operation: 1,
                    uid: SensorBench.user,
                    options: [:],
                    timeout: bench.fixture.patience
                )
            } catch let error as DBusError {
                try expect(error.name == .sensorFailed, "Failed, got \(error)")
                try expect(error.message.contains("; this camera is replay"), error.message)
                return
            }
            throw TestFailure("expected a refusal")
        }
    }

    @Test("A replay is described as a replay, and only for convenience")
    func properties() async throws {
        try await onClip("match", try TemporaryFolder()) { bench in
            try expect(try await bench.sensor.biometryType() == 2, "a face")
            try expect(try await bench.sensor.strength() == "convenience", "convenience")
            try expect(try await bench.sensor.enrollStages() == 5, "five stages")
            try expect(try await bench.sensor.description().contains("replay"), "a replay")
            try expect(try await bench.sensor.health().state == "ok", "ok")
        }
    }

    @Test("No picture, face or score is written anywhere")
    func writesNothing() async throws {
        let folder = try TemporaryFolder()
        try await enrolled(folder)
        let names = TemporaryFolder.names(in: folder.path + "/state")
            .filter { $0 != "detector.cache" }
        #expect(names.count == 2, "\(names)")
        #expect(names.contains("face.key") && names.contains { $0.hasSuffix(".face") })
    }
}

/// Tests the face sensor as a real process without models.
@Suite(.timeLimit(.minutes(10)))
struct FaceSensorWithoutModelsTests {
    init() { EventLoop.shared.startThread() }

    private func fixture(_ folder: TemporaryFolder, _ options: [String]) -> SensorFixture {
        SensorFixture(
            program: ["localauth-sensor-face", "--state-directory", folder.path + "/state"]
                + options,
            name: "Face",
            patience: .seconds(60),
            promptness: .seconds(20),
            present: { _, _ in }
        )
    }

    @Test("Without models the sensor is present but unavailable, and tells the remedy")
    func noModels() async throws {
        let folder = try TemporaryFolder()
        try folder.write("clip", [])
        let fixture = fixture(folder, ["--replay", folder.path + "/clip"])
        try await SensorCheck("unavailable") { bench in
            try expect(try await bench.sensor.present(), "present")
            try expect(try await bench.sensor.unavailability() == "failed", "failed")
            let health = try await bench.sensor.health()
            let remedy = FaceEngine.isBuilt ? "--fetch-models" : "the package trait Face"
            try expect(health.state == "failed" && health.message.contains(remedy), "\(health)")
            try await expectError(.sensorFailed, of: "Enroll") {
                _ = try await bench.sensor.enroll(
                    operation: 1,
                    uid: SensorBench.user,
                    label: "one",
                    options: [:],
                    timeout: bench.fixture.patience
                )
            }
            try await expectError(.sensorNoTemplates, of: "Verify") {
                _ = try await bench.sensor.verify(
                    operation: 2,
                    uid: SensorBench.user,
                    options: [:],
                    timeout: bench.fixture.patience
                )
            }
        }
        .run(fixture)
    }

    @Test("A missing camera is reported, and a file is no camera", .enabled(if: FaceEngine.isBuilt))
    func noCamera() async throws {
        let folder = try TemporaryFolder()
        try folder.write("video0", [])
        let cameras = [("/dev/video63", "no-hardware"), (folder.path + "/video0", "untrusted")]
        for (camera, reason) in cameras {
            try await SensorCheck("unavailable") { bench in
                let told = try await bench.sensor.unavailability()
                try expect(told == reason, "\(reason), got \(told)")
                try expect(try await bench.sensor.present() == (reason == "untrusted"), reason)
            }
            .run(fixture(folder, ["--camera", camera]))
        }
    }

    @Test(
        "Contradictory options are refused with one line and a hint",
        arguments: [
            ["--camera", "/dev/video0", "--replay", "a"], ["--infrared", "--replay", "a"],
            ["--pre-open-hook", "true"], ["--fetch-models", "--strict"],
        ]
    )
    @BusActor func options(_ options: [String]) async throws {
        try await PrivateBus.run { bus in
            let words = ["localauth-sensor-face"] + options
            let program =
                options.contains("--fetch-models")
                ? try bus.run(words)
                : try bus.start(words + ["--state-directory", bus.folder])
            #expect(try await program.exitStatus() == 64)
            #expect(program.errors.hasPrefix("localauth-sensor-face: "))
        }
    }
}
