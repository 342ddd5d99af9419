import DBus
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests which bus `localauthctl` uses without the option `--bus`.
@Suite(.serialized) struct BusChoiceTests {
    private let system: PrivateBus
    private let session: PrivateBus

    init() throws {
        system = try PrivateBus()
        session = try PrivateBus()
    }

    private var environment: [String: String] {
        [
            "DBUS_SYSTEM_BUS_ADDRESS": system.address,
            "DBUS_SESSION_BUS_ADDRESS": session.address,
        ]
    }

    /// Starts a service that refuses with a code, to tell services apart.
    private func service(on bus: PrivateBus, refusing code: Int32) async throws -> StandInService {
        try await onBus {
            let service = try StandInService(bus)
            service.refusal = (code, "It is \(code).")
            return service
        }
    }

    /// Returns the refusal code that an unprivileged user's command receives.
    private func code(_ words: String...) async throws -> Int? {
        let command = ["localauthctl", "can-evaluate", "--json"] + words
        // Run as an unprivileged user, because the default must not depend on root.
        let user = ["/usr/bin/setpriv", "--reuid=65534", "--clear-groups"]
        let program = ChildProcess.folder + "/" + command[0]
        let process = try ChildProcess(
            getuid() == 0 ? user + [program] + command.dropFirst() : command,
            environment: environment,
            hasSession: true
        )
        let answer = try await process.ended(within: .seconds(60))
        let value = try JSONSerialization.jsonObject(with: Data(answer.output.utf8))
        return (value as? [String: Any])?["code"] as? Int
    }

    @Test("An unprivileged user's command prefers a service on the system bus")
    func systemFirst() async throws {
        let installed = try await service(on: system, refusing: -6)
        let own = try await service(on: session, refusing: -7)
        #expect(try await code() == -6)
        #expect(try await code("--bus", "session") == -7)
        try await onBus { installed.leave() }
        try await system.waitForOwner(of: TestDaemon.name, false)
        #expect(try await code() == -7)
        try await onBus { own.leave() }
    }

    @Test("An error of a service on the system bus is reported, without a fallback")
    func installed() async throws {
        try Data(
            "[D-BUS Service]\nName=\(TestDaemon.name)\nExec=/bin/false\n".utf8
        )
        .write(to: URL(filePath: "\(system.folder)/\(TestDaemon.name).service"))
        try await onBus { [system] in
            _ = try await system.connect()
                .call(
                    to: "org.freedesktop.DBus",
                    path: ObjectPath(trusted: "/org/freedesktop/DBus"),
                    interface: "org.freedesktop.DBus",
                    member: "ReloadConfig"
                )
        }
        let own = try await service(on: session, refusing: -7)
        for verb in ["status", "can-evaluate", "evaluate"] {
            let answer = try await control(verb, environment: environment)
            #expect(answer.status == 3, "\(verb): \(answer.errors)")
            #expect(answer.errors.contains("systemctl status"))
        }
        try await onBus { own.leave() }
    }

    @Test("If no bus has the service, the status is 3 and the message names the remedy")
    func nowhere() async throws {
        for verb in ["status", "can-evaluate", "sensors", "monitor", "doctor"] {
            let answer = try await control(verb, environment: environment)
            #expect(answer.status == 3, "\(verb): \(answer.errors)")
            #expect(answer.errors.contains("neither on the system bus nor on the session bus"))
            #expect(answer.errors.contains("--bus"))
        }
    }

    @Test("Remedies name the bus of the command line")
    func remedies() async throws {
        let own = try await service(on: session, refusing: -7)
        let named = try await control(
            "can-evaluate",
            "--bus",
            session.address,
            environment: environment
        )
        #expect(named.errors.contains("localauthctl enroll (with --bus \(session.address))"))
        let found = try await control("can-evaluate", environment: environment)
        #expect(found.errors.contains("Next: localauthctl enroll\n"))
        try await onBus { own.leave() }
    }
}
