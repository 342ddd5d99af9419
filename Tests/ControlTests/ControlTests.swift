import DBus
import Foundation
import LocalAuthBus
import TestSupport
import Testing

@Suite(.serialized) struct ControlTests {
    private let bus: PrivateBus

    init() throws { bus = try PrivateBus() }

    private func service(
        _ prepare: @escaping @BusActor @Sendable (StandInService) -> Void = { _ in }
    ) async throws -> StandInService {
        let bus = bus
        return try await onBus {
            let service = try StandInService(bus)
            prepare(service)
            return service
        }
    }

    private func json(_ text: String) throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try #require(value as? [String: Any])
    }

    private func rows(_ text: String) throws -> [[String: Any]] {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try #require(value as? [[String: Any]])
    }

    @Test("The version and the help exit with 0")
    func help() async throws {
        for flag in ["--version", "--help"] {
            let answer = try await control(flag)
            #expect(answer.status == 0)
            #expect(!answer.output.isEmpty)
        }
    }

    @Test(
        "Wrong usage exits with 64",
        arguments: [
            ["no-such-verb"], ["--no-such-option"], ["can-evaluate", "--policy", "9"],
            ["evaluate", "--timeout", "soon"], ["remove"], ["remove", "id", "--all"],
            ["agent", "--session", "--process", "1"],
        ]
    )
    func usage(arguments: [String]) async throws {
        let process = try ChildProcess(["localauthctl"] + arguments, hasSession: true)
        #expect(try process.wait() == 64)
    }

    @Test("Without the service or the bus the status is 3, with one line of text")
    func unreachable() async throws {
        for address in [bus.address, "unix:path=/nonexistent"] {
            for verb in ["status", "can-evaluate", "evaluate", "sensors", "doctor", "lock"] {
                let answer = try await control(verb, "--bus", address)
                #expect(answer.status == 3, "\(verb): \(answer.errors)")
                #expect(answer.output.isEmpty)
                #expect(answer.errors.hasPrefix("localauthctl: "))
            }
        }
    }

    @Test("can-evaluate exits with 0 if possible and with 1 if not")
    func canEvaluate() async throws {
        let service = try await service { $0.isInteractive = true }
        let yes = try await control("can-evaluate", "--json", "--bus", bus.address)
        #expect(yes.status == 0)
        #expect(try json(yes.output)["available"] as? Bool == true)
        try await onBus { service.refusal = (-7, "Nothing is enrolled.") }
        let no = try await control(
            "can-evaluate",
            "--policy",
            "biometrics",
            "--json",
            "--bus",
            bus.address
        )
        #expect(no.status == 1)
        #expect(try json(no.output)["code"] as? Int == -7)
        #expect(try json(no.output)["name"] as? String == "BiometryNotEnrolled")
        let words = try await control("can-evaluate", "--policy", "1", "--bus", bus.address)
        #expect(words.status == 1)
        #expect(words.errors.contains("localauthctl enroll"))
        try await onBus { service.refusal = (-5, "This user has no password.") }
        let unset = try await control("can-evaluate", "--policy", "2", "--bus", bus.address)
        #expect(unset.errors.contains("passwd"))
        try await onBus { service.leave() }
    }

    @Test("L28: Without a prompt can-evaluate and status report it, and name the remedy")
    func absent() async throws {
        let service = try await service {
            $0.absence = ("locked", "The session is locked.", "Unlock the screen.")
        }
        let no = try await control("can-evaluate", "--bus", bus.address)
        #expect(no.status == 1)
        #expect(no.output.contains("The session is locked."))
        #expect(no.errors.contains("Unlock the screen."))
        #expect(!no.errors.contains("localauthctl agent"))
        let answer = try json(
            try await control("can-evaluate", "--json", "--bus", bus.address).output
        )
        #expect(answer["available"] as? Bool == true)
        #expect((answer["interaction"] as? [String: Any])?["cause"] as? String == "locked")
        let status = try await control("status", "--bus", bus.address)
        #expect(status.status == 0)
        #expect(status.output.contains("The session is locked."))
        #expect(status.output.contains("Unlock the screen."))
        // A missing agent is no obstacle, because the user can start it.
        try await onBus {
            service.absence = (
                "no-agent", "Nothing can ask.",
                "Start a prompt: localauthctl "
                    + "agent."
            )
        }
        let yes = try await control("can-evaluate", "--bus", bus.address)
        #expect(yes.status == 0)
        #expect(yes.errors.contains("Nothing can ask."))
        #expect(yes.errors.contains("localauthctl agent (with --bus \(bus.address)).\n"))
        try await onBus { service.leave() }
    }

    @Test("status prints everything as JSON and as text")
    func status() async throws {
        let service = try await service { _ = StandInSensor("Finger", at: $0) }
        let answer = try await control("status", "--json", "--bus", bus.address)
        #expect(answer.status == 0)
        let object = try json(answer.output)
        #expect(object["version"] as? String == "1.0.0")
        #expect(object["biometryType"] as? String == "fingerprint")
        #expect((object["policies"] as? [String: Any])?.count == 4)
        #expect((object["sensors"] as? [[String: Any]])?.first?["name"] as? String == "Finger")
        let words = try await control("status", "--bus", bus.address)
        #expect(words.output.contains("Finger"))
        try await onBus { service.leave() }
    }

    @Test("A template is enrolled, listed and removed")
    func templates() async throws {
        let service = try await service {
            _ = StandInSensor("Finger", at: $0)
            $0.isInteractive = true
        }
        let address = bus.address
        // JSON contains the whole label, escaped so that it can't control a terminal.
        let label = "\"thumb\" \\\n\u{9B}2J"
        let enrolled = try await control("enroll", "--label", label, "--bus", address)
        #expect(enrolled.status == 0)
        #expect(enrolled.errors.contains("The last of 3 is done."))
        let listed = try await control("templates", "--json", "--bus", address)
        #expect(try rows(listed.output).first?["label"] as? String == label)
        #expect(!listed.output.unicodeScalars.contains("\u{9B}"))
        let unknown = try await control("remove", "nothing", "--bus", address)
        #expect(unknown.status == 1)
        let removed = try await control("remove", "template1", "--bus", address)
        #expect(removed.status == 0)
        let left = try await control("templates", "--json", "--bus", address)
        #expect(try rows(left.output).isEmpty)
        try await onBus { service.leave() }
    }

    @Test("Learned entries are listed below their template, and can be removed separately")
    func learned() async throws {
        let service = try await service {
            let sensor = StandInSensor("Face", at: $0)
            sensor.learned = [
                LearnedEntry(id: "seen", template: "template1", learned: 1_800_000_000)
            ]
            $0.isInteractive = true
        }
        let address = bus.address
        for label in ["me", "me with glasses"] {
            #expect(try await control("enroll", "--label", label, "--bus", address).status == 0)
        }
        let listed = try rows(try await control("templates", "--json", "--bus", address).output)
        #expect(listed.map { $0["id"] as? String } == ["template1", "seen", "template2"])
        #expect(listed.map { $0["learned-for"] as? String } == [nil, "template1", nil])
        let text = try await control("templates", "--bus", address)
        let lines = text.output.split(separator: "\n").map(String.init)
        let third = lines.dropFirst(2).first
        #expect(lines.count == 4 && third?.hasSuffix("(added automatically)") == true, "\(lines)")
        #expect(third?.contains("2027-01-1") == true, "the day that it was learned on")
        #expect(try await control("remove", "seen", "--bus", address).status == 0)
        let left = try rows(try await control("templates", "--json", "--bus", address).output)
        #expect(left.map { $0["id"] as? String } == ["template1", "template2"])
        try await onBus { service.leave() }
    }

    @Test("An absent sensor fails only its own list of templates")
    func awaySensor() async throws {
        let service = try await service { $0.isInteractive = true }
        let away = try await onBus {
            _ = StandInSensor("Finger", at: service)
            let sensor = StandInSensor("Away", at: service)
            sensor.unavailability = "no-hardware"
            sensor.listError = DBusError("org.localauth.Error.BiometryNotAvailable", "It is away.")
            return sensor
        }
        let enrolling = ["enroll", "--sensor", "Finger", "--label", "thumb", "--bus", bus.address]
        #expect(try await control(enrolling).status == 0)
        let words = ["templates", "--json", "--bus", bus.address]
        let listed = try await control(words)
        #expect(listed.status == 0, "\(listed.errors)")
        #expect(try rows(listed.output).map { $0["label"] as? String } == ["thumb"])
        let named = try await control(words + ["--sensor", "Away"])
        #expect(named.status == 1 && named.errors.contains("It is away."), "\(named)")
        try await onBus { away.unavailability = "" }
        let failed = try await control(words)
        #expect(failed.status == 1 && failed.output.isEmpty, "\(failed)")
        try await onBus { service.leave() }
    }

    @Test(
        "A sensor's name and description can't move the cursor",
        arguments: ["sensors", "status"]
    )
    func hostileSensor(verb: String) async throws {
        let service = try await service {
            let sensor = StandInSensor("Finger", at: $0)
            sensor.name = "Thumb\u{1B}[1A"
            sensor.description = "Palm\u{1B}[2J"
        }
        let shown = try await control(verb, "--bus", bus.address)
        #expect(shown.output.contains("Thumb [1A") && shown.output.contains("Palm [2J"))
        #expect(!shown.output.unicodeScalars.contains("\u{1B}"))
        try await onBus { service.leave() }
    }

    @Test("With several sensors the command line has to name one")
    func severalSensors() async throws {
        let service = try await service {
            _ = StandInSensor("One", at: $0)
            _ = StandInSensor("Two", at: $0)
            $0.isInteractive = true
        }
        let unnamed = try await control("enroll", "--bus", bus.address)
        #expect(unnamed.status == 64)
        #expect(unnamed.errors.contains("One, Two"))
        let named = try await control("enroll", "--sensor", "Two", "--bus", bus.address)
        #expect(named.status == 0)
        try await onBus { service.leave() }
    }

    @Test("doctor exits with 1 after a failed check, and names the remedy")
    func doctor() async throws {
        let service = try await service {
            $0.checks = [
                ["name": .string("bus"), "state": .string("ok"), "message": .string("Fine.")],
                [
                    "name": .string("key"), "state": .string("failed"),
                    "message": .string("Gone."), "remedy": .string("Restore it."),
                ],
            ]
        }
        let failed = try await control("doctor", "--bus", bus.address)
        #expect(failed.status == 1)
        #expect(failed.output.contains("Restore it."))
        // A later version of the service may send other states.
        try await onBus { service.checks[1]["state"] = .string("broken") }
        #expect(try await control("doctor", "--bus", bus.address).status == 1)
        try await onBus { _ = service.checks.removeLast() }
        #expect(try await control("doctor", "--json", "--bus", bus.address).status == 0)
        try await onBus { service.leave() }
    }

    @Test("lock sends the caller's own uid")
    func lock() async throws {
        let service = try await service()
        #expect(try await control("lock", "--cause", "left", "--bus", bus.address).status == 0)
        let happened = try await onBus { await service.next() }
        #expect(happened == .locked(uid: getuid(), cause: "left"))
        try await onBus { service.leave() }
    }

    @Test("evaluate sends the options of the command line to the service")
    func evaluationOptions() async throws {
        let service = try await service()
        let words = ["evaluate", "--no-agent", "--bus", bus.address]
        #expect(try await control(words).status == 1)
        #expect(try await onBus { service.options } == [:])
        let told = ["--uid", "4321", "--timeout", "30s", "--minimum-strength", "weak"]
        let sensors = ["--sensor", "One", "--sensor", "Two"]
        #expect(try await control(words + told + sensors).status == 1)
        let asked: [String: Variant] = [
            "uid": .uint32(4321), "timeout": .uint64(30_000), "minimum-strength": .string("weak"),
            "sensors": .strings(["One", "Two"]),
        ]
        #expect(try await onBus { service.options } == asked)
        for (time, milliseconds) in [("500ms", UInt64(500)), ("2m", 120_000), ("5", 5000)] {
            #expect(try await control(words + ["--timeout", time]).status == 1)
            let timeout: [String: Variant] = ["timeout": .uint64(milliseconds)]
            #expect(try await onBus { service.options } == timeout, "\(time)")
        }
        try await onBus { service.leave() }
    }

    @Test("A refused evaluation exits with 1 and names the remedy")
    func refused() async throws {
        let service = try await service()
        let answer = try await control("evaluate", "--json", "--bus", bus.address)
        #expect(answer.status == 1)
        #expect(try json(answer.output)["code"] as? Int == -1004)
        #expect(answer.errors.contains("localauthctl agent"))
        try await onBus { service.leave() }
    }
}
