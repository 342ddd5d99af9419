import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Trust of an installed service in processes on the system bus.
@Suite("Trust on the system bus", .timeLimit(.minutes(10)), .enabled(if: geteuid() == 0))
struct SensorTrustTests {
    /// The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    /// An installed service with a client that is root.
    @BusActor private struct Bench {
        let system: InstalledSystem
        let daemon: ChildProcess
        let client: Connection

        init() async throws {
            system = try await InstalledSystem()
            daemon = try await system.startDaemon()
            client = try system.connect()
        }

        /// Writes or removes a sensor's description.
        func describe(_ sensor: String, _ text: String?) throws {
            let file = "\(system.descriptions)/\(sensor).conf"
            guard let text else {
                unlink(file)
                return
            }
            // Atomically, so that the service never reads a partial file.
            try TemporaryFolder.write(file + ".new", text.utf8)
            rename(file + ".new", file)
        }

        private func device(_ sensor: String) -> Device1Proxy {
            Device1Proxy(client, destination: TestDaemon.name, path: TestDaemon.devicePath(sensor))
        }

        /// Waits until the service reports a sensor's unavailability; empty: usable.
        func becomes(_ sensor: String, _ unavailability: String) async throws {
            try await eventually("\(sensor) to be “\(unavailability)”") {
                (try? await device(sensor).unavailability()) == unavailability
            }
        }

        func strength(_ sensor: String) async throws -> String {
            try await device(sensor).strength()
        }

        func finding(_ sensor: String) async throws -> String {
            let manager = Authentication1Proxy(
                client,
                destination: TestDaemon.name,
                path: TestDaemon.root
            )
            let check = try await manager.diagnose()
                .first { $0["name"]?.asString == "sensor " + sensor }
            return check?["message"]?.asString ?? ""
        }

        func startSensor(_ name: String, as user: String) throws -> ChildProcess {
            try system.start(
                as: user,
                ["localauth-sensor-simulated", "--bus", "system", "--name", name]
            )
        }
    }

    @Test("L24: A sensor with its own user is used, with at most its description's strength")
    @BusActor func described() async throws {
        let bench = try await Bench()
        let simulated = try bench.startSensor("Simulated", as: "localauth-simulated")
        try await bench.becomes("Simulated", "")
        #expect(try await bench.strength("Simulated") == "strong")
        try bench.describe("Simulated", "[Sensor]\nUser=localauth-simulated\nStrength=weak\n")
        try await eventually("the file to count") {
            try await bench.strength("Simulated") == "weak"
        }
        try await bench.becomes("Simulated", "")
        // The strength defaults to the lowest, the user to root.
        try bench.describe("Other", "[Sensor]\n")
        let other = try bench.startSensor("Other", as: "root")
        try await bench.becomes("Other", "")
        #expect(try await bench.strength("Other") == "convenience")
        try bench.describe(
            "Simulated",
            "[Sensor]\nUser=\(try bench.system.uid("localauth-face"))\n"
        )
        try await bench.becomes("Simulated", "untrusted")
        let finding = try await bench.finding("Simulated")
        #expect(finding.contains("runs as localauth-simulated"), "\(finding)")
        try bench.describe("Simulated", nil)
        try await bench.becomes("Simulated", "")
        withExtendedLifetime((simulated, other)) {}
    }

    @Test("L24: A sensor without a description is neither trusted nor called")
    @BusActor func undescribed() async throws {
        let bench = try await Bench()
        let connection = try bench.system.connect()
        let recorder = ScriptedSensor("Stray", on: connection)
        recorder.onLook = { recorder.calls.record("get") }
        try recorder.appear()
        try await bench.becomes("Stray", "untrusted")
        let finding = try await bench.finding("Stray")
        #expect(finding.contains("/sensors/Stray.conf."), "\(finding)")
        _ = try await bench.system.call(as: "nobody", InstalledSystem.canEvaluate)
        #expect(recorder.calls.seen.isEmpty, "\(recorder.calls.seen)")
        try bench.describe("Stray", "[Sensor]\nStrength=stronger\n")
        try await eventually("the mistake to be told") {
            try await bench.finding("Stray").contains("Stray.conf:2: Strength=stronger is not")
        }
        try bench.describe("Stray", "[Sensor]\nUser=nobody-at-all\n")
        try await eventually("the mistake to be told") {
            try await bench.finding("Stray").contains("Stray.conf:2: User=nobody-at-all is not")
        }
        #expect(bench.daemon.errors.contains("Stray.conf:2: Strength=stronger"))
        #expect(recorder.calls.seen.isEmpty, "\(recorder.calls.seen)")
        // Once described, the sensor is called.
        try bench.describe("Stray", "[Sensor]\n")
        _ = try await recorder.calls.first("a question") { $0 == "get" }
        connection.close()
    }

    @Test(
        "L24: A removed description counts even if the kernel can't watch folders",
        arguments: [(Faults.Kind.folders, EMFILE), (.places, ENOSPC)]
    )
    @BusActor func unwatched(_ kind: Faults.Kind, _ error: Int32) async throws {
        let faults = try Faults()
        faults.arm(kind, 1, lasts: true, with: error)
        try await PrivateBus.run { bus in
            let environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
            let file = bus.folder + "/Simulated.conf"
            try TemporaryFolder.write(file, "[Sensor]\n".utf8)
            try TemporaryFolder.write(bus.folder + "/localauth.conf", [])
            let programs = ChildProcess.folder
            _ = try bus.run(
                ["\(programs)/localauthd", "--bus", "system", "--sensors", bus.folder]
                    + ["--state-directory", bus.folder + "/state"]
                    + ["--config", bus.folder + "/localauth.conf"],
                environment: environment.merging(faults.environment) { $1 }
            )
            try await bus.waitForOwner(of: TestDaemon.name)
            _ = try bus.run(
                ["\(programs)/localauth-sensor-simulated", "--bus", "system"],
                environment: environment
            )
            let device = Device1Proxy(
                try bus.connect(),
                destination: TestDaemon.name,
                path: TestDaemon.devicePath("Simulated")
            )
            for unavailability in ["", "untrusted"] {
                try await eventually("a sensor that is “\(unavailability)”") {
                    (try? await device.unavailability()) == unavailability
                }
                unlink(file)
            }
            #expect(faults.failed > 0)
        }
    }

    @Test("L24: The daemon calls no verifier on the system bus that is not root's")
    @BusActor func verifier() async throws {
        // A bus without a policy, to test only the service's own checks.
        let bus = try PrivateBus()
        chmod(bus.folder, 0o755)
        let environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
        let state = bus.folder + "/state"
        mkdir(state, 0o700)
        // A user of every Debian, because the bus refuses unknown users.
        chown(state, 5, 5)
        let someone = ["/usr/bin/setpriv", "--reuid=5", "--regid=5", "--clear-groups"]
        let programs = ChildProcess.folder
        _ = try bus.run(
            someone + [
                "\(programs)/localauthd", "--bus", "system", "--state-directory", state,
            ],
            environment: environment
        )
        let owner = try #require(try await bus.waitForOwner(of: TestDaemon.name))
        // The verifier accepts every password, but runs as the wrong user.
        let address =
            "unixexec:path=/usr/bin/setpriv,argv0=setpriv,argv1=--reuid=5,argv2=--clear-groups,"
            + "argv3=/usr/bin/systemd-stdio-bridge,argv4=--bus-path=\(bus.address)"
        let foreign = try ScriptedVerifier(Connection(.address(address)))
        try await bus.waitForOwner(of: ScriptedVerifier.name)
        let manager = Authentication1Proxy(
            try bus.connect(),
            destination: owner,
            path: TestDaemon.root
        )
        #expect(try await manager.canEvaluate(policy: 2).code == -5)
        #expect(foreign.asked.seen.isEmpty && foreign.verified.seen.isEmpty)
        foreign.connection.close()
        try await bus.waitForOwner(of: ScriptedVerifier.name, false)
        let verifier = try ScriptedVerifier(on: bus)
        try await eventually("root's word to count") {
            try await manager.canEvaluate(policy: 2).code == 0
        }
        #expect(!verifier.asked.seen.isEmpty)
        await bus.end()
    }
}
