import DBus
import Foundation
import LocalAuthBus
import Testing

/// How the programs begin and end.
@Suite("Programs", .timeLimit(.minutes(2)))
struct StartAndStopTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    static let services = [
        "localauthd", "localauth-passcode", "localauth-sensor-simulated",
    ]

    @Test(
        "Every program tells its version and its options",
        arguments: services + ["localauthctl"],
        ["--help", "--version"]
    )
    @BusActor
    func helpAndVersion(name: String, flag: String) async throws {
        let program = try Program(
            Program.folder + "/" + name,
            [flag],
            log: NSTemporaryDirectory() + "localauth-\(UUID().uuidString).log"
        )
        defer { try? FileManager.default.removeItem(atPath: program.log) }
        #expect(await program.end() == 0)
        #expect(!program.said.isEmpty)
    }

    @Test("Without a bus a program ends with status 1 and one line", arguments: services)
    @BusActor
    func noBus(name: String) async throws {
        let desk = try await Desk()
        let program = try Program(
            Program.folder + "/" + name,
            ["--bus", "unix:path=\(desk.folder)/nothing"],
            log: desk.folder + "/no-bus.log"
        )
        #expect(await program.end() == 1)
        #expect(program.said.split(separator: "\n").count == 1)
    }

    @Test("A program ends with status 0 at SIGTERM and gives its name back")
    @BusActor
    func terminate() async throws {
        let desk = try await Desk()
        let daemon = try await desk.daemon()
        let verifier = try await desk.verifier()
        let sensor = try await desk.sensor()
        let client = try desk.connect()
        for program in [sensor, verifier, daemon] {
            program.send(SIGTERM)
            #expect(await program.end() == 0)
        }
        for name in [Desk.service, "org.localauth.Passcode1", Desk.sensorName] {
            #expect(try await client.nameOwner(name) == nil)
        }
    }

    @Test("A second daemon is refused, and the first goes on")
    @BusActor
    func secondDaemon() async throws {
        let desk = try await Desk()
        let first = try await desk.daemon()
        let client = try desk.connect()
        let owner = try await client.nameOwner(Desk.service)
        let second = try desk.start("localauthd", ["--state-directory", desk.folder + "/second"])
        #expect(await second.end() == 1)
        #expect(try await client.nameOwner(Desk.service) == owner)
        #expect(first.isRunning)
    }

    @Test("A mistake in the configuration stops the start with file, line and key")
    @BusActor
    func badConfiguration() async throws {
        let desk = try await Desk()
        let file = desk.folder + "/localauth.conf"
        try "# attempts\n[Biometry]\nLockoutAttempts=1000\n"
            .write(toFile: file, atomically: true, encoding: .utf8)
        let daemon = try desk.start(
            "localauthd",
            ["--state-directory", desk.folder + "/state", "--config", file]
        )
        #expect(await daemon.end() == 1)
        #expect(daemon.said.contains("localauth.conf:3"))
        #expect(daemon.said.contains("LockoutAttempts"))
    }
}
