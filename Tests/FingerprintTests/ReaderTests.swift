import DBus
import FingerprintRig
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .serialized)
struct ReaderTests {
    init() { EventLoop.shared.startThread() }

    @Test("Every reader is a separate sensor, and they work at the same time")
    @BusActor func several() async throws {
        try await ReaderBench.run([.image, .device]) { reader in
            let name = "org.localauth.Sensor1.Fingerprint2"
            let owner = try #require(try await reader.bench.bus.waitForOwner(of: name))
            #expect(owner != reader.bench.owner)
            let sensors = [reader.sensor, SensorBench.proxy(reader.bench.daemon, owner)]
            var descriptions: [String] = []
            for sensor in sensors { descriptions.append(try await sensor.description()) }
            #expect(Set(descriptions).count == 2, "\(descriptions)")
            let order = descriptions[0].contains("image") ? sensors : sensors.reversed()
            let image = try Fingerprints.image(1)

            let first = try await ReaderBench.enroll(order[0]) {
                reader.rig.readers[0].touch(image)
            }
            let second = try await ReaderBench.enroll(order[1]) {
                reader.rig.readers[1].command("SCAN right")
            }
            #expect(first != second)
            for sensor in sensors {
                #expect(try await sensor.listTemplates(uid: SensorBench.user).count == 1)
            }
            let calls = try order.map { sensor in
                try sensor.verifyStream(operation: 77, uid: SensorBench.user, options: [:])
            }
            for number in 0...1 { try await reader.rig.waitForFingerNeeded(number) }
            reader.rig.readers[1].command("SCAN right")
            reader.rig.readers[0].touch(image)
            let matched = [try await calls[0].reply(), try await calls[1].reply()]
            let listed = try await order[0].listTemplates(uid: SensorBench.user).map(\.id)
            #expect(matched[0] == listed.first)
            #expect(
                try await order[1].listTemplates(uid: SensorBench.user).map(\.id)
                    .contains(matched[1])
            )
        }
    }

    @Test("A match of another reader and another user does not end a scan")
    @BusActor func another() async throws {
        try await ReaderBench.run { reader in
            let (rig, bench) = (reader.rig, reader.bench)
            let id = try await reader.enroll()
            // Only a new fprintd finds the second reader.
            await rig.fprintd?.end()
            try rig.plugIn([.image, .device])
            try await rig.startDaemon()
            try await reader.listen()
            var names: [String] = []
            try await eventually("two readers") {
                names = []
                for number in 0...1 { names += await reader.name(number).map { [$0] } ?? [] }
                return names.count == 2
            }
            try await eventually("the sensor to see them") { try await reader.sensor.present() }
            let own = names[0].contains("image") ? 0 : 1
            let bob = try rig.bus.connect()
            try await rig.device("Claim", "bob", by: bob, number: 1 - own)
            try await rig.device("EnrollStart", "left-thumb", by: bob, number: 1 - own)
            try await reader.scan("left", 1 - own, until: "enroll-completed")
            try await rig.device("EnrollStop", by: bob, number: 1 - own)

            let (_, call) = try await bench.verify()
            try await rig.waitForFingerNeeded(own)
            try await rig.device("VerifyStart", "any", by: bob, number: 1 - own)
            try await reader.scan("left", 1 - own, until: "verify-match")
            let answers = EventRecorder<Result<String, DBusError>>()
            onLoop {
                do throws(DBusError) {
                    answers.record(.success(try await call.reply()))
                } catch {
                    answers.record(.failure(error))
                }
            }
            // This touch's status follows that match on the same connection.
            rig.readers[0].touch(try Fingerprints.image(2))
            try await eventually("an attempt") {
                try expect(answers.seen.isEmpty, "no answer, got \(answers.seen)")
                return !bench.misses.isEmpty
            }
            try await rig.waitForFingerNeeded(own)
            rig.readers[0].touch(try Fingerprints.image(1, again: true))
            let answer = try await answers.first("a match", within: .seconds(60)) { _ in true }
            #expect(answer == .success(id))
            #expect(bench.misses.map(\.attempt) == [1])
        }
    }

    @Test(
        "A reader keeps its name when the sensor restarts beside a new reader",
        arguments: [VirtualReader.Kind.image, .device]
    )
    @BusActor func names(first: VirtualReader.Kind) async throws {
        try await ReaderBench.run([first], isActivated: true) { reader in
            let alone = try await reader.sensor.description()
            try reader.rig.plugIn([.image, .device])
            let owner = try await reader.rig.client.nameOwner("net.reactivated.Fprint")
            kill(try await reader.rig.client.peer(named: try #require(owner)).pid, SIGTERM)
            _ = try await reader.rig.bus.waitForOwner(of: "net.reactivated.Fprint", false)
            try await reader.bench.restart()
            #expect(try await reader.sensor.description() == alone)
            let name = "org.localauth.Sensor1.Fingerprint2"
            let second = try #require(try await reader.bench.bus.waitForOwner(of: name))
            let sensor = SensorBench.proxy(reader.bench.daemon, second)
            #expect(try await sensor.description() != alone)
            #expect(try await sensor.present())
        }
    }

    @Test(
        "With unreadable prints, an id is the finger's name and its time of enrolment",
        .enabled(if: getuid() == 0)
    )
    @BusActor func unseen() async throws {
        let rig = try await FingerprintRig()
        var fixture = try rig.fixture()
        fixture.program =
            ["/usr/bin/setpriv", "--reuid=65534", "--clear-groups", "--"] + fixture.program
        for path in [rig.bus.folder, rig.folder] { chmod(path, 0o755) }
        chown(rig.folder + "/labels", 65_534, 65_534)
        let bench = try await SensorBench(fixture)
        let reader = ReaderBench(rig: rig, bench: bench)
        let first = try await reader.enroll(label: "one")
        #expect(first.hasPrefix("right-index-finger."))
        #expect(try await reader.templates().map(\.id) == [first])
        #expect(try await reader.templates().map(\.label) == ["one"])
        try await bench.sensor.removeTemplate(uid: SensorBench.user, id: first)
        #expect(try await reader.templates().isEmpty)
        let second = try await reader.enroll(label: "two")
        #expect(second != first)
        // Changes by other programs show in the list of fingers.
        try await rig.waitUntilFree()
        let deleted = try rig.run(
            rig.words(["/usr/bin/fprintd-delete", "alice", "-f", "right-index-finger"])
        )
        #expect(try await deleted.exitStatus() == 0, "\(deleted.output)")
        #expect(try await reader.templates().isEmpty)
        await bench.end()
        await rig.end()
    }
}

extension ReaderBench {
    func name(_ number: Int) async -> String? {
        try? await rig.client.property(
            "name",
            of: "net.reactivated.Fprint.Device",
            at: FingerprintRig.path(number),
            on: "net.reactivated.Fprint",
            as: String.self
        )
    }

    /// Touches the second reader with a named finger until fprintd reports a status.
    func scan(_ finger: String, _ number: Int, until word: String) async throws {
        overheard.forget()
        try await eventually(word) {
            if await rig.isFingerNeeded(number) { rig.readers[1].command("SCAN \(finger)") }
            return overheard.seen.contains(word)
        }
    }

    /// Enrols on a sensor by touching its reader until the reply.
    static func enroll(
        _ sensor: Sensor1Proxy,
        touch: @escaping @BusActor () -> Void
    ) async throws -> String {
        let call = try sensor.enrollStream(
            operation: 76,
            uid: SensorBench.user,
            label: "one",
            options: [:]
        )
        let ended = EventRecorder<Bool>()
        onLoop {
            while ended.seen.isEmpty {
                touch()
                await pause(.milliseconds(20))
            }
        }
        defer { ended.record(true) }
        return try await call.reply()
    }
}
