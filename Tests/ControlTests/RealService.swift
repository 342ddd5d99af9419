import Glibc
import LocalAuthBus
import TestSupport

/// The real daemon, verifier and simulated sensor on a private bus; all end with the object.
final class RealService: Sendable {
    let bus: PrivateBus
    private let daemon: TestDaemon

    /// Starts all programs and waits until the daemon knows the sensor.
    init() async throws {
        let bus = try PrivateBus()
        self.bus = bus
        daemon = try await onBus {
            try await bus.startVerifier()
            let daemon = try await TestDaemon(on: bus)
            try await daemon.startSensor(enrolling: nil)
            return daemon
        }
    }

    /// Queues the outcomes of the sensor's next attempts.
    func queue(_ outcomes: String...) async throws {
        try await daemon.sensor.queue(outcomes: outcomes)
    }

    /// Enrols a finger of this user, and waits until the service knows it.
    func addTemplate(_ label: String) async throws {
        let daemon = daemon
        try await onBus {
            _ = try await daemon.sensor.addTemplate(uid: getuid(), label: label)
            try await eventually("the finger to be known") {
                try await daemon.manager.canEvaluate(policy: 1).code == 0
            }
        }
    }

    /// Runs `localauthctl` without a terminal.
    func control(
        _ verb: String,
        _ arguments: String...,
        environment: [String: String] = [:]
    ) async throws -> ChildProcess.Ended {
        try await TestSupport.control(
            [verb, "--bus", bus.address] + arguments,
            environment: environment
        )
    }

    /// Starts `localauthctl` on a terminal.
    func start(_ arguments: [String], on terminal: Pty) throws -> ChildProcess {
        try ChildProcess(
            ["localauthctl"] + arguments + ["--bus", bus.address],
            terminal: terminal.path
        )
    }
}
