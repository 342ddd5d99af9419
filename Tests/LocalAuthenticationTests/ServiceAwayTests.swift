import ClientTestSupport
import DBus
import Foundation
import Glibc
import LocalAuthBus
import LocalAuthClient
import LocalAuthentication
import TestSupport
import Testing

/// Tests programs without the daemon, and during its start and exit.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct ServiceAwayTests {
    // A test function runs on the loop, so it has to run before that.
    init() { EventLoop.shared.startThread() }

    @Test("Without the daemon no policy is available, and the message names the remedy")
    func away() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { _ in
            let context = LAContext()
            for policy in [
                LAPolicy.deviceOwnerAuthentication, .deviceOwnerAuthenticationWithBiometrics,
            ] {
                var error: NSError?
                #expect(!context.canEvaluatePolicy(policy, error: &error))
                #expect(error?.code == -6)
                #expect(error?.localizedDescription.contains("systemctl start localauthd") == true)
            }
            #expect(context.biometryType == .none)
            #expect(context.domainState.stateHash == nil)
            #expect(!context.setCredential(Data(), type: .applicationPassword))
            await #expect(throws: LAError.self) {
                try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "try")
            }
        }
    }

    @Test("A context survives a restart of the daemon")
    func restart() async throws {
        try await ClientDesk.run { desk in
            let context = LAContext()
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            try await desk.queue("match")
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "try")
            try await desk.stopDaemon()
            #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            try await desk.startDaemon()
            try await desk.waitUntilUsable()
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            // The restart discards the success, so there is a second prompt.
            try await desk.queue("match")
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "try")
            #expect(await desk.agent.count == 2)
        }
    }

    @Test("After a restart of the bus its service is found, and old contexts are gone")
    @BusActor
    func restartedBus() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let connection = ServiceConnection([.address("unix:path=\(folder.path)/run/bus")])
        let context = RemoteContext(connection)
        let path = ObjectPath(trusted: "/context")
        var services: [StandInService] = []
        func serve(at bus: PrivateBus) throws {
            unlink("\(folder.path)/run")
            try folder.link("run", to: bus.folder)
            let service = try StandInService(bus)
            service.context = path
            services.append(service)
        }
        try await PrivateBus.run { bus in
            try serve(at: bus)
            #expect(try await context.current().path == path)
            #expect(await context.existing() != nil)
        }
        try await PrivateBus.run { bus in
            try serve(at: bus)
            // The connection notices its loss with a delay.
            try await eventually("the service to be found") {
                (try? await connection.current()) != nil
            }
            // The new service has the unique name of the old service.
            #expect(Set(services.map(\.connection.uniqueName)).count == 1)
            #expect(await context.existing() == nil)
            let service = try await connection.current()
            #expect(try await context.current().connection === service.connection)
        }
    }

    @Test("A crash of the daemon during a prompt is systemCancel")
    func death() async throws {
        try await ClientDesk.run { desk in
            async let code: LAError.Code? = {
                do {
                    try await LAContext()
                        .evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "try")
                    return nil
                } catch {
                    return (error as? LAError)?.code
                }
            }()
            _ = try await desk.agent.prompt()
            try await desk.stopDaemon()
            #expect(await code == .systemCancel)
        }
    }
}
