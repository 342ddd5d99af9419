import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@Suite("Programs", .timeLimit(.minutes(10)))
struct StartAndStopTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    static let services = [
        "localauthd", "localauth-passcode", "localauth-sensor-simulated",
    ]

    @Test(
        "Every program prints its version and its options",
        arguments: services + ["localauthctl"],
        ["--help", "--version"]
    )
    @BusActor
    func helpAndVersion(name: String, flag: String) async throws {
        let program = try ChildProcess([name, flag])
        #expect(try await program.exitStatus() == 0)
        #expect(!program.output.isEmpty)
    }

    @Test("Without a bus a program exits with status 1 and one line", arguments: services)
    @BusActor
    func noBus(name: String) async throws {
        let words = [name, "--bus", "unix:path=/tmp/no-bus-is-here"]
        let program = try ChildProcess(words, mergesErrors: true)
        #expect(try await program.exitStatus() == 1)
        #expect(program.output.split(separator: "\n").count == 1)
    }

    @Test("At SIGTERM a program finishes its work and exits with status 0")
    @BusActor
    func terminate() async throws {
        // A busy machine may exceed the limit of a second.
        for _ in 0..<10 {
            if try await haveDoneAll() { return }
        }
        Issue.record("each time one of them was ended by its limit")
    }

    /// Whether no program was ended by its own limit.
    @BusActor
    private func haveDoneAll() async throws -> Bool {
        let bus = try PrivateBus()
        let daemon = try await TestDaemon(on: bus)
        let verifier = try await bus.startVerifier()
        let sensor = try await daemon.startSensor()
        let client = try bus.connect()
        let programs = [sensor, verifier, daemon.process]
        for program in programs {
            program.signal(SIGTERM)
            #expect(try await program.exitStatus() == 0)
        }
        for name in [TestDaemon.name, "org.localauth.Passcode1", TestDaemon.sensorName] {
            #expect(try await client.nameOwner(name) == nil)
        }
        return programs.allSatisfy { !$0.errors.contains("before everything was done") }
    }

    @Test("A daemon whose standard error has no reader keeps running")
    @BusActor
    func unreadErrors() async throws {
        let bus = try PrivateBus()
        // The journal's stream is in this state after a restart of journald.
        let stream = bus.folder + "/errors"
        try #require(mkfifo(stream, 0o600) == 0)
        let reader = open(stream, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let launcher = ["/bin/sh", "-c", "exec \"$@\" 2> \"$0\"", stream]
        let daemon = try await TestDaemon(on: bus, launcher: launcher)
        close(reader)
        let mistake = "[Biometry]\nLockoutAttempts=1000\n"
        try TemporaryFolder.write(bus.folder + "/localauth.conf", mistake.utf8)
        daemon.process.signal(SIGHUP)
        // The daemon logs the mistake before it enters the diagnosis.
        try await eventually("the mistake to be found") {
            let checks = try await daemon.manager.diagnose()
            let check = checks.first { $0["name"] == .string("settings") }
            return check?["state"] == .string("warning")
        }
        #expect(daemon.process.isRunning)
    }

    @Test("A second daemon is refused, and the first keeps running")
    @BusActor
    func secondDaemon() async throws {
        let bus = try PrivateBus()
        let first = try await TestDaemon(on: bus)
        let client = try bus.connect()
        let owner = try await client.nameOwner(TestDaemon.name)
        let second = try bus.start(["localauthd", "--state-directory", bus.folder + "/second"])
        #expect(try await second.exitStatus() == 1)
        #expect(try await client.nameOwner(TestDaemon.name) == owner)
        #expect(first.process.isRunning)
    }

    @Test("A mistake in the configuration stops the start with file, line and key")
    @BusActor
    func badConfiguration() async throws {
        let bus = try PrivateBus()
        let file = bus.folder + "/localauth.conf"
        try TemporaryFolder.write(file, "# attempts\n[Biometry]\nLockoutAttempts=1000\n".utf8)
        let daemon = try bus.start(
            ["localauthd", "--state-directory", bus.folder + "/state", "--config", file]
        )
        #expect(try await daemon.exitStatus() == 1)
        #expect(daemon.errors.contains("localauth.conf:3"))
        #expect(daemon.errors.contains("LockoutAttempts"))
    }
}
