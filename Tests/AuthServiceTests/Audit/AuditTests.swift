import DBus
import Foundation
import LocalAuthBus
import Synchronization
import TestSupport
import Testing

@testable import AuthService

@Suite("Decisions in the journal", .timeLimit(.minutes(10)))
struct AuditTests {
    private static let reason = "spend the-very-secret-reason"
    /// A wrong password.
    private static let guess = "a-very-wrong-guess"

    /// Checks that no record contains the reason or a typed secret.
    @BusActor
    private static func expectNoReason(_ bench: AuditBench) {
        for record in bench.journal.records.seen {
            for secret in ["the-very-secret-reason", ScriptedVerifier.passcode, guess] {
                #expect(!record.values.contains { $0.contains(secret) })
            }
            #expect(record["TWICE"] == nil)
        }
    }

    @Test("L15: a refusal writes one record with its ID and all fields, without the reason")
    func refusal() async throws {
        try await AuditBench.run { bench in
            await #expect(throws: DBusError.self) {
                try await bench.manager().evaluate(policy: 2, reason: Self.reason, options: [:])
            }
            let record = try await bench.journal.record("evaluation-ended")
            #expect(record["MESSAGE_ID"] == "a4ed719f9c89467da2b63627f2effc42")
            #expect(record["SYSLOG_IDENTIFIER"] == "localauthd")
            #expect(record["LOCALAUTH_UID"] == "\(getuid())")
            #expect(record["LOCALAUTH_SESSION"] == "uid:\(getuid())")
            #expect(record["LOCALAUTH_CALLER"] == bench.client.uniqueName)
            #expect(record["LOCALAUTH_CALLER_UID"] == "\(getuid())")
            #expect(record["LOCALAUTH_CALLER_PID"] == "\(getpid())")
            #expect(record["LOCALAUTH_CALLER_PROGRAM"]?.isEmpty == false)
            #expect(record["LOCALAUTH_POLICY"] == "2")
            #expect(record["LOCALAUTH_OUTCOME"] == "NotInteractive")
            #expect(record["LOCALAUTH_ATTEMPTS"] == "0")
            #expect(record["LOCALAUTH_MECHANISM"] == nil)
            Self.expectNoReason(bench)
        }
    }

    @Test("L15: calls refused before their methods run are recorded, and none is lost")
    func refusedAtOnce() async throws {
        try await AuditBench.run { bench in
            let start = ContinuousClock.now
            for _ in 0..<30 {
                await expectName(.invalidArgs) {
                    _ = try await bench.manager().evaluate(policy: 9, reason: "x", options: [:])
                }
            }
            await expectName(.invalidArgs) {
                _ = try await bench.client.call(
                    to: TestDaemon.name,
                    path: TestDaemon.root,
                    interface: TestDaemon.name,
                    member: "Evaluate"
                )
            }
            let record = try await bench.journal.record("evaluation-ended")
            #expect(record["LOCALAUTH_UID"] == "\(getuid())")
            #expect(record["LOCALAUTH_CALLER"] == bench.client.uniqueName)
            #expect(record["LOCALAUTH_OUTCOME"] == "InvalidArgs")
            await bench.stop()
            try await Self.expectEnded(31, since: start, bench)
        }
    }

    @Test("L15: a success names mechanism, sensor and failed attempts")
    func success() async throws {
        try await AuditBench.run { bench in
            let person = try await Person(bus: bench.bus)
            let registered = try await bench.journal.record("agent-registered")
            #expect(registered["LOCALAUTH_CALLER"] == person.connection.uniqueName)
            let (sensor, template) = try await bench.sensor(for: person.peer.uid)
            let answer = onLoop {
                _ = try? await bench.manager(person.connection)
                    .evaluate(policy: 1, reason: Self.reason, options: [:])
            }
            let operation = try await sensor.operation()
            try await sensor.miss(operation)
            operation.succeed(template)
            await answer.value
            let record = try await bench.journal.record("evaluation-ended")
            #expect(record["LOCALAUTH_UID"] == "\(person.peer.uid)")
            #expect(record["LOCALAUTH_OUTCOME"] == "Success")
            #expect(record["LOCALAUTH_MECHANISM"] == "biometry")
            #expect(record["LOCALAUTH_SENSOR"] == "Third")
            #expect(record["LOCALAUTH_ATTEMPTS"] == "1")
            for record in bench.journal.records.seen {
                #expect(!record.values.contains { $0.contains(template) })
            }
            person.connection.close()
            _ = try await bench.journal.record("agent-left")
            Self.expectNoReason(bench)
        }
    }

    @Test("L15: a lockout and its end have their own records")
    func lockout() async throws {
        try await AuditBench.run { bench in
            let person = try await Person(bus: bench.bus)
            person.passcode = nil
            let (sensor, _) = try await bench.sensor(for: person.peer.uid)
            if getuid() == 0 { try await bench.manager().requirePasscode(uid: 4711, cause: "a") }
            for number in 0..<2 {
                let answer = onLoop {
                    _ = try? await bench.manager(person.connection)
                        .evaluate(policy: 1, reason: Self.reason, options: [:])
                }
                let operation = try await sensor.operation(number)
                try await sensor.miss(operation, 3)
                await answer.value
            }
            let began = try await bench.journal.record("lockout-began")
            #expect(began["LOCALAUTH_CALLER"] == nil, "who asked for something else before")
            #expect(began["LOCALAUTH_UID"] == "\(person.peer.uid)")
            #expect(began["LOCALAUTH_ATTEMPTS"] == "5")
            let ended = try await bench.journal.record("evaluation-ended") {
                $0["LOCALAUTH_OUTCOME"] == "BiometryLockout"
            }
            #expect(ended["LOCALAUTH_ATTEMPTS"] == "2")
            person.passcode = ScriptedVerifier.passcode
            _ = try await bench.manager(person.connection)
                .evaluate(policy: 2, reason: Self.reason, options: [:])
            _ = try await bench.journal.record("lockout-cleared")
            Self.expectNoReason(bench)
            person.connection.close()
        }
    }

    @Test("L10: the wrong password that starts a delay is recorded with the delay's length")
    func delay() async throws {
        try await AuditBench.run { bench in
            let person = try await Person(bus: bench.bus)
            person.passcode = nil
            for number in 0..<2 {
                let answer = onLoop {
                    _ = try? await bench.manager(person.connection)
                        .evaluate(policy: 2, reason: Self.reason, options: [:])
                }
                _ = try await person.prompts.first("prompt \(number)") { _ in
                    person.prompts.seen.count > number
                }
                let prompt = person.prompts.seen[number]
                try await person.guess(number == 0 ? 5 : 1, Self.guess, into: prompt)
                await answer.value
            }
            let record = try await bench.journal.record("passcode-delay-began")
            #expect(record["LOCALAUTH_ATTEMPTS"] == "6")
            #expect(record["LOCALAUTH_SECONDS"] == "60")
            #expect(record["LOCALAUTH_UID"] == "\(person.peer.uid)")
            Self.expectNoReason(bench)
            person.connection.close()
        }
    }

    @Test("L15: a remote lock is recorded with its cause and its caller")
    func passcodeRequired() async throws {
        try await AuditBench.run { bench in
            try await bench.manager().requirePasscode(uid: 4711, cause: "left\nthe house")
            let record = try await bench.journal.record("passcode-required")
            #expect(record["LOCALAUTH_UID"] == "4711")
            #expect(record["LOCALAUTH_CAUSE"] == "remote: leftthe house")
            #expect(record["LOCALAUTH_CALLER"] == bench.client.uniqueName)
            #expect(record["LOCALAUTH_CALLER_UID"] == "\(getuid())")
            let longest = String(repeating: "x", count: 1024)
            await expectName(.invalidArgs) {
                try await bench.manager().requirePasscode(uid: 4712, cause: longest + "x")
            }
            try await bench.manager().requirePasscode(uid: 4712, cause: longest)
            try await bench.manager().requirePasscode(uid: 4713, cause: "\u{7}")
            let unnamed = try await bench.journal.record("passcode-required") {
                $0["LOCALAUTH_UID"] == "4713"
            }
            #expect(unnamed["LOCALAUTH_CAUSE"] == "remote")
        }
    }

    @Test("L15: repeated refusals are counted in one record when the service stops")
    func flood() async throws {
        try await AuditBench.run { bench in
            let start = ContinuousClock.now
            for _ in 0..<30 {
                _ = try? await bench.manager()
                    .evaluate(policy: 2, reason: Self.reason, options: [:])
            }
            await bench.stop()
            let summary = try await bench.journal.record("repeated")
            #expect(summary["LOCALAUTH_REPEATED"] == "evaluation-ended")
            #expect(summary["LOCALAUTH_UID"] == "\(getuid())")
            try await Self.expectEnded(30, since: start, bench)
            let written = bench.journal.records.seen.map { $0["LOCALAUTH_EVENT"] }
            #expect(written.first == "service-started")
            #expect(written.last == "service-stopped")
        }
    }

    /// Checks the number of written and summarized evaluations after the service has stopped.
    @BusActor
    private static func expectEnded(
        _ count: Int,
        since start: ContinuousClock.Instant,
        _ bench: AuditBench
    ) async throws {
        _ = try await bench.journal.record("service-stopped")
        let seen = bench.journal.records.seen
        let written = seen.count { $0["LOCALAUTH_EVENT"] == "evaluation-ended" }
        let counted = seen.filter { $0["LOCALAUTH_REPEATED"] == "evaluation-ended" }
            .compactMap { $0["LOCALAUTH_COUNT"].flatMap(Int.init) }
        #expect(written + counted.reduce(0, +) == count)
        // On a slow machine, later windows admit further records.
        if ContinuousClock.now - start < .seconds(60) {
            #expect(written == 10 && counted.count == 1)
        } else {
            #expect(written < count)
        }
    }

    @Test("L15: a reloaded or refused configuration is recorded")
    func configuration() async throws {
        let isGood = Mutex(true)
        let reread = { @Sendable () throws(ConfigurationError) -> Configuration in
            guard isGood.withLock({ $0 }) else {
                throw ConfigurationError(file: "localauth.conf", line: 3, message: "no such key")
            }
            return Configuration()
        }
        try await AuditBench.run(rereading: reread) { bench in
            bench.service.reload()
            _ = try await bench.journal.record("configuration-reloaded")
            isGood.withLock { $0 = false }
            bench.service.reload()
            let record = try await bench.journal.record("configuration-refused")
            #expect(record["LOCALAUTH_CAUSE"] == "localauth.conf:3: no such key")
            #expect(record["PRIORITY"] == "3")
        }
    }

    @Test("L15: a failed sensor is recorded once, however often it fails")
    func sensor() async throws {
        try await AuditBench.run { bench in
            let (sensor, _) = try await bench.sensor(for: getuid())
            sensor.saidStrength = "gigantic"
            sensor.changed("Strength")
            let record = try await bench.journal.record("sensor-failed")
            #expect(record["LOCALAUTH_SENSOR"] == "Third")
            let cause = record["LOCALAUTH_CAUSE"] ?? ""
            #expect(cause.hasPrefix("failed: Its property Strength "), "\(cause)")
            // The daemon queries it again, and the value is still wrong.
            let asked = sensor.count(of: "Health")
            try await eventually("a question") { sensor.count(of: "Health") > asked }
            // Check this also after the sensor returned.
            let name = "org.localauth.Sensor1.Third"
            sensor.connection.releaseName(name)
            _ = try await bench.bus.waitForOwner(of: name, false)
            let before = sensor.count(of: "Health")
            try sensor.appear()
            let device = Device1Proxy(
                sensor.connection,
                destination: bench.service.connection.uniqueName,
                path: TestDaemon.devicePath("Third")
            )
            try await eventually("the same fault") {
                let state = try? await device.unavailability()
                return state == "failed" && sensor.count(of: "Health") > before
            }
            _ = try await bench.manager(sensor.connection).version()
            let count = bench.journal.records.seen.count {
                $0["LOCALAUTH_EVENT"] == "sensor-failed"
            }
            #expect(count == 1)
        }
    }

    @Test(
        "L15: a program of another user that poses as a sensor is recorded",
        .enabled(if: getuid() == 0, "needs a second user")
    )
    func impostor() async throws {
        try await AuditBench.run { bench in
            let connection = try Connection(.address(Person.address(bench.bus)))
            defer { connection.close() }
            let sensor = ScriptedSensor("Third", on: connection)
            try sensor.appear()
            let record = try await bench.journal.record("sensor-untrusted")
            #expect(record["LOCALAUTH_SENSOR"] == "Third")
            let cause = record["LOCALAUTH_CAUSE"] ?? ""
            #expect(cause.hasSuffix(" and may run as root alone."), "\(cause)")
            #expect(sensor.calls.seen.isEmpty)
        }
    }

    /// The records of changed templates.
    @BusActor private static func changes(_ bench: AuditBench) -> [[String: String]] {
        bench.journal.records.seen.filter { $0["LOCALAUTH_EVENT"] == "enrolment-changed" }
    }

    @Test("L15: changed templates are recorded without their ids")
    func enrolment() async throws {
        try await AuditBench.run { bench in
            let uid = getuid()
            let (sensor, template) = try await bench.sensor(for: uid)
            var ids = [template]
            let changes = ["some are there", "one more", "one less", "one more again", "none"]
            for (number, what) in changes.enumerated() {
                switch number {
                case 1, 3: ids.append(sensor.add(for: uid, announcing: false))
                case 2: sensor.templates[uid]?.removeFirst()
                case 4: sensor.templates[uid] = []
                default: break
                }
                // The service finds the first template without an announcement.
                if number > 0 { sensor.signals.templatesChanged(uid: uid) }
                try await eventually("a record: \(what)") {
                    _ = try await bench.manager().canEvaluate(policy: 1)
                    return Self.changes(bench).count > number
                }
                #expect(Self.changes(bench).count == number + 1, "\(what)")
            }
            for record in Self.changes(bench) {
                #expect(record["LOCALAUTH_UID"] == "\(uid)")
                #expect(!record.values.contains { value in ids.contains { value.contains($0) } })
            }
        }
    }
}
