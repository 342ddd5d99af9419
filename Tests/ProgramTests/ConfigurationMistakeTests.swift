import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Mistakes in `localauth.conf`, as callers of an activated service see them.
@Suite("Mistakes in the settings", .timeLimit(.minutes(10)))
struct ConfigurationMistakeTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    private static let mistake = "[Biometry]\nLockoutAttempts=1000\n"

    @BusActor
    private static func offerDaemon(on bus: PrivateBus) async throws {
        let options = [
            "--refuse-on-mistake", "--state-directory", bus.folder + "/state", "--config",
            bus.folder + "/localauth.conf",
        ]
        try await bus.offer(TestDaemon.name, ["localauthd"] + options)
    }

    /// Replaces the file atomically, as an editor does.
    private static func write(_ text: String, on bus: PrivateBus) throws {
        try TemporaryFolder.write(bus.folder + "/new", text.utf8)
        try #require(rename(bus.folder + "/new", bus.folder + "/localauth.conf") == 0)
    }

    @BusActor
    private static func settings(_ manager: Authentication1Proxy) async throws -> [String: Variant]
    {
        let checks = try await manager.diagnose()
        return try #require(checks.first { $0["name"] == .string("settings") })
    }

    /// Expects that all methods of the service, its keychain and a sensor's object refuse with this
    /// mistake, except methods that report interaction or diagnosis.
    @BusActor
    private static func expectRefusals(of client: Connection, _ place: String) async throws {
        let answered = [
            "CanEvaluate", "CanInteract", "Diagnose", "RegisterAgent", "UnregisterAgent",
        ]
        for (path, interface) in [
            (TestDaemon.root, Authentication1Interface.description),
            (Keychain1.path, Keychain1Interface.description),
            (TestDaemon.devicePath("Slow"), Device1Interface.description),
        ] {
            for (name, method) in interface.methods where !answered.contains(name) {
                let arguments = try HostileInputTests.types(method.input)
                    .map(HostileInputTests.plausible)
                let error = await client.error(of: name, on: interface.name, at: path, arguments)
                #expect(error?.message.contains(place) == true, "\(name): \(error as Any)")
            }
        }
    }

    @Test("L29: A mistake refuses every call with file, line and key until it is fixed")
    @BusActor
    func refusing() async throws {
        try await PrivateBus.run { bus in
            try Self.write(Self.mistake, on: bus)
            let verifier = try ScriptedVerifier(on: bus)
            let sensor = try ScriptedSensor.slow(on: bus.connect())
            try await Self.offerDaemon(on: bus)
            let client = try bus.connect()
            let (name, root) = (TestDaemon.name, TestDaemon.root)
            let manager = Authentication1Proxy(client, destination: name, path: root)
            let place = "localauth.conf:2: LockoutAttempts=1000"
            do throws(DBusError) {
                _ = try await manager.evaluate(policy: 2, reason: "test", options: [:])
                Issue.record("evaluated")
            } catch {
                #expect(error.name == .systemCancel && error.message.contains(place))
            }
            let answer = try await manager.canEvaluate(policy: 2)
            #expect(!answer.available && answer.code == -4 && answer.message.contains(place))
            let shown = try await control("can-evaluate", "--policy", "2", "--bus", bus.address)
            #expect(shown.status == 1 && shown.output.contains(place))
            #expect(shown.errors.contains("localauthctl doctor"))
            // No prompt would appear, even with an agent.
            let agent = try ScriptedAgent(on: bus)
            try await agent.register()
            #expect(try await !manager.interactive())
            let interaction = try await manager.canInteract()
            #expect(interaction.cause == "mistake" && interaction.message.contains(place))
            let keychain = Keychain1Proxy(client, destination: name, path: Keychain1.path)
            do throws(DBusError) {
                _ = try await keychain.search(query: [:], options: [:])
                Issue.record("searched")
            } catch {
                #expect(error.name == .keychainNotAvailable && error.message.contains(place))
            }
            try await Self.expectRefusals(of: client, place)
            // Calls that decide nothing still succeed.
            #expect(try await manager.version() != "")
            for (interface, member) in [("Introspectable", "Introspect"), ("Peer", "Ping")] {
                _ = try await client.call(
                    to: name,
                    path: root,
                    interface: "org.freedesktop.DBus." + interface,
                    member: member
                )
            }
            let check = try await Self.settings(manager)
            #expect(check["state"] == .string("failed"))
            #expect(check["message"]?.asString?.contains(place) == true)

            let process = try await bus.process(of: name)
            let told = EventRecorder<[String]>()
            let owner = try #require(try await client.nameOwner(name))
            let service = Authentication1Proxy(client, destination: owner, path: root)
            _ = service.onPropertiesChanged { _, invalidated in told.record(invalidated) }
            _ = try await service.version()
            try Self.write("[Biometry]\nLockoutAttempts=2\n", on: bus)
            try await eventually("the file to be read", within: .seconds(60)) {
                try await manager.canEvaluate(policy: 2).code == 0
            }
            #expect(try await bus.process(of: name) == process)
            _ = try await told.first("Interactive") { $0.contains("Interactive") }
            #expect(try await manager.canInteract().available)
            #expect(try await keychain.search(query: [:], options: [:]).isEmpty)
            #expect(try await Self.settings(manager)["state"] == .string("ok"))
            _ = (verifier, sensor)
        }
    }

    @Test("L29: A mistake at SIGHUP appears in the diagnosis until it is fixed")
    @BusActor
    func keeping() async throws {
        try await PrivateBus.run { bus in
            let verifier = try ScriptedVerifier(on: bus)
            let daemon = try await TestDaemon(on: bus)
            try Self.write(Self.mistake, on: bus)
            daemon.process.signal(SIGHUP)
            try await eventually("the mistake to be told", within: .seconds(60)) {
                try await Self.settings(daemon.manager)["state"] == .string("warning")
            }
            let check = try await Self.settings(daemon.manager)
            #expect(check["message"]?.asString?.contains("localauth.conf:2: Lock") == true)
            #expect(try await daemon.manager.canEvaluate(policy: 2).code == 0)
            try Self.write("", on: bus)
            try await eventually("the file to be read", within: .seconds(60)) {
                try await Self.settings(daemon.manager)["state"] == .string("ok")
            }
            _ = verifier
        }
    }
}
