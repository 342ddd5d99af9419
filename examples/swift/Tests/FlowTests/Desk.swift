import DBus
import Foundation
import LocalAuthBus
import TestSupport

/// A desk and the examples; they find its bus by the environment, as apps find their session's.
@BusActor final class ExampleDesk {
    private let desk: Desk

    private init(_ desk: Desk) { self.desk = desk }

    /// Where the programs of the package above are; `LOCALAUTH_PROGRAMS` names another folder.
    private nonisolated static var programs: String {
        ProcessInfo.processInfo.environment["LOCALAUTH_PROGRAMS"]
            ?? URL(filePath: #filePath).appending(path: "../../../../../.build/debug").standardized
            .path
    }

    /// Gives a test a desk of its own, and takes it down whatever happens.
    nonisolated static func run(_ body: @Sendable (ExampleDesk) async throws -> Void) async throws {
        try await PrivateBus.run { bus in
            let desk = try Desk(on: bus, programs: programs)
            try await desk.startEverything()
            try await body(ExampleDesk(desk))
        }
    }

    /// For whatever the examples keep.
    nonisolated var folder: String { desk.bus.folder }

    /// Answers the prompts.
    var person: ScriptedAgent { desk.agent }

    /// What the sensor sees next.
    func queue(_ outcomes: String...) async throws {
        try await desk.sensor.queue(outcomes: outcomes)
    }

    /// One more finger.
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

    /// Starts an example that stays, and returns the line that it says first.
    func serve(_ name: String, _ words: String...) throws -> String {
        let server = try ChildProcess([name] + words, environment: environment, hasStream: true)
        servers.append(server)
        return try server.line() ?? ""
    }

    /// Runs an example to its end: what it said, and its status.
    func run(_ name: String, _ words: String...) async throws -> (said: String, status: Int32) {
        let example = try desk.bus.run([name] + words, environment: environment)
        let status = try await example.exitStatus(within: .seconds(60))
        return (example.output, status)
    }
}
