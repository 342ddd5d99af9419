import DBus
import Foundation
import LocalAuthBus
import TestSupport

/// A desk for the examples, which find its bus by their environment like an app in a session.
@BusActor final class ExampleDesk {
    private let desk: Desk

    private init(_ desk: Desk) { self.desk = desk }

    /// The folder with the service's programs; `LOCALAUTH_PROGRAMS` overrides it.
    private nonisolated static var programs: String {
        ProcessInfo.processInfo.environment["LOCALAUTH_PROGRAMS"]
            ?? URL(filePath: #filePath).appending(path: "../../../../../.build/debug").standardized
            .path
    }

    /// Runs a test with its own desk, and always tears the desk down.
    nonisolated static func run(_ body: @Sendable (ExampleDesk) async throws -> Void) async throws {
        try await PrivateBus.run { bus in
            let desk = try Desk(on: bus, programs: programs)
            try await desk.startEverything()
            try await body(ExampleDesk(desk))
        }
    }

    /// The folder for the examples' files.
    nonisolated var folder: String { desk.bus.folder }

    var person: ScriptedAgent { desk.agent }

    /// Queues the outcomes of the sensor's next attempts.
    func queue(_ outcomes: String...) async throws {
        try await desk.sensor.queue(outcomes: outcomes)
    }

    /// Enrols another finger.
    func enroll(_ label: String) async throws {
        _ = try await desk.sensor.addTemplate(uid: getuid(), label: label)
    }

    // MARK: The examples

    private var environment: [String: String] {
        [
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent",
            "DBUS_SESSION_BUS_ADDRESS": desk.bus.address, "HOME": folder,
        ]
    }
    private var servers: [ChildProcess] = []

    /// Starts an example that keeps running, and returns its first line of output.
    func serve(_ name: String, _ words: String...) throws -> String {
        let server = try ChildProcess([name] + words, environment: environment, hasStream: true)
        servers.append(server)
        return try server.line() ?? ""
    }

    /// Runs an example to its end, and returns its output and its status.
    func run(_ name: String, _ words: String...) async throws -> (said: String, status: Int32) {
        let example = try desk.bus.run([name] + words, environment: environment)
        let status = try await example.exitStatus(within: .seconds(60))
        return (example.output, status)
    }
}
