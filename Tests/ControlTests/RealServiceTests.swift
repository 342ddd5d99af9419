import Foundation
import TestSupport
import Testing

/// Tests the verbs of `localauthctl` with the real service.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RealServiceTests {
    private let service: RealService
    private let pty: Pty

    init() async throws {
        service = try await RealService()
        pty = try Pty()
    }

    private func object(_ text: String) throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try #require(value as? [String: Any])
    }

    private func rows(_ text: String) throws -> [[String: Any]] {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try #require(value as? [[String: Any]])
    }

    /// Runs a verb that changes templates on a terminal of its own; root needs no password.
    private func change(_ arguments: [String], asks: Bool = true) throws -> (Int32, Pty) {
        let pty = try Pty()
        let process = try service.start(arguments, on: pty)
        if asks, geteuid() != 0 {
            #expect(pty.shows("Password of"))
            pty.type("\(PAMService.passcode)\n")
        }
        return (try process.wait(), pty)
    }

    private func enroll(_ label: String) async throws {
        try await service.queue("match", "match", "match", "match", "match")
        let (status, pty) = try change(["enroll", "--label", label])
        #expect(status == 0)
        for stage in 1...5 {
            #expect(pty.shows("Touch the fingerprint sensor (\(stage) of 5)."))
        }
        #expect(pty.shows("The last of 5 is done."))
        #expect(pty.shows("Enrolled on Simulated as "))
    }

    @Test("Without showing the prompt itself, evaluate prints the sensor's own instructions")
    func ownWords() async throws {
        let (service, folder) = (service, try TemporaryFolder())
        let kept = ["\(getuid())", "id", "1", "thumb", ""].joined(separator: "\0")
        try TemporaryFolder.write(folder.path + "/templates", kept.utf8, mode: 0o600)
        let sensor = try service.bus.start(
            ["Doorbell"],
            environment: ["STATE_DIRECTORY": folder.path],
            hasStream: true
        )
        let agent = try service.start(["agent", "--session"], on: pty)
        #expect(pty.shows("Ready"))
        try await eventually("the thumb to be known") {
            try await service.control("can-evaluate", "--policy", "biometrics").status == 0
        }
        let asking = try ChildProcess(
            ["localauthctl", "evaluate", "--policy", "biometrics", "--bus", service.bus.address],
            hasSession: true
        )
        try await eventually("its words") {
            asking.errors.contains("“Press the button” (Doorbell is ready).")
        }
        sensor.tell("match")
        let ended = try await asking.ended(within: .seconds(60))
        #expect(ended.status == 0 && agent.isRunning, "\(ended.errors)")
    }

    @Test("status and sensors contain the daemon's facts, as text and as JSON")
    func status() async throws {
        let text = try await service.control("status")
        #expect(text.status == 0 && text.errors.isEmpty)
        #expect(text.output.contains("Simulated") && text.output.contains("\n  NAME "))
        let status = try object(try await service.control("status", "--json").output)
        let keys = [
            "version", "biometryType", "biometryTypes", "bus", "interactive", "interaction",
            "policies", "sensors",
        ]
        #expect(Set(status.keys) == Set(keys))
        #expect(status["biometryType"] as? String == "fingerprint")
        #expect(status["interactive"] as? Bool == false)
        let policies = try #require(status["policies"] as? [String: [String: Any]])
        #expect(policies["biometrics"]?["name"] as? String == "BiometryNotEnrolled")
        #expect(policies["companion"]?["code"] as? Int == -11)
        let sensors = try rows(try await service.control("sensors", "--json").output)
        #expect(sensors.count == 1)
        #expect(sensors.first?["name"] as? String == "Simulated")
        #expect(sensors.first?["available"] as? Bool == true)
        #expect(sensors.first?["strength"] as? String == "strong")
        #expect(sensors.first?["enrollStages"] as? Int == 5)
        #expect(try await service.control("sensors").output.contains("fingerprint"))
    }

    @Test("A finger is enrolled, listed, recognized and removed")
    func finger() async throws {
        let before = try await service.control("can-evaluate", "--policy", "1", "--json")
        #expect(before.status == 1)
        #expect(try object(before.output)["code"] as? Int == -7)
        try await enroll("thumb")
        let after = try await service.control("can-evaluate", "--policy", "1", "--json")
        #expect(after.status == 0)
        #expect(try object(after.output)["available"] as? Bool == true)

        let templates = try rows(try await service.control("templates", "--json").output)
        #expect(templates.first?["label"] as? String == "thumb")
        #expect(templates.first?["sensor"] as? String == "Simulated")
        #expect((templates.first?["created"] as? Int ?? 0) > 0)
        let id = try #require(templates.first?["id"] as? String)
        #expect(try await service.control("templates").output.contains("thumb"))

        try await service.queue("no-match", "match")
        let process = try service.start(["evaluate", "--policy", "1"], on: pty)
        #expect(pty.shows("is trying to confirm your identity"))
        #expect(try process.wait() == 0)
        #expect(pty.shows("Not recognized. 2 attempts are left."))
        #expect(pty.shows("Yes: biometry (Simulated, strong)."))

        #expect(try change(["remove", "nothing"], asks: false).0 == 1)
        let (removed, words) = try change(["remove", id])
        #expect(removed == 0)
        #expect(words.shows("Removed 1 template."))
        #expect(try rows(try await service.control("templates", "--json").output).isEmpty)
        let none = "No template. Next: localauthctl enroll (with --bus \(service.bus.address))\n"
        #expect(try await service.control("templates").output == none)
        try await enroll("index")
        #expect(try change(["remove", "--all"]).0 == 0)
        #expect(try rows(try await service.control("templates", "--json").output).isEmpty)
    }

    @Test("A command runs only after an approval, whose prompt shows the command")
    func approval() async throws {
        try await enroll("thumb")
        let folder = try TemporaryFolder()
        let words = [
            "localauthctl", "approve", "deploy", "--bus", service.bus.address, "--", "/bin/sh",
            "-c", "echo ran > \(folder.path)/ran; exit 7",
        ]
        try await service.queue("no-match", "no-match", "no-match")
        let refused = try ChildProcess(words, terminal: pty.path)
        #expect(pty.shows("is trying to deploy: /bin/sh -c 'echo ran > "))
        pty.type("\u{3}")
        #expect(try refused.wait() == 1)
        #expect(throws: (any Error).self) { try TemporaryFolder.read(folder.path + "/ran") }
        try await service.queue("match")
        let other = try Pty()
        let approved = try ChildProcess(words, terminal: other.path)
        #expect(try approved.wait() == 7)
        #expect(try TemporaryFolder.read(folder.path + "/ran") == Array("ran\n".utf8))
        #expect(try await service.control("approve", "deploy").status == 64)
    }

    @Test("Ctrl-C ends an enrolment between two stages, and the sensor stays usable")
    func interruptedEnrolment() async throws {
        try await service.queue("match", "match")
        let process = try service.start(["enroll", "--label", "thumb"], on: pty)
        if geteuid() != 0 {
            #expect(pty.shows("Password of"))
            pty.type("\(PAMService.passcode)\n")
        }
        #expect(pty.shows("Touch the fingerprint sensor (3 of 5)."))
        process.signal(SIGINT)
        #expect(try process.wait() == 1)
        #expect(pty.shows("The enrolment was canceled."))
        try await enroll("index")
        let templates = try rows(try await service.control("templates", "--json").output)
        #expect(templates.map { $0["label"] as? String } == ["index"])
    }

    @Test("Ctrl-C ends an evaluation in another agent, and its prompt")
    func interruptedEvaluation() async throws {
        let agent = try service.start(["agent", "--session"], on: pty)
        #expect(pty.shows("Ready: serves this session."))
        let client = try ChildProcess(
            ["localauthctl", "evaluate", "--bus", service.bus.address],
            hasSession: true
        )
        #expect(pty.shows("Password of"))
        client.signal(SIGINT)
        let ended = try await client.ended(within: .seconds(60))
        #expect(ended.status == 1 && ended.output.isEmpty, "\(ended)")
        #expect(pty.shows("Canceled.") && agent.isRunning)
    }

    @Test("The terminal asks for the password, and PAM decides")
    func passcode() async throws {
        let process = try service.start(["evaluate", "--reason", "test", "--json"], on: pty)
        #expect(pty.shows("is trying to test"))
        #expect(pty.shows("Password of"))
        pty.type("1357\n")
        #expect(pty.shows("Wrong password. 4 attempts are left."), "\(pty.screen)")
        pty.type("\(PAMService.passcode)\n")
        #expect(try process.wait() == 0)
        #expect(pty.shows("\"granted\": true, \"mechanism\": \"passcode\""))
        #expect(!pty.screen.contains(PAMService.passcode))
    }

    @Test("Without a prompt evaluate refuses, with the code and the remedy")
    func notInteractive() async throws {
        let answer = try await service.control("evaluate", "--json")
        #expect(answer.status == 1)
        #expect(try object(answer.output)["code"] as? Int == -1004)
        #expect(try object(answer.output)["granted"] as? Bool == false)
        #expect(answer.errors.contains("localauthctl agent"))
    }

    @Test("After lock biometry needs the password, and can-evaluate names the cause")
    func lock() async throws {
        try await enroll("thumb")
        #expect(try await service.control("lock", "--cause", "remote").status == 0)
        let locked = try await service.control("can-evaluate", "--policy", "1", "--json")
        #expect(locked.status == 1)
        #expect(try object(locked.output)["code"] as? Int == -8)
        let message = try object(locked.output)["message"] as? String
        #expect(message?.contains("An administrator says: “remote”") == true)
        let process = try service.start(["evaluate"], on: pty)
        #expect(pty.shows("Password of"))
        pty.type("\(PAMService.passcode)\n")
        #expect(try process.wait() == 0)
        #expect(try await service.control("can-evaluate", "--policy", "1").status == 0)
    }

    @Test("doctor fails without an agent, and succeeds with an agent")
    func doctor() async throws {
        let alone = try await service.control("doctor", "--json")
        #expect(alone.status == 1)
        let checks = try rows(alone.output)
        for check in checks {
            #expect(Set(check.keys) == ["name", "state", "message", "remedy"])
        }
        let agentCheck = checks.first { $0["name"] as? String == "agent" }
        #expect(agentCheck?["state"] as? String == "failed")
        #expect(checks.contains { $0["name"] as? String == "sensor Simulated" })
        let agent = try service.start(["agent", "--session"], on: pty)
        #expect(pty.shows("Ready: serves this session."))
        let served = try await service.control("doctor")
        #expect(served.status == 0, "\(served.output)")
        #expect(served.output.contains("A prompt agent serves you."))
        agent.signal(SIGTERM)
        #expect(try agent.wait() == 0)
    }

    @Test("An agent on another terminal answers for a program, and monitor reports the outcome")
    func agentAndMonitor() async throws {
        let monitorTerminal = try Pty()
        let monitor = try service.start(["monitor", "--json"], on: monitorTerminal)
        #expect(monitorTerminal.shows("Watching."))
        let agent = try service.start(["agent", "--session"], on: pty)
        #expect(pty.shows("Ready: serves this session."))
        let client = try ChildProcess(
            ["localauthctl", "evaluate", "--reason", "test", "--bus", service.bus.address],
            hasSession: true
        )
        #expect(pty.shows("Password of"))
        pty.type("\(PAMService.passcode)\n")
        #expect(try client.wait() == 0)
        #expect(monitorTerminal.shows("\"event\": \"evaluated\""))
        #expect(monitorTerminal.shows("\"outcome\": \"Success\""))
        monitor.signal(SIGTERM)
        #expect(try monitor.wait() == 0)
        agent.signal(SIGTERM)
        #expect(try agent.wait() == 0)
    }
}
