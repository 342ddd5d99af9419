import DBus
import FingerprintRig
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .serialized)
struct EnrolmentTests {
    init() { EventLoop.shared.startThread() }

    @Test("A label can name the finger to enrol, and an enrolled finger is refused and kept")
    @BusActor func taken() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll(label: "Left thumb")
            #expect(try await reader.fingers() == ["left-thumb"])
            await #expect(throws: DBusError(.sensorDuplicate, "This is enrolled already.")) {
                _ = try await reader.enroll(2, label: "left-thumb")
            }
            #expect(try await reader.templates().map(\.id) == [id])
            let (_, call) = try await reader.bench.verify()
            try await reader.rig.touch(1, again: true)
            #expect(try await call.reply() == id)
        }
    }

    @Test("A cancelled enrolment keeps existing prints")
    @BusActor func canceled() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll(label: "one")
            let number = reader.bench.nextOperation()
            let call = try reader.sensor.enrollStream(
                operation: number,
                uid: SensorBench.user,
                label: "another",
                options: [:]
            )
            _ = try await reader.bench.event("ready", of: number)
            try await reader.rig.touch(2)
            _ = try await reader.bench.event("stage", of: number)
            try await reader.sensor.cancel(operation: number)
            let (error, _) = try await reader.failure(of: call)
            #expect(error.name == .sensorCanceled)
            #expect(try await reader.templates().map(\.id) == [id])
            #expect(try await reader.fingers() == ["right-index-finger"])
        }
    }

    @Test(
        "An enrolment that completes as it is cancelled is undone",
        arguments: [false, true]
    )
    @BusActor func canceledLate(isCompletionHeard: Bool) async throws {
        try await ReaderBench.run([.device]) { reader in
            let stages = Int(try await reader.sensor.enrollStages())
            let daemon = try #require(reader.rig.fprintd)
            for round in 0..<12 {
                reader.overheard.forget()
                let number = reader.bench.nextOperation()
                let call = try reader.sensor.enrollStream(
                    operation: number,
                    uid: SensorBench.user,
                    label: "one",
                    options: [:]
                )
                for done in 1..<stages {
                    try await reader.rig.waitForFingerNeeded()
                    reader.rig.readers[0].command("SCAN finger-\(round)")
                    try await eventually("stage \(done)") {
                        reader.overheard.seen.count { $0 == "enroll-stage-passed" } == done
                    }
                }
                if isCompletionHeard {
                    // The sensor still has to release the reader and to list the prints.
                    reader.rig.readers[0].command("SCAN finger-\(round)")
                    _ = try await reader.overheard.first("the end") { $0 == "enroll-completed" }
                    daemon.signal(SIGSTOP)
                } else {
                    // When fprintd continues, the last touch and the stop are both pending.
                    daemon.signal(SIGSTOP)
                    reader.rig.readers[0].command("SCAN finger-\(round)")
                }
                try await reader.sensor.cancel(operation: number)
                daemon.signal(SIGCONT)
                do throws(DBusError) {
                    // On a busy machine the reply may already have been sent.
                    let id = try await call.reply()
                    #expect(isCompletionHeard)
                    try await reader.sensor.removeTemplate(uid: SensorBench.user, id: id)
                } catch {
                    #expect(error.name == .sensorCanceled)
                }
                #expect(try await reader.fingers().isEmpty)
                #expect(try await reader.templates().isEmpty)
            }
        }
    }

    @Test("A finger enrolled for one user is a duplicate for another")
    @BusActor func duplicate() async throws {
        try await ReaderBench.run { reader in
            _ = try await reader.enroll()
            do throws(DBusError) {
                _ = try await reader.attempt { try await reader.enroll(user: 12_346) }
                Issue.record("one finger was enrolled for two people")
            } catch {
                #expect(error.name == .sensorDuplicate)
            }
        }
    }

    @Test("With all ten fingers enrolled the sensor is full")
    @BusActor func full() async throws {
        try await ReaderBench.run([.device]) { reader in
            for number in 1...10 { _ = try await reader.enrollByName("finger-\(number)") }
            #expect(try await reader.templates().count == 10)
            do throws(DBusError) {
                _ = try await reader.attempt { try await reader.enrollByName("finger-11") }
                Issue.record("an eleventh finger was enrolled")
            } catch {
                #expect(error.name == .sensorFull)
            }
            #expect(try await reader.sensor.removeAllTemplates(uid: SensorBench.user) == 10)
            #expect(try await reader.fingers().isEmpty)
        }
    }

    @Test("A refusal by polkit is reported with its cause")
    @BusActor func denied() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            reader.rig.polkit?.refused = ["enroll"]
            for body: @BusActor () async throws -> Void in [
                { _ = try await reader.enroll(2) },
                { try await reader.sensor.removeTemplate(uid: SensorBench.user, id: id) },
            ] {
                do throws(DBusError) {
                    try await reader.attempt(body)
                    Issue.record("it was allowed")
                } catch {
                    #expect(error.name == .sensorDenied)
                    #expect(error.message.contains("polkit"))
                }
            }
            let (_, call) = try await reader.bench.verify()
            try await reader.rig.touch(1, again: true)
            #expect(try await call.reply() == id)
        }
    }

    @Test(
        "After a refused removal the sensor still notices another program's change",
        arguments: [false, true]
    )
    @BusActor func refused(isInUse: Bool) async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll()
            try await reader.rig.waitUntilFree()
            let other = try reader.rig.bus.connect()
            if isInUse {
                try await reader.rig.device("Claim", "bob", by: other)
            } else {
                reader.rig.polkit?.refused = ["enroll"]
            }
            try await expectError(isInUse ? .sensorBusy : .sensorDenied, of: "RemoveTemplate") {
                try await reader.sensor.removeTemplate(uid: SensorBench.user, id: id)
            }
            reader.rig.polkit?.refused = []
            if isInUse { try await reader.rig.device("Release", by: other) }
            try await reader.rig.waitUntilFree()
            reader.bench.changes.forget()
            // Do not request the list again: the sensor has to notice by itself.
            try await reader.rig.deletePrints(of: "alice")
            _ = try await reader.bench.changes.first("TemplatesChanged", within: .seconds(60)) {
                $0 == SensorBench.user
            }
        }
    }

    @Test("fprintd-enroll and fprintd-delete change the templates before the next answer")
    @BusActor func byHand() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll(label: "mine")
            _ = try await reader.templates()
            try await reader.rig.waitUntilFree()
            reader.bench.changes.forget()
            let deleted = try reader.rig.run(
                reader.rig.words(["/usr/bin/fprintd-delete", "alice", "-f", "right-index-finger"])
            )
            #expect(try await deleted.exitStatus() == 0, "\(deleted.output)")
            #expect(try await reader.templates().isEmpty)
            _ = try await reader.bench.changes.first("TemplatesChanged") { $0 == SensorBench.user }

            let enrolled = try reader.rig.run(
                reader.rig.words(["/usr/bin/fprintd-enroll", "-f", "right-index-finger", "alice"])
            )
            while enrolled.isRunning {
                if await reader.rig.isFingerNeeded() {
                    reader.rig.readers[0].touch(try Fingerprints.image(1))
                }
                await pause(.milliseconds(10))
            }
            #expect(try await enrolled.exitStatus() == 0, "\(enrolled.output)")
            let templates = try await reader.templates()
            #expect(templates.count == 1)
            #expect(templates.first?.id != id, "the same finger, another print")
            #expect(templates.first?.label == "Right index finger", "the label went with its print")
        }
    }

    @Test("Labels survive a restart and belong to their template")
    @BusActor func labels() async throws {
        try await ReaderBench.run { reader in
            let id = try await reader.enroll(label: "one")
            let label = "tab\tand\nline\\ ünï"
            try await reader.sensor.renameTemplate(uid: SensorBench.user, id: id, label: label)
            await reader.bench.program.end()
            let again = try await SensorBench(try reader.rig.fixture())
            let templates = try await again.sensor.listTemplates(uid: SensorBench.user)
            await again.end()
            #expect(templates.map(\.id) == [id])
            #expect(templates.map(\.label) == [label])
        }
    }

    @Test("If a label cannot be saved, the previous label stays")
    @BusActor func refusedLabel() async throws {
        let faults = try Faults()
        try await ReaderBench.run(with: faults) { reader in
            let id = try await reader.enroll(label: "one")
            faults.arm(.barrier, 1, lasts: true, with: EIO)
            try await expectError(.sensorFailed, of: "RenameTemplate") {
                try await reader.sensor.renameTemplate(
                    uid: SensorBench.user,
                    id: id,
                    label: "two"
                )
            }
            #expect(faults.failed > 0)
            #expect(try await reader.templates().map(\.label) == ["one"])
            faults.disarm()
            // The next save must not contain the failed label.
            _ = try await reader.enroll(2, label: "Left thumb")
            #expect(Set(try await reader.templates().map(\.label)) == ["one", "Left thumb"])
            await reader.bench.program.end()
            let again = try await SensorBench(try reader.rig.fixture())
            let templates = try await again.sensor.listTemplates(uid: SensorBench.user)
            await again.end()
            #expect(Set(templates.map(\.label)) == ["one", "Left thumb"])
        }
    }

    @Test("Users with unsafe names are never passed to fprintd")
    @BusActor func names() async throws {
        try await ReaderBench.run { reader in
            for user in [12_347, 12_348, 4_000_000] as [UInt32] {
                let templates = try await reader.templates(of: user)
                #expect(templates.isEmpty)
                try await expectError(.sensorFailed, of: "Enroll for \(user)") {
                    _ = try await reader.enroll(user: user)
                }
            }
            #expect(
                reader.rig.polkit?.questions.seen.isEmpty == true,
                "fprintd was not asked at all"
            )
        }
    }
}

extension ReaderBench {
    /// Returns fprintd's own list of a user's fingers, requested on a separate connection.
    func fingers(of user: String = "alice") async throws -> [String] {
        let client = try Connection(.address(rig.address))
        defer { client.close() }
        do throws(DBusError) {
            return try await rig.device("ListEnrolledFingers", user, by: client)
                .read("as") { reader throws(DBusError) in try reader.read([String].self) }
        } catch {
            guard error.name == "net.reactivated.Fprint.Error.NoEnrolledPrints" else { throw error }
            return []
        }
    }

    /// Runs `body` and converts other errors to ``DBusError``.
    func attempt<Value>(_ body: @BusActor () async throws -> Value) async throws(DBusError) -> Value
    {
        do {
            return try await body()
        } catch let error as DBusError {
            throw error
        } catch {
            throw DBusError(.failed, "\(error)")
        }
    }
}
