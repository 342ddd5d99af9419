import CameraDevice
import Crypto
import DBus
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

@testable import FaceSensor

@Suite struct LearningTests {
    private static let camera = "usb 046d:085c - at here"
    private static let day: Int64 = 24 * 3600
    private static let now: Int64 = 1_900_000_000

    /// Makes a store with a template whose faces lie at 0 and at 0.4.
    private func store(
        _ folder: TemporaryFolder,
        user: UInt32 = 1000
    ) async throws -> (TemplateStore, String) {
        let store = try TemplateStore(folder: folder.path + "/state")
        let faces = [Seen.numbers(), Seen.numbers(0.4)]
        return (store, try await store.add(faces, label: "me", user: user, camera: Self.camera))
    }

    private func learn(
        _ store: TemplateStore,
        _ id: String,
        _ face: FaceDescriptor,
        at time: Int64 = now,
        camera: String = camera,
        threshold: FaceThreshold = .ordinary
    ) async throws -> Bool {
        try await store.learn(
            face,
            into: id,
            of: 1000,
            camera: camera,
            threshold: threshold,
            at: time
        )
    }

    @Test("A learned face joins its template, which keeps its id, and survives a restart")
    func keeps() async throws {
        let folder = try TemporaryFolder()
        let (store, id) = try await store(folder)
        #expect(try await learn(store, id, Seen.numbers(0.2)))
        #expect(try await store.changedUsers().isEmpty)
        let again = try TemplateStore(folder: folder.path + "/state")
        #expect(try await again.entries(of: 1000).map(\.id) == [id])
        let faces = try await again.templates(of: 1000, camera: Self.camera).flatMap(\.faces)
        #expect(faces == [Seen.numbers(), Seen.numbers(0.4), Seen.numbers(0.2)])
        let learned = try await again.templateUpdates(of: 1000)
        #expect(learned.map(\.template) == [id] && learned.map(\.time) == [Self.now])
        #expect(learned.allSatisfy { $0.id != id && $0.id.utf8.count == 32 })
        try await again.rename(id, of: 1000, to: "with glasses")
        #expect(try await again.templateUpdates(of: 1000) == learned)
        #expect(try await again.templateUpdates(of: 1001).isEmpty)
        try await again.remove(id, of: 1000)
        #expect(try await again.templateUpdates(of: 1000).isEmpty)
    }

    @Test("Only one face a day is learned, whichever template it belongs to")
    func daily() async throws {
        let folder = try TemporaryFolder()
        let (store, id) = try await store(folder)
        let other = try await store.add(
            [Seen.numbers()],
            label: "two",
            user: 1000,
            camera: Self.camera
        )
        #expect(try await learn(store, id, Seen.numbers(0.2)))
        for (template, time) in [(id, 1), (other, 60), (id, Self.day - 1), (other, Self.day - 1)] {
            #expect(try await !learn(store, template, Seen.numbers(0.1), at: Self.now + time))
        }
        // A clock that was set back does not start a new day.
        for time in [Self.now - 1, Self.now - 10 * Self.day, 0, -1, .min] {
            #expect(try await !learn(store, id, Seen.numbers(0.1), at: time), "\(time)")
        }
        #expect(try await learn(store, other, Seen.numbers(0.1), at: Self.now + Self.day))
        #expect(try await store.templateUpdates(of: 1000).map(\.template) == [id, other])
    }

    @Test("A sixth face is refused until one is removed, and learning then waits for the next day")
    func five() async throws {
        let folder = try TemporaryFolder()
        let (store, id) = try await store(folder)
        // Each place is new; the sixth exceeds the limit.
        let places: [Float] = [0.06, 0.12, 0.18, 0.24, -0.1, -0.2]
        for (number, place) in places.enumerated() {
            let time = Self.now + Int64(number) * Self.day
            let isLearned = try await learn(store, id, Seen.numbers(place), at: time)
            #expect(isLearned == (number < 5), "the one at \(place)")
        }
        let learned = try await store.templateUpdates(of: 1000)
        #expect(learned.count == 5)
        // The removed face still counts for its day.
        let last = Self.now + 4 * Self.day
        for entry in learned { try await store.removeTemplateUpdate(entry.id, of: 1000) }
        #expect(try await store.templateUpdates(of: 1000).isEmpty)
        let again = try TemplateStore(folder: folder.path + "/state")
        #expect(try await !learn(again, id, Seen.numbers(0.2), at: last + 60))
        #expect(try await learn(again, id, Seen.numbers(0.2), at: last + Self.day))
        let faces = try await again.templates(of: 1000, camera: Self.camera).flatMap(\.faces)
        #expect(faces == [Seen.numbers(), Seen.numbers(0.4), Seen.numbers(0.2)])
        let removed = try #require(learned.first).id
        for bad in [id, removed, "", String(repeating: "0", count: 32)] {
            await #expect(throws: FaceFault.noTemplate) {
                try await again.removeTemplateUpdate(bad, of: 1000)
            }
        }
        let own = try #require(try await again.templateUpdates(of: 1000).first).id
        await #expect(throws: FaceFault.noTemplate) {
            try await again.removeTemplateUpdate(own, of: 1001)
        }
    }

    @Test("A user's templates can learn five faces together")
    func fiveTogether() async throws {
        let folder = try TemporaryFolder()
        let (store, id) = try await store(folder)
        let other = try await store.add(
            [Seen.numbers()],
            label: "two",
            user: 1000,
            camera: Self.camera
        )
        let updates: [(template: String, place: Float)] = [
            (id, 0.06), (other, 0.06), (id, 0.12), (other, 0.12), (id, 0.18), (other, 0.18),
            (id, 0.24),
        ]
        for (number, update) in updates.enumerated() {
            let time = Self.now + Int64(number) * Self.day
            let face = Seen.numbers(update.place)
            let isLearned = try await learn(store, update.template, face, at: time)
            #expect(isLearned == (number < 5), "number \(number)")
        }
        #expect(try await store.templateUpdates(of: 1000).count == 5)
    }

    @Test("A face near the threshold or near a known face is not learned")
    func near() async throws {
        let folder = try TemporaryFolder()
        let (store, id) = try await store(folder)
        // In order: far from both faces; near only to the second; already enrolled; another person.
        let stranger = Seen.numbers(0.2, person: 1)
        for face in [Seen.numbers(-0.31), Seen.numbers(0.46), Seen.numbers(0.01), stranger] {
            #expect(try await !learn(store, id, face))
        }
        let strict = FaceThreshold.strict
        #expect(try await !learn(store, id, Seen.numbers(-0.26), threshold: strict))
        #expect(try await learn(store, id, Seen.numbers(-0.26)))
        let next = Self.now + Self.day
        #expect(try await !learn(store, id, Seen.numbers(-0.25), at: next), "learned already")
        #expect(try await !learn(store, id, Seen.numbers(0.2), at: next, camera: "usb of another"))
        await #expect(throws: FaceFault.noTemplate) {
            try await learn(store, String(id.reversed()), Seen.numbers(0.2), at: next)
        }
    }

    @Test("A face closer to another person's than the template may be is not learned or used")
    func nearCohort() async throws {
        let folder = try TemporaryFolder()
        let store = try TemplateStore(folder: folder.path + "/state")
        var values = try Studio.faceOfCohort()
        let first = values[127]
        func face(_ distance: Float) throws -> FaceDescriptor {
            values[127] = first + distance
            return try #require(FaceDescriptor(values))
        }
        // The template's limit is 0.37.
        let enrolled = try face(0.47)
        let id = try await store.add([enrolled], label: "", user: 1000, camera: Self.camera)
        #expect(try await !learn(store, id, try face(0.38)))
        #expect(try await learn(store, id, try face(0.53)))
        // An older version may have learned the face.
        var record = try #require(try await store.records(of: 1000).first)
        let new = TemplateStore.newIdentifier()
        record.learned.append(.init(id: new, time: 1, face: try face(0.38)))
        try await store.save(record, user: 1000)
        let template = try await store.templates(of: 1000, camera: Self.camera).first
        #expect(template?.faces == [enrolled, try face(0.53)])
        // Excluded faces leave room for others.
        record.learned = record.learned.filter { $0.id != new }
        for _ in 0..<4 {
            let id = TemplateStore.newIdentifier()
            record.learned.append(.init(id: id, time: 1, face: try face(0.38)))
        }
        try await store.save(record, user: 1000)
        #expect(try await learn(store, id, try face(0.6), at: Self.now + Self.day))
        #expect(try await store.templateUpdates(of: 1000).count == 2)
    }

    @Test("Learning cannot drift: learned faces do not extend the limit")
    func wandering() async throws {
        let folder = try TemporaryFolder()
        let store = try TemplateStore(folder: folder.path + "/state")
        let id = try await store.add(
            [Seen.numbers()],
            label: "me",
            user: 1000,
            camera: Self.camera
        )
        // Each step is near the last learned face, like a person who changes a little every day.
        var learned: [Float] = []
        for step in 1...10 {
            let place = Float(step) * 0.08
            if try await learn(
                store,
                id,
                Seen.numbers(place),
                at: Self.now + Int64(step) * Self.day
            ) {
                learned.append(place)
            }
        }
        #expect(learned.allSatisfy { $0 < 0.3 } && learned.count == 3, "\(learned)")
    }

    @Test("A template in format 1 is read, and changes its format only when it learns")
    func formerFormat() async throws {
        let folder = try TemporaryFolder()
        let (key, id) = ([UInt8](repeating: 7, count: 32), String(repeating: "ab", count: 16))
        let faces = [Seen.numbers(), Seen.numbers(0.4)]
        let old = try Self.former(id: id, faces: faces, key: key)
        try folder.write("state/face.key", key, mode: 0o600)
        chmod(folder.path + "/state", 0o700)
        try folder.write("state/1000-\(id).face", old, mode: 0o600)
        let store = try TemplateStore(folder: folder.path + "/state")
        #expect(try await store.unusable() == .init())
        #expect(try await store.entries(of: 1000).map(\.label) == ["me"])
        let read = try await store.templates(of: 1000, camera: Self.camera)
        #expect(read == [FaceTemplate(id: id, faces: faces)])
        // A rename keeps format 1, which an earlier build can still read.
        try await store.rename(id, of: 1000, to: "two")
        #expect(try folder.read("state/1000-\(id).face").starts(with: Array("LAFACE01".utf8)))
        #expect(try await learn(store, id, Seen.numbers(0.2)))
        let new = try folder.read("state/1000-\(id).face")
        #expect(new.starts(with: Array("LAFACE02".utf8)))
        #expect(try await store.entries(of: 1000).map(\.created) == [1_600_000_000])
        // Neither format can be passed off as the other.
        for (content, magic) in [(new, "LAFACE01"), (old, "LAFACE02"), (new, "LAFACE03")] {
            let forged = Array(magic.utf8) + content.dropFirst(8)
            try folder.write("state/1000-\(id).face", forged, mode: 0o600)
            #expect(try await store.unusable().damaged.count == 1, "\(magic)")
        }
    }

    /// Makes a template in format 1, independently of the code under test.
    private static func former(
        id: String,
        faces: [FaceDescriptor],
        key: [UInt8]
    ) throws -> [UInt8] {
        func little(_ number: UInt64, _ size: Int) -> [UInt8] {
            (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        let head =
            Array("LAFACE01".utf8) + little(1_600_000_000, 8) + [UInt8(camera.utf8.count)]
            + camera.utf8
        var plain = little(2, 2) + Array("me".utf8) + [UInt8(faces.count)]
        for value in faces.flatMap(\.values) { plain += little(UInt64(value.bitPattern), 4) }
        let box = try AES.GCM.seal(
            plain,
            using: SymmetricKey(data: key),
            authenticating: head + little(1000, 4) + id.utf8
        )
        return head + (try #require(box.combined))
    }

    @Test("A crash during learning leaves the template unchanged")
    func crash() async throws {
        let folder = try TemporaryFolder()
        let (store, id) = try await store(folder)
        let name = "1000-\(id).face"
        let before = try folder.read("state/\(name)")
        // A failed write learns nothing.
        try folder.write("state/\(name).new/x", [1])
        await #expect(throws: FaceFault.self) { try await learn(store, id, Seen.numbers(0.2)) }
        #expect(try folder.read("state/\(name)") == before)
        #expect(try await store.templateUpdates(of: 1000).isEmpty)
        // A file that a crash left half written is ignored and replaced.
        try #require(unlink(folder.path + "/state/\(name).new/x") == 0)
        try #require(rmdir(folder.path + "/state/\(name).new") == 0)
        try folder.write("state/\(name).new", before.prefix(100), mode: 0o600)
        let again = try TemplateStore(folder: folder.path + "/state")
        #expect(try await again.templateUpdates(of: 1000).isEmpty)
        #expect(try await learn(again, id, Seen.numbers(0.2)))
        #expect(try await again.unusable() == .init())
    }
}

/// Tests learning in the sensor's process, with the real engine, on a clip.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Studio.isReady, Studio.reason))
struct LearningSensorTests {
    init() { EventLoop.shared.startThread() }

    /// Runs a sensor on a clip of a user whose template has this distance from the clip's face.
    private func run(
        _ distance: Float,
        _ body:
            @escaping @BusActor @Sendable (SensorBench, _ template: String) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let program = Stage.program(folder, replay: "\(Studio.clips)/enroll.mjpeg")
        let engine = try FaceEngine(models: Studio.models, state: folder.path + "/state")
        var first: FaceDescriptor?
        for frame in try Studio.frames("enroll") where first == nil {
            first = engine.look(frame)?.numbers
        }
        let seen = try #require(first)
        // Change every number a little, so that the distance to each picture of the clip is
        // similar.
        let step = distance / Float(FaceDescriptor.count).squareRoot()
        var random = SeededGenerator(1)
        let values = seen.values.map { $0 + (Bool.random(using: &random) ? step : -step) }
        let face = FaceDescriptor(values)
        let store = try TemplateStore(folder: folder.path + "/state")
        let id = try await store.add(
            [try #require(face)],
            label: "me",
            user: SensorBench.user,
            camera: CameraIdentity.replay.description
        )
        let fixture = SensorFixture(
            program: program,
            name: "Face",
            patience: .seconds(60),
            promptness: .seconds(20),
            present: { _, _ in }
        )
        try await SensorCheck("learning") { bench in try await body(bench, id) }.run(fixture)
    }

    /// Verifies, and returns the operation number for Learn.
    @BusActor private static func match(
        _ bench: SensorBench,
        _ options: [String: Variant] = ["learn": .bool(true)]
    ) async throws -> UInt64 {
        let number = bench.nextOperation()
        _ = try await bench.sensor.verify(
            operation: number,
            uid: SensorBench.user,
            options: options,
            timeout: .seconds(60)
        )
        return number
    }

    @Test("A confirmed match is learned once, only for its caller, and is listed")
    func learns() async throws {
        try await run(0.15) { bench, template in
            let number = try await Self.match(bench)
            let stranger = SensorBench.proxy(try bench.bus.connect(), bench.owner)
            try await expectError(.accessDenied, of: "Learn") {
                _ = try await stranger.learn(operation: number)
            }
            try await expectError(.invalidArgs, of: "another operation's Learn") {
                _ = try await bench.sensor.learn(operation: number + 1)
            }
            try expect(try await bench.sensor.learn(operation: number), "it is learned")
            try await expectError(.invalidArgs, of: "a second Learn") {
                _ = try await bench.sensor.learn(operation: number)
            }
            let learned = try await bench.sensor.listLearned(uid: SensorBench.user)
            try expect(learned.map(\.template) == [template], "\(learned)")
            let listed = try await bench.sensor.listTemplates(uid: SensorBench.user)
            try expect(listed.map(\.id) == [template], "the id stays, got \(listed)")
            let next = try await Self.match(bench)
            try expect(try await !bench.sensor.learn(operation: next), "not on the same day")
            let entry = try #require(learned.first)
            try await bench.sensor.removeLearned(uid: SensorBench.user, id: entry.id)
            let left = try await bench.sensor.listLearned(uid: SensorBench.user)
            try expect(left.isEmpty, "\(left)")
            try expect(bench.changes.seen.isEmpty, "no TemplatesChanged")
        }
    }

    @Test("A far match, a match without the option and an older match are not learned")
    func doesNotLearn() async throws {
        try await run(0.36) { bench, _ in
            let far = try await Self.match(bench)
            try expect(try await !bench.sensor.learn(operation: far), "it is far")
            let unasked = try await Self.match(bench, [:])
            try await expectError(.invalidArgs, of: "Learn without the option") {
                _ = try await bench.sensor.learn(operation: unasked)
            }
            let former = try await Self.match(bench)
            let next = bench.nextOperation()
            let call = try bench.sensor.verifyStream(
                operation: next,
                uid: SensorBench.user + 1,
                options: [:]
            )
            try await expectError(.sensorNoTemplates, of: "Verify") { _ = try await call.reply() }
            try await expectError(.invalidArgs, of: "Learn after another operation") {
                _ = try await bench.sensor.learn(operation: former)
            }
            let last = try await Self.match(bench)
            try await bench.replaceDaemon()
            try await expectError(.invalidArgs, of: "Learn of another daemon") {
                _ = try await bench.sensor.learn(operation: last)
            }
            let learned = try await bench.sensor.listLearned(uid: SensorBench.user)
            try expect(learned.isEmpty, "\(learned)")
        }
    }
}
