import AgentTestSupport
import DBus
import Foundation
import LocalAuthBus

/// The real daemon, verifier and simulated sensor on a private bus, which all end with the object.
final class RealService: Sendable {
    /// What the verifier's PAM service takes, as `Tests/pam` has it.
    static let passcode = "2468"

    let bus: PrivateBus
    private let folder = NSTemporaryDirectory() + "localauth-control-" + UUID().uuidString
    private let programs: [ChildProcess]

    /// Starts all of them and waits until the daemon knows the sensor.
    init() async throws {
        let bus = try PrivateBus()
        self.bus = bus
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        try Self.installPAM(in: folder)
        let commands = [
            ["localauthd", "--state-directory", folder + "/state"],
            [
                "localauth-passcode", "--pam-service", "localauth-test", "--pam-directory", folder,
                "--passcode-set", "always",
            ], ["localauth-sensor-simulated"],
        ]
        programs = try commands.map {
            try ChildProcess(
                builtProgram($0[0]),
                $0.dropFirst() + ["--bus", bus.address],
                isSilent: true
            )
        }
        try await onBus {
            let client = try bus.connect()
            defer { client.close() }
            let names = [StandInService.name, "org.localauth.Passcode1", Self.sensorName]
            for name in names { try await Self.wait(for: name, client) }
            let manager = Authentication1Proxy(
                client,
                destination: StandInService.name,
                path: StandInService.path
            )
            // Until the sensor has told the daemon what it is.
            while try await manager.canEvaluate(policy: 1).code == -6 { await Task.yield() }
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private static let sensorName = "org.localauth.Sensor1.Simulated"

    private static func installPAM(in folder: String) throws {
        let source = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "pam")
        let name = "localauth-test"
        let text = try String(contentsOf: source.appending(path: name), encoding: .utf8)
        // The scripts stay where they are: one that is being written somewhere can't be run.
        try text.replacingOccurrences(of: "@SCRIPTS@", with: source.path)
            .write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    }

    @BusActor private static func wait(for name: String, _ client: Connection) async throws {
        let (owners, feed) = AsyncStream.makeStream(of: String?.self)
        let watch = client.watchName(name) { feed.yield($0) }
        defer { watch.cancel() }
        for await owner in owners where owner != nil { return }
    }

    /// What the sensor's next attempts see.
    func queue(_ outcomes: String...) async throws {
        let bus = bus
        try await onBus {
            let client = try bus.connect()
            defer { client.close() }
            let sensor = SimulatedSensor1Proxy(
                client,
                destination: Self.sensorName,
                path: ObjectPath(trusted: "/org/localauth/Sensor1")
            )
            try await sensor.queue(outcomes: outcomes)
        }
    }

    /// Runs `localauthctl` without any terminal.
    func control(
        _ verb: String,
        _ arguments: String...,
        environment: [String: String] = [:]
    ) async throws -> Ended {
        try await AgentTestSupport.control(
            [verb, "--bus", bus.address] + arguments,
            environment: environment
        )
    }

    /// Starts `localauthctl` on a terminal.
    func start(_ arguments: [String], on terminal: Pty) throws -> ChildProcess {
        try ChildProcess(
            localauthctl(),
            arguments + ["--bus", bus.address],
            terminal: terminal.path
        )
    }
}
