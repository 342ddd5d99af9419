import DBus
import Foundation
import LocalAuthBus
import TestSupport
import Testing

/// Programs of three other users attack the service at once, while a user at the machine uses it
/// undisturbed.
///
/// The bus has the limits and rules of Debian's system bus. The service is installed on it with its
/// policy, its user and its descriptor limit.
@Suite(
    "Hostile neighbours",
    .serialized,
    .enabled(if: geteuid() == 0, "only root can play three other users"),
    .timeLimit(.minutes(getenv("LA_NIGHTLY") == nil ? 10 : 40))
)
struct HostileNeighbourTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    static let isNightly = getenv("LA_NIGHTLY") != nil

    /// The attacks of `HostileNeighbour`; attacks with known failures run at night.
    ///
    /// With a sanitizer, the service reads a flood more slowly than the bus delivers it.
    static let attacks =
        ["agents", "descriptors", "random", "strangers"]
        + (isSanitized ? [] : ["flood", "signals", "unread", "dying", "leaving"])
        + (isNightly ? known.keys.sorted() : [])

    /// Attacks that may fail with a debug build, and why: see docs/security/risks.md.
    static let known: [String: Comment] = [
        "dictionaries": "it takes a debug build long to read large dictionaries",
        "unanswered": "the bus passes on more calls without answer than a debug build reads",
    ]

    /// Users of every Debian that no other test uses.
    ///
    /// Linux counts a user's descriptors in flight, and at the limit the user can send no more.
    static let users = ["news", "proxy", "mail"]

    /// Every method of an interface, as lines for `HostileNeighbour`.
    ///
    /// Omits `SensorHost1`, because the bus delivers no such call from these users.
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
        let context = Context1Interface.description
        all[context.name, default: []] += context.properties.map {
            "\(interfaces[1].path) \(standard).Properties Set ssv \(context.name) \($0.name)"
        }
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

    /// The calls of an attack by target; each target is attacked separately.
    ///
    /// At night each interface is a target; otherwise all share a target.
    static func calls(of attack: String) -> [(target: String, calls: [String])] {
        func each(_ methods: [String: [String]]) -> [(target: String, calls: [String])] {
            methods.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        }
        func all(_ methods: [String: [String]]) -> (target: String, calls: [String]) {
            ("all of it", each(methods).flatMap(\.calls))
        }
        func calls(of members: [String]) -> [String] {
            methods.values.joined()
                .filter { call in members.contains { call.contains("\($0) ") } }
        }
        switch attack {
        case "leaving":
            let pending = ["Authentication1 Evaluate", "Authentication1 CanEvaluate", "Search"]
            return [("what is pending", calls(of: pending))]
        case "dictionaries":
            return [(attack, calls(of: ["Authentication1 Evaluate", "Search"]))]
        case "strangers": return [(attack, calls(of: ["Authentication1 Evaluate"]))]
        case "agents": return [(attack, [])]
        // No bus throttles messages of closed connections, and a debug build reads that interface's
        // dictionaries slowly. `make test-system` has a release build.
        case "dying" where !isNightly:
            return [all(methods.filter { $0.key != Keychain1Interface.description.name })]
        // Only calls on contexts show which contexts are reached.
        case "random" where !isNightly:
            let contexts = methods.filter { $0.key == Context1Interface.description.name }
            return each(contexts) + [all(methods.filter { contexts[$0.key] == nil })]
        default: return isNightly ? each(methods) : [all(methods)]
        }
    }

    /// The minimum duration per target: at night ten minutes of random calls in total.
    private static func leastTime(of attack: String) -> Duration {
        guard isNightly, attack == "random" else { return .zero }
        return .seconds(600) / methods.count
    }

    /// Whether random calls on contexts found contexts, which are also released and created anew.
    private static func reachesContexts(_ told: String) -> Bool {
        let shares = told.split(separator: "\n")
            .compactMap { line -> Double? in
                // Few calls prove nothing.
                guard let ended = Double(line.prefix(while: \.isNumber)), ended >= 256 else {
                    return nil
                }
                let missed = line.firstMatch(of: /UnknownObject (\d+)/).flatMap { Double($0.1) }
                return (missed ?? 0) / ended
            }
        return !shares.isEmpty && shares.allSatisfy { $0 < 0.7 }
    }

    @Test(
        "L21: During an attack by three users, another user's evaluations end as usual",
        arguments: HostileNeighbourTests.attacks
    )
    @BusActor
    func attack(_ attack: String) async throws {
        let person = try await Person()
        if attack == "leaving" { try await person.giveOthersMuchToFind() }
        let usual = try await person.usesTheService(3)
        print("undisturbed: \(usual)")
        for (target, calls) in Self.calls(of: attack) {
            let what = "\(attack) on \(target)"
            do {
                let uses = try await person.usesTheService(
                    beside: attack,
                    calls,
                    for: Self.leastTime(of: attack)
                )
                print("\(what): \(uses)")
                if attack == "random" { print(person.told) }
                if attack == "random", target == Context1Interface.description.name {
                    #expect(Self.reachesContexts(person.told), "\(person.told)")
                }
            } catch {
                let report: Comment =
                    "\(what): \(error); \(person.daemon.errors); \(person.told)"
                guard let known = Self.known[attack], error is Disturbance else {
                    Issue.record(report)
                    continue
                }
                withKnownIssue(known) { Issue.record(report) }
            }
        }
        if attack == "leaving" { try await person.seesOthersFind() }
        if attack == "agents" { try await person.seesOthersBePrompted() }
        await person.leave()
    }
}

/// A failed use during an attack, though the service runs and works afterwards.
private struct Disturbance: Error, CustomStringConvertible {
    let description: String
}

/// A user with a finger, a password and an agent, on an installed service.
@BusActor
private final class Person {
    let system: InstalledSystem
    let daemon: ChildProcess
    private let sensor: ChildProcess
    private let agent: ScriptedAgent
    private let verifier: ScriptedVerifier
    /// A service on this bus that only the test calls.
    private let plain: Connection
    /// Repeats the random calls of an earlier run.
    private static let seed =
        getenv("LOCALAUTH_SEED").flatMap { UInt64(String(cString: $0)) }
        ?? UInt64.random(in: 0...UInt64.max)
    /// The neighbours' complaints in the last attack, and their seed.
    private(set) var told = ""

    init() async throws {
        system = try await InstalledSystem()
        plain = try system.connect()
        try plain.requestName(InstalledSystem.otherService)
        verifier = try ScriptedVerifier(try system.connect())
        // Without logind, the user needs a bus without sessions.
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

    /// Uses the service while three others attack it; leaves nothing of them.
    ///
    /// - Throws: `Disturbance` when an evaluation does not end as usual.
    func usesTheService(
        beside attack: String,
        _ calls: [String],
        for time: Duration
    ) async throws -> String {
        let descriptors = try descriptors()
        var seeds = SeededGenerator(Self.seed)
        var neighbours: [ChildProcess] = []
        for user in HostileNeighbourTests.users {
            let neighbour = try ChildProcess(
                ["HostileNeighbour", system.site.folder + "/bus", user, attack],
                environment: ["LOCALAUTH_SEED": "\(seeds.next())"],
                hasStream: true
            )
            for call in calls { neighbour.tell(call) }
            neighbour.tell("")
            neighbours.append(neighbour)
        }
        let outcome: Result<String, any Error>
        do {
            for (user, neighbour) in zip(HostileNeighbourTests.users, neighbours) {
                // Detached, because the scripted verifier runs on this loop.
                let line = try await Task.detached { try neighbour.line() }.value
                try expect(line == "attacks", "\(user) said \(line ?? "nothing")")
            }
            // The cost of departing clients accumulates, and random effects come late.
            let usual = HostileNeighbourTests.isNightly ? 10 : 6
            let isLong = ["leaving", "random"].contains(attack)
            outcome = .success(try await usesTheService(isLong ? 3 * usual : usual, for: time))
        } catch {
            outcome = .failure(error)
        }
        told = "LOCALAUTH_SEED=\(Self.seed) is all of them:\n"
        told += neighbours.map(\.errors).joined()
        #expect(daemon.isRunning, "\(told)")
        for neighbour in neighbours {
            #expect(neighbour.isRunning, "\(told)")
            await neighbour.end()
        }
        try await eventually("their descriptors to be closed") {
            try self.descriptors() <= descriptors
        }
        if HostileNeighbourTests.known[attack] != nil {
            // The bus may still hold messages of the neighbours ahead of this call.
            _ = try await agent.manager.canEvaluate(policy: 1, timeout: .seconds(120))
        }
        _ = try await usesTheService(1)
        do {
            return try outcome.get()
        } catch {
            throw Disturbance(description: "\(error)")
        }
    }

    /// Descriptors of the service that came from other processes, or represent them.
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

    /// Calls to the plain service that take as long as a use of the service, which makes ten or
    /// twenty calls.
    private static let callsOfUse = 40
    /// The extra time a use may take.
    ///
    /// L21 demands a second, which is not met: see docs/security/risks.md.
    private static let patience = Duration.seconds(10)

    /// The duration above which a call is late.
    ///
    /// A sensor has two seconds for a reply that takes several calls.
    private static let lateness = Duration.milliseconds(200)

    /// Uses the service `count` times and at least for `time`; returns the durations.
    ///
    /// Compares with a plain service, which suffers from the slow machine and the flooded bus too.
    ///
    /// - Throws: When a use takes much longer than the plain service.
    func usesTheService(_ count: Int, for time: Duration = .zero) async throws -> String {
        let began = ContinuousClock.now
        var (times, tries, plainCall): ([Duration], Int, Duration) = ([], 0, .zero)
        slowestCall = .zero
        let watch = onLoop {
            while !Task.isCancelled {
                let time = (try? await self.callsPlainService()) ?? .zero
                self.slowestCall = max(self.slowestCall, time)
                await pause(.milliseconds(20))
            }
        }
        defer { watch.cancel() }
        while times.count < count || .now - began < time {
            tries += 1
            let start = ContinuousClock.now
            do {
                try await usesTheService()
                times.append(.now - start)
            } catch {
                // While every call is late, the service may consider the sensor lost. No other
                // failure is allowed.
                let isLost = losses > knownLosses
                knownLosses = losses
                guard isLost, slowestCall > Self.lateness, tries < count + times.count else {
                    throw error
                }
                try await eventually("a usable sensor", within: .seconds(120)) {
                    try await self.agent.manager.canEvaluate(policy: 1).code == 0
                }
            }
            plainCall = max(plainCall, try await callsPlainService(10))
        }
        let most = Self.patience + plainCall * Self.callsOfUse
        let range = times.sorted().map { "\(Int($0 / .milliseconds(1)))" }
        let beside = """
            \(times.count) uses, \(range[0]) to \(range[times.count - 1]) ms each; a call of \
            another service \(plainCall)
            """
        try expect(times.allSatisfy { $0 <= most }, "it takes too long: \(beside)")
        return beside
    }

    /// The number of times the service considered the sensor lost.
    private var losses: Int { daemon.errors.ranges(of: "audit: sensor-failed").count }
    /// The losses that explain earlier failures.
    private var knownLosses = 0
    /// The longest call to the plain service during the last uses.
    private var slowestCall = Duration.zero

    /// The duration of `count` calls to the plain service.
    private func callsPlainService(_ count: Int = 1) async throws -> Duration {
        let start = ContinuousClock.now
        for _ in 0..<count {
            _ = try await agent.connection.call(
                to: InstalledSystem.otherService,
                path: TestDaemon.root,
                interface: "org.freedesktop.DBus.Peer",
                member: "Ping",
                timeout: .seconds(60)
            )
        }
        return (.now - start) / count
    }

    private func keychain(_ connection: Connection) -> Keychain1Proxy {
        Keychain1Proxy(
            connection,
            destination: TestDaemon.name,
            path: ObjectPath(trusted: "/org/localauth/Keychain1")
        )
    }

    /// Evaluates with a touch; then adds, reads and deletes a secret.
    private func usesTheService() async throws {
        let availability = try await agent.manager.canEvaluate(policy: 1)
        try expect(availability.code == 0, "can't evaluate: \(availability.message)")
        try await simulated.queue(outcomes: ["match"])
        let result = try await agent.manager.evaluate(
            policy: 1,
            reason: "open the vault",
            options: ["timeout": .uint64(60_000)],
            timeout: .seconds(90)
        )
        try expect(result["mechanism"] == .string("biometry"), "\(result)")
        let keychain = keychain(agent.connection)
        let id = try await keychain.add(
            attributes: ["class": .string("genp"), "acct": .string("me")],
            secret: Array("secret".utf8),
            accessControl: [:],
            options: [:]
        )
        try expect(try await keychain.search(query: [:], options: [:]).count == 1, "not kept")
        try expect(try await keychain.delete(ids: [id]) == 1, "not forgotten")
    }

    // MARK: - The others

    /// Adds items for each neighbour, so that its Search returns half a megabyte.
    func giveOthersMuchToFind() async throws {
        for user in HostileNeighbourTests.users {
            let connection = try Connection(.address(system.address(as: user)))
            let keychain = keychain(connection)
            let text = Variant.string(String(repeating: "a", count: 4000))
            for number in 0..<64 {
                _ = try await keychain.add(
                    attributes: [
                        "class": .string("genp"), "acct": .string("\(number)"), "labl": text,
                        "desc": text,
                    ],
                    secret: Array("secret".utf8),
                    accessControl: [:],
                    options: [:]
                )
            }
            connection.close()
        }
    }

    /// Searches as each neighbour: leftovers of an attack must not count against it.
    func seesOthersFind() async throws {
        for user in HostileNeighbourTests.users {
            let connection = try Connection(.address(system.address(as: user)))
            let found = try await keychain(connection).search(query: [:], options: [:])
            try expect(found.count == 64, "\(user) finds \(found.count)")
            connection.close()
        }
    }

    /// Prompts each neighbour: no prompt slot may be lost.
    func seesOthersBePrompted() async throws {
        for user in HostileNeighbourTests.users {
            let agent = ScriptedAgent(try Connection(.address(system.address(as: user))))
            agent.will(.cancel)
            try await eventually("the last agent to be gone") {
                (try? await agent.register()) != nil
            }
            // The shares of closed connections are returned shortly afterwards.
            var refusal = "nothing"
            try await eventually("a prompt of \(user) instead of \(refusal)") {
                do throws(DBusError) {
                    _ = try await agent.manager.evaluate(
                        policy: 2,
                        reason: "open the vault",
                        options: [:],
                        timeout: .seconds(60)
                    )
                } catch {
                    refusal = "\(error)"
                }
                return agent.count == 1
            }
            agent.connection.close()
        }
    }

    func leave() async {
        plain.close()
        await sensor.end()
        await daemon.end()
        agent.connection.close()
    }
}
