import DBus
import Foundation
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// The shipped bus policy on a dbus-daemon, walked through as everybody: who may own what, and who
/// may say what to whom.
@Suite("Bus policy", .timeLimit(.minutes(10)), .enabled(if: geteuid() == 0))
struct PolicyTests {
    private static let sensors = ["Face", "Fido2", "Fingerprint", "Simulated"]
    /// A machine may have several.
    private static let readers = (2...4).map { "Fingerprint\($0)" }
    private static let daemon = "org.localauth.Authentication1"
    private static let verifier = "org.localauth.Passcode1"

    /// Those that send signals, or could; a sensor's are the last.
    private static let parts = [
        "SensorHost1", "SimulatedSensor1", "Agent1", "Passcode1", "Sensor1",
    ]

    private static func sensorName(_ sensor: String) -> String { "org.localauth.Sensor1." + sensor }
    private static func user(of sensor: String) -> String { "localauth-" + sensor.lowercased() }

    private static let people =
        ["root", "localauth", InstalledSystem.nobody] + sensors.map(user(of:))

    /// Who may own a name, beside root.
    private static let owners =
        [daemon: "localauth", verifier: "", sensorName("Forged"): ""]
        .merging(sensors.map { (sensorName($0), user(of: $0)) }) { $1 }
        .merging(readers.map { (sensorName($0), user(of: "Fingerprint")) }) { $1 }
        .merging([(sensorName("Fingerprint5"), ""), (sensorName("Face2"), "")]) { $1 }

    @Test("L24: each name has one user beside root, and the verifier's has none")
    func names() async throws {
        let system = try await InstalledSystem()
        #expect(system.complaints.isEmpty, "\(system.complaints)")
        for person in Self.people {
            for (name, owner) in Self.owners {
                let taken = try await system.call(
                    as: person,
                    [
                        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                        "RequestName", "su", name, "4",
                    ]
                )
                let isAllowed = person == "root" || person == owner
                #expect((taken.status == 0) == isAllowed, "\(person), \(name): \(taken.output)")
                guard !isAllowed else { continue }
                #expect(taken.output.contains("Access denied"), "\(taken.output)")
            }
        }
    }

    /// What may be called on a name, and who may.
    private static func callers(of interface: String, at name: String) -> Set<String> {
        let isSensor = name.hasPrefix("org.localauth.Sensor1.")
        let readable: Set = [
            "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.Introspectable",
            "org.freedesktop.DBus.Peer",
        ]
        switch (interface, name) {
        case ("org.localauth.SensorHost1", daemon): return Set(["root"] + sensors.map(user(of:)))
        case ("org.localauth.Authentication1", daemon), ("org.localauth.Context1", daemon),
            ("org.localauth.Device1", daemon), ("org.localauth.Keychain1", daemon),
            ("org.freedesktop.DBus.ObjectManager", daemon):
            return Set(people)
        case (_, daemon) where readable.contains(interface): return Set(people)
        // They may talk to the verifier, whatever the interface.
        case (_, verifier): return ["localauth", "root"]
        // An agent is somebody's connection: the policy can't know whose.
        case ("org.localauth.Sensor1", _), ("org.localauth.Agent1", _):
            return ["localauth", "root"]
        case ("org.localauth.SimulatedSensor1", sensorName("Simulated")): return ["root"]
        // The simulated sensor's own file lets everybody look at it.
        case (_, sensorName("Simulated")) where readable.contains(interface): return Set(people)
        case ("org.freedesktop.DBus.Properties", _) where isSensor: return ["localauth"]
        case ("org.freedesktop.DBus.Peer", _) where isSensor: return ["localauth"]
        default: return []
        }
    }

    /// One member of each interface; of those with rules for members, one that is named there.
    private static let members = [
        "org.localauth.Authentication1": "Invalidate", "org.localauth.Context1": "Invalidate",
        "org.localauth.Device1": "CancelEnroll", "org.localauth.Keychain1": "Search",
        "org.localauth.Sensor1": "Health", "org.localauth.SensorHost1": "NoMatch",
        "org.localauth.SimulatedSensor1": "Reset", "org.localauth.Passcode1": "IsSet",
        "org.localauth.Agent1": "Begin",
        "org.freedesktop.DBus.ObjectManager": "GetManagedObjects",
        "org.freedesktop.DBus.Properties": "GetAll", "org.freedesktop.DBus.Peer": "Ping",
        "org.freedesktop.DBus.Introspectable": "Introspect",
    ]

    @Test("Every interface of the project is one of those that are walked")
    func interfaces() throws {
        let folder = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "dbus")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let names = files.filter { $0.hasSuffix(".xml") }.map { $0.dropLast(".xml".count) }
        #expect(Set(names.map(String.init)).isSubset(of: Self.members.keys))
    }

    @Test("L24: each interface is called by those who have to, and by nobody else")
    func calls() async throws {
        let system = try await InstalledSystem()
        let names = [Self.daemon, Self.verifier] + Self.sensors.map(Self.sensorName)
        let owners = try await Self.own(names, on: system)
        for person in Self.people {
            for name in names {
                for (interface, member) in Self.members {
                    let said = try await system.call(as: person, [name, "/", interface, member])
                    let isRefused = said.output.contains("Access denied")
                    let isAllowed = Self.callers(of: interface, at: name).contains(person)
                    let what = "\(person), \(name), \(interface): \(said.output)"
                    #expect(isRefused == !isAllowed, "\(what)")
                }
            }
        }
        for owner in owners { await owner.close() }
    }

    /// One connection for each name, without an object: whatever reaches it is answered with
    /// UnknownObject.
    @BusActor private static func own(
        _ names: [String],
        on system: InstalledSystem
    ) throws -> [Connection] {
        try names.map { name in
            let owner = try system.connect()
            try owner.requestName(name)
            return owner
        }
    }

    @Test("L11b: the verifier's news reach the service, and nobody else can send such a signal")
    @BusActor func news() async throws {
        let system = try await InstalledSystem()
        let verifier = try system.connect()
        let other = try Connection(.address(system.address(as: InstalledSystem.nobody)))
        defer { for connection in [verifier, other] { connection.close() } }
        let service = try Connection(.address(system.address(as: "localauth")))
        defer { service.close() }
        let heard = Witness<UInt32>()
        for sender in [other, verifier] {
            let name = sender.uniqueName
            let proxy = Passcode1Proxy(service, destination: name, path: Passcode1.path)
            _ = proxy.onChanged { heard.record($0) }
        }
        // The bus has taken the matches when it answers.
        _ = try await service.nameOwner(Self.daemon)
        for (number, sender) in [other, verifier].enumerated() {
            let signals = Passcode1Signals(sender, path: Passcode1.path)
            signals.changed(uid: UInt32(number))
            signals.changed(uid: UInt32(number), to: service.uniqueName)
            // What it was sent before this, the bus has handed over or refused.
            _ = try await sender.nameOwner(Self.daemon)
        }
        try await eventually("the verifier's news") { heard.seen.count >= 2 }
        #expect(heard.seen == [1, 1])
    }

    @Test("L24: signals of a part come from nobody else")
    @BusActor func signalsOfParts() async throws {
        let system = try await InstalledSystem()
        let root = try system.connect()
        let listener = try system.connect()
        var senders = [("root", root)]
        for person in Self.sensors.map(Self.user(of:)) + [InstalledSystem.nobody] {
            senders.insert((person, try Connection(.address(system.address(as: person)))), at: 0)
        }
        defer { for connection in [listener] + senders.map({ $0.1 }) { connection.close() } }
        for part in Self.parts {
            let interface = "org.localauth." + part
            let heard = Witness<String>()
            for (_, sender) in senders {
                _ = listener.subscribe(
                    sender: sender.uniqueName,
                    path: nil,
                    interface: interface,
                    member: nil,
                    broadcast: true
                ) { heard.record($0.sender ?? "") }
            }
            // The bus has taken the matches when it answers.
            _ = try? await listener.nameOwner(Self.daemon)
            for (_, sender) in senders {
                sender.emit(path: TestDaemon.root, interface: interface, member: "Event")
                _ = try? await sender.nameOwner(Self.daemon)
            }
            try await eventually("root's signal") { heard.seen.contains(root.uniqueName) }
            let allowed = senders.filter { person, _ in
                person == "root" || part == "Sensor1" && person != InstalledSystem.nobody
            }
            let names = Set(allowed.map { $0.1.uniqueName })
            #expect(Set(heard.seen) == names, "\(part)")
        }
    }

    @Test("L16: an answer that nobody has asked for isn't handed over")
    func unrequestedAnswers() async throws {
        let system = try await InstalledSystem()
        let (receiver, sender) = (try RawClient(system.address), try RawClient(system.address))
        defer { for client in [receiver, sender] { client.hangUp() } }
        let forged = [UInt8]("\u{6}\0\0\0forged\0".utf8)
        let interface = "org.example.Nothing1"
        try sender.send(
            .answer,
            to: receiver.name,
            interface: interface,
            member: "Answer",
            signature: "s",
            body: forged
        )
        // A signal may name its receiver, who isn't one of ours.
        try sender.send(.signal, to: receiver.name, interface: interface, member: "Afterwards")
        let received = try receiver.receive(until: "Afterwards")
        #expect(!received.contains("forged"))
    }

    @Test("L21: the bus hands no descriptor to a method")
    func descriptors() async throws {
        let system = try await InstalledSystem()
        let owners = try await Self.own([Self.daemon], on: system)
        let file = try #require(OwnedDescriptor.open("/dev/null", O_RDONLY))
        let daemon = Self.daemon
        for (interface, member) in Self.members
        where Self.callers(of: interface, at: daemon).contains(InstalledSystem.nobody) {
            for count in [0, 1] {
                let client = try RawClient(system.address)
                defer { client.hangUp() }
                try client.send(
                    to: daemon,
                    interface: interface,
                    member: member,
                    descriptor: file,
                    count: count
                )
                // Some are answered without an error: the next one never is.
                try client.send(to: daemon, interface: daemon, member: "Nothing")
                let isRefused = count > 0
                let received = try client.receive(until: "org.freedesktop.DBus.Error.")
                let what = "\(interface), \(count): \(received)"
                #expect(received.contains("AccessDenied") == isRefused, "\(what)")
            }
        }
        for owner in owners { await owner.close() }
    }

    @Test("L24: calls without an interface reach other services, and no part of this one")
    func withoutInterface() async throws {
        let system = try await InstalledSystem()
        let parts = [Self.daemon] + Self.sensors.map(Self.sensorName)
        let names = parts + [Self.verifier, InstalledSystem.otherService]
        let owners = try await Self.own(names, on: system)
        // Root and the service may say anything to the verifier.
        for name in names where name != Self.verifier {
            let client = try RawClient(system.address)
            defer { client.hangUp() }
            try Self.sendWithoutInterface(client, to: name)
        }
        for person in [InstalledSystem.nobody] + Self.sensors.map(Self.user(of:)) {
            for name in names {
                let (client, bridge) = try system.rawClient(as: person)
                defer { withExtendedLifetime(bridge) { client.hangUp() } }
                try Self.sendWithoutInterface(client, to: name)
            }
        }
        for owner in owners { await owner.close() }
    }

    /// Whatever is delivered is answered with UnknownObject, or UnknownMethod.
    private static func sendWithoutInterface(_ client: RawClient, to name: String) throws {
        try client.send(to: name, interface: nil, member: "Nothing")
        let isOurs = name != InstalledSystem.otherService
        _ = try client.receive(until: isOurs ? "Error.AccessDenied" : "Error.Unknown")
    }

    @Test("L21: nobody fills the queue of a part of the service with signals")
    @BusActor func signals() async throws {
        let system = try await InstalledSystem()
        let root = try system.connect()
        let senders =
            try ([InstalledSystem.nobody] + Self.sensors.map(Self.user(of:)))
            .map { try Connection(.address(system.address(as: $0))) } + [root]
        let names =
            [Self.daemon, Self.verifier] + (Self.sensors + Self.readers).map(Self.sensorName)
        let owners = try Self.own(names, on: system)
        defer { for connection in owners + senders { connection.close() } }
        for (name, owner) in zip(names, owners) {
            let heard = Witness<String>()
            for sender in senders {
                _ = owner.subscribe(
                    sender: sender.uniqueName,
                    path: nil,
                    interface: "org.example.Nothing1",
                    member: nil,
                    broadcast: false
                ) { heard.record($0.sender ?? "") }
            }
            for sender in senders {
                sender.emit(
                    path: TestDaemon.root,
                    interface: "org.example.Nothing1",
                    member: "Happened",
                    to: owner.uniqueName
                )
                // What it was sent before this, the bus has handed over or refused.
                _ = try await sender.nameOwner(name)
            }
            try await eventually("root's signal") { heard.seen.contains(root.uniqueName) }
            #expect(heard.seen == [root.uniqueName], "\(name)")
        }
    }

    @Test("L21: the service may ask the bus what of its answers is unread, and others may not")
    func statistics() async throws {
        let system = try await InstalledSystem()
        for person in Self.people where person != "root" {
            let said = try await system.call(
                as: person,
                [
                    "org.freedesktop.DBus", "/org/freedesktop/DBus",
                    "org.freedesktop.DBus.Debug.Stats", "GetConnectionStats", "s",
                    "org.localauth.No",
                ]
            )
            let isRefused = said.output.contains("Access denied")
            #expect(isRefused == (person != "localauth"), "\(person): \(said.output)")
        }
    }

    @Test("L24: of what isn't its own the service may see and count things, and change nothing")
    func service() async throws {
        let system = try await InstalledSystem()
        let (sensor, bus) = (Self.sensorName("Face"), "org.freedesktop.DBus")
        let owners = try await Self.own([sensor], on: system)
        let others = ["Get", "Set", "GetMachineId", "GetStats", "GetAllMatchRules", "Introspect"]
        for (name, path, interface, members) in [
            (sensor, "/", "Properties", ["GetAll", "Get", "Set"]),
            (sensor, "/", "Peer", ["Ping", "GetMachineId"]),
            (sensor, "/", "Introspectable", ["Introspect"]),
            (
                bus, "/org/freedesktop/DBus", "Debug.Stats",
                ["GetConnectionStats", "GetStats", "GetAllMatchRules"]
            ),
        ] {
            for member in members {
                let call = [name, path, "org.freedesktop.DBus.\(interface)", member]
                let said = try await system.call(as: "localauth", call)
                let isRefused = said.output.contains("Access denied")
                #expect(isRefused == others.contains(member), "\(member): \(said.output)")
            }
        }
        for owner in owners { await owner.close() }
    }

    @Test("A bus accepts the policy: the service gets its name, and everybody may call it")
    func start() async throws {
        let system = try await InstalledSystem()
        let daemon = try await system.startDaemon()
        let asked = try await system.call(as: InstalledSystem.nobody, InstalledSystem.canEvaluate)
        #expect(asked.status == 0, "\(asked.output)")
        daemon.signal(SIGTERM)
        #expect(try await daemon.exitStatus() == 0, "\(daemon.errors)")
    }
}
