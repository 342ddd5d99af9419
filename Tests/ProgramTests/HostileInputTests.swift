import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// The daemon answers any input, and the next call as usual.
@Suite("Hostile input", .timeLimit(.minutes(10)))
struct HostileInputTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    /// A value of each basic type, and of the containers in the interfaces.
    static let samples: [Variant] = [
        .bool(true), .uint8(7), .int16(-7), .uint16(7), .int32(-7), .uint32(7), .int64(-7),
        .uint64(7), .double(0.5), .string("seven"), .objectPath(TestDaemon.root), .bytes([7]),
        .strings(["seven"]), .dictionary(["seven": .bool(true)]), .variant(.uint32(7)),
    ]

    /// The complete types of a signature, in order; supports the types used in `dbus/`.
    static func types(_ signature: String) -> [String] {
        var types: [String] = []
        var type = ""
        var depth = 0
        for letter in signature {
            type.append(letter)
            if letter == "(" || letter == "{" { depth += 1 }
            if letter == ")" || letter == "}" { depth -= 1 }
            if depth == 0, letter != "a" {
                types.append(type)
                type = ""
            }
        }
        return types
    }

    static func plausible(_ type: String) throws -> Variant {
        switch type {
        case "a{sv}": .dictionary([:])
        case "as": .strings([])
        case "ay": .bytes([])
        default: try #require(samples.first { $0.signature == type })
        }
    }

    @BusActor
    private func isStillThere(_ client: Connection) async throws {
        let manager = Authentication1Proxy(
            client,
            destination: TestDaemon.name,
            path: TestDaemon.root
        )
        let answer = try await manager.canEvaluate(policy: 2)
        #expect(answer.code == -5 && !answer.available)
    }

    /// Whether a call was refused for its arguments' types, rather than their values.
    static func isForTypes(_ error: DBusError?) -> Bool {
        guard let error, error.name == .invalidArgs else { return false }
        return error.message.hasPrefix("The arguments are '")
    }

    @Test("L16: Every method refuses every argument of a wrong type")
    @BusActor
    func wrongTypes() async throws {
        let bus = try PrivateBus()
        let daemon = try await TestDaemon(on: bus)
        let sensor = try await daemon.startSensor()
        let client = try bus.connect()
        let manager = daemon.manager(client)
        let context = try await manager.createContext(properties: [:])
        let objects: [(ObjectPath, InterfaceDescription)] = [
            (TestDaemon.root, Authentication1Interface.description),
            (context, Context1Interface.description),
            (
                ObjectPath(unchecked: TestDaemon.root.rawValue + "/sensor/Simulated"),
                Device1Interface.description
            ),
            (ObjectPath(unchecked: "/org/localauth/Keychain1"), Keychain1Interface.description),
            (SensorHost1.path, SensorHost1Interface.description),
        ]
        var count = 0
        for (path, interface) in objects {
            for (name, method) in interface.methods.sorted(by: { $0.key < $1.key }) {
                let types = Self.types(method.input)
                for position in types.indices {
                    for wrong in Self.samples where wrong.signature != types[position] {
                        var arguments = try types.map(Self.plausible)
                        arguments[position] = wrong
                        let error = await client.error(
                            of: name,
                            on: interface.name,
                            at: path,
                            arguments
                        )
                        #expect(
                            Self.isForTypes(error),
                            "\(name), \(wrong.signature) as argument \(position): \(error as Any)"
                        )
                        count += 1
                    }
                }
                let more = try types.map(Self.plausible) + [.bool(true)]
                let error = await client.error(of: name, on: interface.name, at: path, more)
                #expect(Self.isForTypes(error), "\(name) with one more")
            }
        }
        #expect(count > 300)
        try await isStillThere(client)
        #expect(daemon.process.isRunning && sensor.isRunning)
    }

    @Test(
        "L16: Unknown properties, objects and members are errors with specific names"
    )
    @BusActor
    func unknownThings() async throws {
        let bus = try PrivateBus()
        let daemon = try await TestDaemon(on: bus)
        let client = try bus.connect()
        let properties = "org.freedesktop.DBus.Properties"
        let calls: [(String, String, ObjectPath, [Variant], DBusError.Name)] = [
            ("Nothing", TestDaemon.name, TestDaemon.root, [], .unknownMethod),
            (
                "CanEvaluate", "org.localauth.Nothing1", TestDaemon.root, [.uint32(1)],
                .unknownInterface
            ),
            (
                "CanEvaluate", TestDaemon.name, ObjectPath(unchecked: "/nowhere"), [.uint32(1)],
                .unknownObject
            ),
            (
                "Get", properties, TestDaemon.root, [.string(TestDaemon.name), .string("Nothing")],
                .unknownProperty
            ),
            (
                "Set", properties, TestDaemon.root,
                [.string(TestDaemon.name), .string("Version"), .variant(.string("9"))],
                .propertyReadOnly
            ),
        ]
        for (member, interface, path, arguments, expected) in calls {
            let error = await client.errorName(of: member, on: interface, at: path, arguments)
            #expect(error == expected.rawValue, "\(interface).\(member) at \(path.rawValue)")
        }
        try await isStillThere(client)
        #expect(daemon.process.isRunning)
    }

    @Test("L16: Huge strings, deep variants, NaN durations and unknown options get a reply")
    @BusActor
    func extremes() async throws {
        let bus = try PrivateBus()
        let daemon = try await TestDaemon(on: bus)
        let client = try bus.connect()
        let manager = daemon.manager(client)
        let context = try await manager.createContext(properties: [:])
        var deep = Variant.uint32(1)
        for _ in 0..<40 { deep = .variant(deep) }
        let huge = String(repeating: "x", count: 1 << 20)
        let reasons: [Variant] = [.string(""), .string(" \u{200B}\u{202E}"), .string(huge)]
        let invalid = DBusError.Name.invalidArgs.rawValue
        for reason in reasons {
            let error = await client.errorName(
                of: "Evaluate",
                on: TestDaemon.name,
                at: TestDaemon.root,
                [.uint32(1), reason, .dictionary([:])]
            )
            #expect(error == invalid)
        }
        let options: [[String: Variant]] = [
            ["reuse-duration": .double(.nan)], ["reuse-duration": .double(.infinity)],
            ["reuse-duration": .double(-1)], ["timeout": .uint64(.max)], ["timeout": .string("x")],
            ["sensors": .uint32(1)], ["minimum-strength": .string("divine")],
        ]
        for option in options {
            let error = await client.errorName(
                of: "Evaluate",
                on: TestDaemon.name,
                at: TestDaemon.root,
                [.uint32(1), .string("open"), .dictionary(option)]
            )
            #expect(error == invalid, "\(option)")
        }
        let duration = await client.errorName(
            of: "Set",
            on: "org.freedesktop.DBus.Properties",
            at: context,
            [.string("org.localauth.Context1"), .string("ReuseDuration"), .variant(.double(.nan))]
        )
        #expect(duration == invalid)
        // Unknown options are ignored, even with odd values. The evaluation itself is refused.
        for odd in [Variant.string("x"), .dictionary(["y": .uint8(1)]), .bytes([0])] {
            let error = await client.errorName(
                of: "Evaluate",
                on: TestDaemon.name,
                at: TestDaemon.root,
                [.uint32(1), .string("open"), .dictionary(["no-such-option": odd])]
            )
            #expect(error == "org.localauth.Error.BiometryNotAvailable")
        }
        let nested = await client.errorName(
            of: "Evaluate",
            on: TestDaemon.name,
            at: TestDaemon.root,
            [.uint32(1), .string("open"), .dictionary(["no-such-option": deep])]
        )
        #expect(nested == invalid)
        try await isStillThere(client)
        #expect(daemon.process.isRunning)
    }
}
