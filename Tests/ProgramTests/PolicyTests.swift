import DBus
import Foundation
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// Checks the shipped bus policy on a dbus-daemon as every user: the names that each may own,
/// and the calls that each may make.
@Suite("Bus policy", .timeLimit(.minutes(10)), .enabled(if: geteuid() == 0))
struct PolicyTests {
    private static let sensors = ["Face", "Fido2", "Fingerprint", "Simulated"]
    /// A machine may have several readers.
    private static let readers = (2...4).map { "Fingerprint\($0)" }
    private static let daemon = "org.localauth.Authentication1"
    private static let verifier = "org.localauth.Passcode1"

    /// Interfaces with signals, or possible signals; a sensor's interface comes last.
    private static let parts = [
        "SensorHost1", "SimulatedSensor1", "Agent1", "Passcode1", "Sensor1",
    ]

    private static func sensorName(_ sensor: String) -> String { "org.localauth.Sensor1." + sensor }
    private static func user(of sensor: String) -> String { "localauth-" + sensor.lowercased() }

    private static let people =
        ["root", "localauth", InstalledSystem.nobody] + sensors.map(user(of:))

    /// The user that may own a name, besides root.
    private static let owners =
        [daemon: "localauth", verifier: "", sensorName("Forged"): ""]
        .merging(sensors.map { (sensorName($0), user(of: $0)) }) { $1 }
        .merging(readers.map { (sensorName($0), user(of: "Fingerprint")) }) { $1 }
        .merging([(sensorName("Fingerprint5"), ""), (sensorName("Face2"), "")]) { $1 }

    @Test("L24: Besides root, each name has a single user, and the verifier's has none")
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

    /// The users that may call an interface on a name.
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
        // These users may call any interface of the verifier.
        case (_, verifier): return ["localauth", "root"]
        // The policy can't know an agent's connection.
        case ("org.localauth.Sensor1", _), ("org.localauth.Agent1", _):
            return ["localauth", "root"]
        case ("org.localauth.SimulatedSensor1", sensorName("Simulated")): return ["root"]
        // The simulated sensor's own file lets all users read its properties.
        case (_, sensorName("Simulated")) where readable.contains(interface): return Set(people)
        case ("org.freedesktop.DBus.Properties", _) where isSensor: return ["localauth"]
        case ("org.freedesktop.DBus.Peer", _) where isSensor: return ["localauth"]
        default: return []
        }
    }

    /// A member of each interface; if the policy has rules for members, a member named there.
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

    @Test("The test covers every interface of the project")
    func interfaces() throws {
        let folder = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "dbus")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let names = files.filter { $0.hasSuffix(".xml") }.map { $0.dropLast(".xml".count) }
        #expect(Set(names.map(String.init)).isSubset(of: Self.members.keys))
    }

    @Test("L24: Exactly the intended users can call each interface")
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

    /// Connects once per name, without objects, so that delivered calls get UnknownObject.
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

    @Test("L11b: The service receives the verifier's signals, and no other user can send them")
    @BusActor func news() async throws {
        let system = try await InstalledSystem()
        let verifier = try system.connect()
        let other = try Connection(.address(system.address(as: InstalledSystem.nobody)))
        defer { for connection in [verifier, other] { connection.close() } }
        let service = try Connection(.address(system.address(as: "localauth")))
        defer { service.close() }
        let heard = EventRecorder<UInt32>()
        for sender in [other, verifier] {
            let name = sender.uniqueName
            let proxy = Passcode1Proxy(service, destination: name, path: Passcode1.path)
            _ = proxy.onChanged { heard.record($0) }
        }
        // The bus has added the matches before it replies.
        _ = try await service.nameOwner(Self.daemon)
        for (number, sender) in [other, verifier].enumerated() {
            let signals = Passcode1Signals(sender, path: Passcode1.path)
            signals.changed(uid: UInt32(number))
            signals.changed(uid: UInt32(number), to: service.uniqueName)
            // The bus has delivered or refused the earlier messages before it replies.
            _ = try await sender.nameOwner(Self.daemon)
        }
        try await eventually("the verifier's news") { heard.seen.count >= 2 }
        #expect(heard.seen == [1, 1])
    }

    @Test("L24: Only a part's own user can send its signals")
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
            let heard = EventRecorder<String>()
            for (_, sender) in senders {
                _ = listener.subscribe(
                    sender: sender.uniqueName,
                    path: nil,
                    interface: interface,
                    member: nil,
                    broadcast: true
                ) { heard.record($0.sender ?? "") }
            }
            // The bus has added the matches before it replies.
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

    @Test("L16: The bus does not deliver an unrequested reply")
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
        // The policy allows signals to a receiver outside the project.
        try sender.send(.signal, to: receiver.name, interface: interface, member: "Afterwards")
        let received = try receiver.receive(until: "Afterwards")
        #expect(!received.contains("forged"))
    }

    @Test(
        "L21: The bus delivers no descriptor to a method",
        arguments: [(daemon, InstalledSystem.nobody), (sensorName("Simulated"), "root")]
    )
    func descriptors(_ name: String, _ person: String) async throws {
        let system = try await InstalledSystem()
        let owners = try await Self.own(Array(Set([Self.daemon, name])), on: system)
        let file = try #require(OwnedDescriptor.open("/dev/null", O_RDONLY))
        let daemon = Self.daemon
        // Every sensor's and agent's interface is open to root, without bounds.
        let open = ["org.localauth.Sensor1", "org.localauth.Agent1"]
        for (interface, member) in Self.members
        where Self.callers(of: interface, at: name).contains(person) && !open.contains(interface) {
            for count in [0, 1] {
                let client = try RawClient(system.address)
                defer { client.hangUp() }
                try client.send(
                    to: name,
                    interface: interface,
                    member: member,
                    descriptor: file,
                    count: count
                )
                // Some calls get no error, but the next call always does.
                try client.send(to: daemon, interface: daemon, member: "Nothing")
                let isRefused = count > 0
                let received = try client.receive(until: "org.freedesktop.DBus.Error.")
                let what = "\(interface), \(count): \(received)"
                #expect(received.contains("AccessDenied") == isRefused, "\(what)")
            }
        }
        for owner in owners { await owner.close() }
    }

    @Test("L21: The simulated sensor receives no call of a user but to read what it is")
    func simulated() async throws {
        let system = try await InstalledSystem()
        let name = Self.sensorName("Simulated")
        let owners = try await Self.own([name], on: system)
        for (interface, member) in [
            ("Properties", "Set"), ("Properties", "Nothing"), ("Introspectable", "Nothing"),
            ("Peer", "GetMachineId"),
        ] {
            let words = [name, "/", "org.freedesktop.DBus." + interface, member]
            let said = try await system.call(as: InstalledSystem.nobody, words)
            #expect(said.output.contains("Access denied"), "\(member): \(said.output)")
        }
        for owner in owners { await owner.close() }
    }

    @Test("L24: Calls without an interface reach other services, but no part of this service")
    func withoutInterface() async throws {
        let system = try await InstalledSystem()
        let parts = [Self.daemon] + Self.sensors.map(Self.sensorName)
        let names = parts + [Self.verifier, InstalledSystem.otherService]
        let owners = try await Self.own(names, on: system)
        // Root and the service may send anything to the verifier.
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

    /// Delivered calls get UnknownObject or UnknownMethod.
    private static func sendWithoutInterface(_ client: RawClient, to name: String) throws {
        try client.send(to: name, interface: nil, member: "Nothing")
        let isOurs = name != InstalledSystem.otherService
        _ = try client.receive(until: isOurs ? "Error.AccessDenied" : "Error.Unknown")
    }

    @Test("L21: Signals can't fill the queue of a part of the service")
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
            let heard = EventRecorder<String>()
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
                // The bus has delivered or refused the earlier messages before it replies.
                _ = try await sender.nameOwner(name)
            }
            try await eventually("root's signal") { heard.seen.contains(root.uniqueName) }
            #expect(heard.seen == [root.uniqueName], "\(name)")
        }
    }

    @Test("L21: Only the service may ask the bus how many bytes of its replies are unread")
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

    @Test("L24: The service may read and count foreign objects, but change nothing")
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

    @Test("The bus accepts the policy: the service gets its name, and all users may call it")
    func start() async throws {
        let system = try await InstalledSystem()
        let daemon = try await system.startDaemon()
        let asked = try await system.call(as: InstalledSystem.nobody, InstalledSystem.canEvaluate)
        #expect(asked.status == 0, "\(asked.output)")
        daemon.signal(SIGTERM)
        #expect(try await daemon.exitStatus() == 0, "\(daemon.errors)")
    }
}
