import DBus
import FaceSensor
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

/// Tests the face sensor while other programs change its files, and as another user.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Studio.isReady, Studio.reason))
struct FaceServiceTests {
    private static let nobody: uid_t = 65_534

    init() { EventLoop.shared.startThread() }

    private func check(
        _ folder: TemporaryFolder,
        _ program: [String]? = nil,
        _ body: @escaping @BusActor @Sendable (SensorBench) async throws -> Void
    ) async throws {
        let clip = "\(Studio.clips)/enroll.mjpeg"
        let fixture = SensorFixture(
            program: program ?? Stage.program(folder, replay: clip),
            name: "Face",
            patience: .seconds(60),
            promptness: .seconds(20),
            present: { _, _ in }
        )
        try await SensorCheck("files", body).run(fixture)
    }

    /// Long enough to open the models.
    private static let limit = Duration.seconds(40)

    @Test("The sensor reports another program's change of templates, and an enrolment only once")
    func changedBehind() async throws {
        let folder = try TemporaryFolder()
        try await check(folder) { bench in
            let id = try await bench.enroll("me")
            let file = "\(folder.path)/state/\(SensorBench.user)-\(id).face"
            try expect(rename(file, folder.path + "/away") == 0, "moved")
            try await eventually("a change", within: Self.limit) { bench.changes.seen.count >= 2 }
            try expect(rename(folder.path + "/away", file) == 0, "moved back")
            try await eventually("another change", within: Self.limit) {
                bench.changes.seen.count >= 3
            }
            let changes = bench.changes.seen
            try expect(changes == [UInt32](repeating: SensorBench.user, count: 3), "\(changes)")
        }
    }

    @Test("With a damaged template the sensor is degraded, and other templates still match")
    func damagedTemplate() async throws {
        let folder = try TemporaryFolder()
        try await check(folder) { bench in
            let first = try await bench.enroll("one")
            let second = try await bench.enroll("two")
            let file = "state/\(SensorBench.user)-\(first).face"
            try folder.write(file, [1, 2, 3], mode: 0o600)
            try await eventually("degraded, with the path", within: Self.limit) {
                let health = try await bench.sensor.health()
                return health.state == "degraded" && health.message.contains(file)
            }
            try expect(try await bench.sensor.unavailability().isEmpty, "usable")
            let left = try await bench.sensor.listTemplates(uid: SensorBench.user).map(\.id)
            try expect(left == [second], "\(left)")
            let (_, call) = try await bench.verify()
            try expect(try await call.reply() == second, "the other one")
        }
    }

    @Test("Without its key the sensor stays up as failed, and recovers when the key returns")
    func lostKey() async throws {
        let folder = try TemporaryFolder()
        try await check(folder) { bench in _ = try await bench.enroll("me") }
        let (key, away) = (folder.path + "/state/face.key", folder.path + "/away")
        #expect(rename(key, away) == 0)
        try await check(folder) { bench in
            try expect(try await bench.sensor.unavailability() == "failed", "failed")
            let health = try await bench.sensor.health()
            let reason = "The key \(key) is missing."
            try expect(health.state == "failed" && health.message.hasPrefix(reason), "\(health)")
            // Refuse the list: an empty list would say that no face is enrolled.
            try await expectError(.sensorFailed, of: "ListTemplates") {
                _ = try await bench.sensor.listTemplates(uid: SensorBench.user)
            }
            try expect(rename(away, key) == 0, "restored")
            try await eventually("usable without a new start", within: Self.limit) {
                try await bench.sensor.unavailability().isEmpty
            }
            let (_, call) = try await bench.verify()
            let id = try await call.reply()
            let enrolled = try await bench.sensor.listTemplates(uid: SensorBench.user)
            try expect(enrolled.map(\.id) == [id], "\(enrolled), got \(id)")
        }
    }

    @Test(
        "The sensor uses at most 40 MB of memory after an enrolment and eight matches",
        .enabled(if: !isSanitized, "a sanitizer takes many times as much")
    )
    func memory() async throws {
        let folder = try TemporaryFolder()
        try await check(folder) { bench in
            let id = try await bench.enroll("me")
            for _ in 0..<8 {
                let (_, call) = try await bench.verify()
                try expect(try await call.reply() == id, "a match")
            }
            let own = try ownMemory(of: bench.program.pid)
            try expect(own <= 40_000, "\(own) kB")
        }
    }

    @Test("The sensor finds models that are fetched later, into a new folder")
    func laterModels() async throws {
        let folder = try TemporaryFolder()
        let program = [
            "localauth-sensor-face", "--replay", "\(Studio.clips)/match.mjpeg", "--models",
            folder.path + "/models", "--state-directory", folder.path + "/state",
        ]
        try await check(folder, program) { bench in
            try expect(try await bench.sensor.unavailability() == "failed", "failed")
            try expect(
                symlink(Studio.models.folder, folder.path + "/models") == 0,
                "models in their folder"
            )
            try await eventually("a usable sensor", within: Self.limit) {
                try await bench.sensor.unavailability().isEmpty
            }
        }
    }

    @Test("Damaged models make the sensor unavailable once, and calls do not change that")
    func damagedModels() async throws {
        let folder = try TemporaryFolder()
        for name in TemporaryFolder.names(in: Studio.models.folder) where name.hasSuffix(".dat") {
            var content = try TemporaryFolder.read("\(Studio.models.folder)/\(name)")
            content[5000] ^= 1
            try folder.write("models/\(name)", content)
        }
        let program = [
            "localauth-sensor-face", "--replay", "\(Studio.clips)/match.mjpeg", "--models",
            folder.path + "/models", "--state-directory", folder.path + "/state",
        ]
        try await check(folder, program) { bench in
            try await eventually("failed", within: Self.limit) {
                try await bench.sensor.unavailability() == "failed"
            }
            var changes = 0
            let watch = bench.sensor.onPropertiesChanged { _, _ in changes += 1 }
            defer { watch.cancel() }
            var seen: Set<String> = []
            for number in 0..<20 {
                try folder.write("state/touched", [UInt8(number)])
                _ = try? await bench.sensor.enroll(
                    operation: bench.nextOperation(),
                    uid: SensorBench.user,
                    label: "x",
                    options: [:],
                    timeout: bench.fixture.patience
                )
                seen.insert(try await bench.sensor.unavailability())
                seen.insert(try await bench.sensor.health().state)
            }
            try expect(seen == ["failed"] && changes == 0, "\(seen), \(changes) changes")
        }
    }

    @Test(
        "The sensor reports models that only root can read, and fetching as root opens them",
        .enabled(if: geteuid() == 0, "only root can be two users")
    )
    func anotherUser() async throws {
        let folder = try TemporaryFolder()
        chmod(folder.path, 0o711)
        for name in TemporaryFolder.names(in: Studio.models.folder) where name.hasSuffix(".dat") {
            let content = try TemporaryFolder.read("\(Studio.models.folder)/\(name)")
            try folder.write("state/models/\(name)", content, mode: 0o600)
        }
        chmod(folder.path + "/state", 0o700)
        chown(folder.path + "/state", Self.nobody, Self.nobody)
        chmod(folder.path + "/state/models", 0o700)
        // Copy the program: other users may not be able to read the build folder.
        let name = "localauth-sensor-face"
        // Copy in another process: a concurrently started child could inherit this process's
        // writable descriptor, and the program could then not be run.
        let copied = try ChildProcess.run(
            ["/bin/cp", "\(ChildProcess.folder)/\(name)", "\(folder.path)/\(name)"]
        )
        try expect(copied.status == 0, "copied")
        try folder.write("clip", TemporaryFolder.read("\(Studio.clips)/empty.mjpeg"))
        let words = [
            "/usr/bin/setpriv", "--reuid=\(Self.nobody)", "--regid=\(Self.nobody)",
            "--clear-groups", "\(folder.path)/\(name)", "--replay", folder.path + "/clip",
            "--state-directory", folder.path + "/state",
        ]
        try await check(folder, words) { bench in
            let health = try await bench.sensor.health()
            let remedy =
                "User \(Self.nobody) can't read the face models in \(folder.path)/state/models. "
                + "Get them, as root, with: "
                + "\(folder.path)/\(name) --fetch-models --models \(folder.path)/state/models"
            try expect(health.message.contains(remedy), "\(health)")
            let fetch = try ChildProcess([
                "\(folder.path)/\(name)", "--fetch-models", "--models",
                "\(folder.path)/state/models",
            ])
            try expect(try await fetch.exitStatus(within: .seconds(60)) == 0, "fetched")
            try await eventually("usable without a new start", within: Self.limit) {
                try await bench.sensor.unavailability().isEmpty
            }
        }
    }

    @Test(
        "Root fetches as the owner of the folder",
        .enabled(if: geteuid() == 0, "only root can be two users")
    )
    @BusActor func fetchesAsOwner() async throws {
        let folder = try Self.nobodysFolder()
        // Name the parent folder, and then a path that does not reveal the parent's owner.
        for words in [["--state-directory", folder.path + "/state"], ["--models", "of/nobody"]] {
            let program = try Self.fetch(words, in: folder)
            #expect(try await program.exitStatus() == 1)
            let said = String(decoding: try folder.read("state/who"), as: UTF8.self)
            #expect(said == "\(Self.nobody)\n\(Self.nobody)\n\(Self.nobody)\n", "\(words)")
            #expect(unlink(folder.path + "/state/who") == 0)
        }
        var status = stat()
        #expect(stat(folder.path + "/state/models", &status) == 0)
        #expect(status.st_uid == Self.nobody && status.st_mode & 0o777 == 0o755)
    }

    @Test(
        "Root fetches nothing into a folder with an unknown owner",
        .enabled(if: geteuid() == 0, "only root can be two users")
    )
    @BusActor func fetchesForNobody() async throws {
        let folder = try Self.nobodysFolder()
        try folder.write("state/file", [])
        let program = try Self.fetch(["--models", "file/models"], in: folder)
        #expect(try await program.exitStatus() == 1)
        #expect(program.errors.contains("the owner of file/models can't be taken on"))
        #expect(access(folder.path + "/state/who", F_OK) != 0)
    }

    /// Makes a folder with a subfolder that belongs to nobody, and a client that records its user.
    private static func nobodysFolder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        chmod(folder.path, 0o711)
        folder.make("state")
        chown(folder.path + "/state", nobody, nobody)
        folder.make("bin")
        let script = "#!/bin/sh\n(id -u; id -g; id -G) >'\(folder.path)/state/who'\nexit 1\n"
        try folder.write("bin/python3", script.utf8, mode: 0o755)
        return folder
    }

    /// Starts a fetch in nobody's folder, as root with an additional group.
    private static func fetch(
        _ words: [String],
        in folder: TemporaryFolder
    ) throws -> ChildProcess {
        try ChildProcess(
            [
                "/usr/bin/env", "--chdir=\(folder.path)/state", "/usr/bin/setpriv", "--groups=7",
                "\(ChildProcess.folder)/localauth-sensor-face", "--fetch-models",
            ] + words,
            environment: ["PATH": folder.path + "/bin:/usr/bin:/bin"]
        )
    }
}

/// Returns a process's anonymous memory in kB: without code and file pages that can be dropped.
private func ownMemory(of pid: pid_t) throws -> Int {
    let rollup = String(
        decoding: try TemporaryFolder.read("/proc/\(pid)/smaps_rollup"),
        as: UTF8.self
    )
    let line = rollup.split(separator: "\n").first { $0.hasPrefix("Anonymous:") }
    let words = line?.split(separator: " ") ?? []
    return try #require(words.count > 1 ? Int(words[1]) : nil, "no Anonymous in smaps_rollup")
}
