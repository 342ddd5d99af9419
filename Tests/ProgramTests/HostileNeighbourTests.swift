import DBus
import Foundation
import LocalAuthBus
import TestSupport
import Testing

/// Programs of three other users misbehave on the bus, all at once; a person at the desk uses the
/// service meanwhile, as if nobody else were there.
///
/// The bus has the limits and the rules of Debian's system bus, and the service is installed on it:
/// its policy, its user, its number of descriptors.
@Suite(
    "Hostile neighbours",
    .serialized,
    .enabled(if: geteuid() == 0, "only root can play three other users"),
    .timeLimit(.minutes(5))
)
struct HostileNeighbourTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    /// What `HostileNeighbour` can do; what doesn't hold yet is played at night.
    ///
    /// Of calls that want no answer, the bus passes on more than a debug build reads.
    static let attacks =
        ["flood", "descriptors", "signals", "unread", "dying"]
        + (getenv("LA_NIGHTLY") == nil ? [] : ["unanswered"])

    /// Users that every Debian has, and none of them the service's.
    static let users = ["nobody", "games", "mail"]

    /// Every method of an interface, as lines for `HostileNeighbour`.
    static let methods: [String: [String]] = {
        let root = TestDaemon.root.rawValue
        let interfaces: [(path: String, interface: InterfaceDescription)] = [
            (root, Authentication1Interface.description),
            (root + "/context/00000000000000000000000000000000", Context1Interface.description),
            (root + "/sensor/Simulated", Device1Interface.description),
            ("/org/localauth/Keychain1", Keychain1Interface.description),
        ]
        var all: [String: [String]] = [:]
        for (path, interface) in interfaces {
            all[interface.name] = interface.methods.values.map {
                "\(path) \(interface.name) \($0.name) \($0.input)"
            }
        }
        let standard = "org.freedesktop.DBus"
        all[standard] = [
            "\(root) \(standard).Introspectable Introspect",
            "\(root) \(standard).Properties Get ss", "\(root) \(standard).Properties GetAll s",
            "\(root) \(standard).Properties Set ssv", "\(root) \(standard).Peer Ping",
            "\(root) \(standard).Peer GetMachineId",
            "\(root) \(standard).ObjectManager GetManagedObjects",
            "\(root) org.localauth.Nothing1 Nothing",
        ]
        return all
    }()

    @Test(
        "L21: whatever three other users do, a person's evaluations end as they would",
        arguments: HostileNeighbourTests.attacks
    )
    @BusActor
    func attack(_ attack: String) async throws {
        let person = try await Person()
        // How long it takes is told, and not judged: this machine may have much else to do.
        let usual = try await person.usesTheService(3)
        print("undisturbed: \(usual)")
        for (interface, calls) in Self.methods.sorted(by: { $0.key < $1.key }) {
            do {
                let times = try await person.usesTheService(beside: attack, calls)
                print("\(attack) on \(interface): \(times)")
            } catch {
                Issue.record("\(attack) on \(interface): \(error); \(person.daemon.errors)")
            }
        }
        await person.leave()
    }
}

/// A person with a finger, a passcode and a prompt agent, beside an installed service.
@BusActor
private struct Person {
    let system: InstalledSystem
    let daemon: ChildProcess
    private let sensor: ChildProcess
    private let agent: ScriptedAgent
    private let verifier: ScriptedVerifier

    init() async throws {
        system = try await InstalledSystem()
        verifier = try ScriptedVerifier(try system.connect())
        // No logind says who sits here, so it is a bus without sessions.
        daemon = try await system.startDaemon(bus: system.address)
        sensor = try system.start(
            as: "root",
            ["localauth-sensor-simulated", "--bus", system.address]
        )
        agent = ScriptedAgent(try system.connect())
        try await agent.register()
        let simulated = simulated
        try await eventually("the sensor") {
            (try? await simulated.addTemplate(uid: getuid(), label: "right index")) != nil
        }
        let manager = agent.manager
        try await eventually("a usable sensor") {
            try await manager.canEvaluate(policy: 1).code == 0
        }
    }

    private var simulated: SimulatedSensor1Proxy {
        SimulatedSensor1Proxy(
            agent.connection,
            destination: TestDaemon.sensorName,
            path: ObjectPath(trusted: "/org/localauth/Sensor1")
        )
    }

    /// Uses the service while three others attack it; nothing of them stays.
    ///
    /// - Throws: When an evaluation doesn't end as it would without them.
    func usesTheService(beside attack: String, _ calls: [String]) async throws -> String {
        let descriptors = try descriptors()
        var neighbours: [ChildProcess] = []
        for user in HostileNeighbourTests.users {
            let neighbour = try ChildProcess(
                ["HostileNeighbour", system.site.folder + "/bus", user, attack],
                hasStream: true
            )
            for call in calls { neighbour.tell(call) }
            neighbour.tell("")
            neighbours.append(neighbour)
        }
        for neighbour in neighbours { #expect(try neighbour.line() == "attacks") }
        let outcome: Result<String, any Error>
        do {
            outcome = .success(try await usesTheService(10))
        } catch {
            outcome = .failure(error)
        }
        #expect(daemon.isRunning)
        for neighbour in neighbours {
            #expect(neighbour.isRunning)
            await neighbour.end()
        }
        let times = try outcome.get()
        try await eventually("their descriptors to be closed") {
            try self.descriptors() <= descriptors
        }
        _ = try await usesTheService(1)
        return times
    }

    /// How many descriptors the service has that came from others, or stand for them.
    private func descriptors() throws -> Int {
        let folder = "/proc/\(daemon.pid)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder)
            .count { name in
                let link = "\(folder)/\(name)"
                let place = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
                return ["socket:", "/memfd:", "anon_inode:[pidfd]"]
                    .contains { place?.hasPrefix($0) == true }
            }
    }

    /// Uses it so often; says how long each time takes.
    func usesTheService(_ count: Int) async throws -> String {
        var times: [Duration] = []
        for _ in 0..<count {
            let start = ContinuousClock.now
            try await usesTheService()
            times.append(.now - start)
        }
        return times.map { "\(Int($0 / .milliseconds(1))) ms" }.joined(separator: ", ")
    }

    /// Asks, touches the sensor, keeps a secret, reads it and forgets it.
    private func usesTheService() async throws {
        let availability = try await agent.manager.canEvaluate(policy: 1)
        try expect(availability.code == 0, "can't evaluate: \(availability.message)")
        try await simulated.queue(outcomes: ["match"])
        let result = try await agent.manager.evaluate(
            policy: 1,
            reason: "open the vault",
            options: ["timeout": .uint64(10_000)],
            timeout: .seconds(20)
        )
        try expect(result["mechanism"] == .string("biometry"), "\(result)")
        let keychain = Keychain1Proxy(
            agent.connection,
            destination: TestDaemon.name,
            path: ObjectPath(trusted: "/org/localauth/Keychain1")
        )
        let id = try await keychain.add(
            attributes: ["class": .string("genp"), "acct": .string("me")],
            secret: try sealed("secret"),
            accessControl: [:],
            options: [:]
        )
        try expect(try await keychain.search(query: [:], options: [:]).count == 1, "not kept")
        try expect(try await keychain.delete(ids: [id]) == 1, "not forgotten")
    }

    func leave() async {
        await sensor.end()
        await daemon.end()
        agent.connection.close()
    }
}
