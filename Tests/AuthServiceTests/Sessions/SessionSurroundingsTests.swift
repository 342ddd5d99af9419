import AuthEngine
import DBus
import LocalAuthBus
import Testing

@testable import AuthService

@Suite("Effects of the machine on its sensors")
struct SessionSurroundingsTests {
    @Test("L4: during sleep no sensor can be used, not even companions")
    func suspended() {
        let surroundings = Surroundings(isSuspended: true, isLidClosed: true)
        for type in BiometryType.allCases {
            #expect(surroundings.unavailability(of: SensorProperties(type: type)) == .suspended)
        }
    }

    @Test("L3: a sensor is under the lid unless it denies this or the machine is docked")
    func lid() {
        let finger = SensorProperties(type: .fingerprint)
        var inside = finger
        inside.isBuiltIn = true
        var outside = finger
        outside.isBuiltIn = false
        let closed = Surroundings(isLidClosed: true)
        let docked = Surroundings(isLidClosed: true, isDocked: true)
        #expect(closed.unavailability(of: finger) == .lidClosed)
        #expect(closed.unavailability(of: inside) == .lidClosed)
        #expect(closed.unavailability(of: outside) == nil)
        #expect(closed.unavailability(of: SensorProperties(type: .none)) == nil)
        #expect(docked.unavailability(of: finger) == nil)
        #expect(docked.unavailability(of: inside) == .lidClosed)
        #expect(Surroundings().unavailability(of: inside) == nil)
    }

    @Test("BuiltIn must be a Boolean, otherwise the sensor is at fault")
    func builtIn() {
        var properties = SensorProperties()
        let refused = properties.update(["BuiltIn": .bool(false)])
        #expect(refused == nil && properties.isBuiltIn == false)
        let fault = properties.update(["BuiltIn": .string("no")])
        #expect(fault == "BuiltIn")
    }

    @Test("Instructions must be texts by language, otherwise the sensor is at fault")
    func instructions() {
        var properties = SensorProperties()
        let many = (0..<65).map { ("l\($0)", "Do it") }
        for wrong: Variant in [
            .string("Do it"), .dictionary(["en": .string("Do it")]),
            .texts(Dictionary(uniqueKeysWithValues: many)),
            .texts(["a-language-without-end": "Do it"]), .texts(["": "Do it"]),
        ] {
            #expect(properties.update(["Instructions": wrong]) == "Instructions")
            #expect(properties.instructions.isEmpty)
        }
        let few = Variant.texts(Dictionary(uniqueKeysWithValues: many.prefix(64)))
        #expect(properties.update(["Instructions": few]) == nil)
        #expect(properties.instructions.count == 64)
        // An empty dictionary clears the earlier instructions.
        #expect(properties.update(["Instructions": .texts([:])]) == nil)
        #expect(properties.instructions.isEmpty)
    }

    @Test("A session requires all important properties with their types")
    func session() {
        let user = Variant.structure([
            .uint32(1000), .objectPath(ObjectPath(trusted: "/org/freedesktop/login1/user/_1000")),
        ])
        let whole: [String: Variant] = [
            "Id": .string("c1"), "User": user, "Remote": .bool(false), "Active": .bool(true),
            "LockedHint": .bool(false), "State": .string("active"),
        ]
        #expect(LoginSession(whole)?.isInFront == true)
        for name in ["Id", "User", "Remote", "Active", "LockedHint"] {
            var part = whole
            part[name] = nil
            #expect(LoginSession(part) == nil)
            part[name] = .int16(1)
            #expect(LoginSession(part) == nil)
        }
        var graphical = whole
        graphical["Type"] = .string("wayland")
        graphical["TTY"] = .string("tty2")
        // Where a program's output appears, by its terminal.
        let places: [(terminal: String?, graphical: Bool, text: Bool)] = [
            ("tty2", true, true), ("", true, false), ("pts/0", false, false), (nil, false, false),
        ]
        var text = graphical
        text["Type"] = .string("tty")
        for place in places {
            let shown = LoginSession(graphical)?.shows(onTerminal: place.terminal)
            #expect(shown == place.graphical)
            #expect(LoginSession(text)?.shows(onTerminal: place.terminal) == place.text)
        }
        // Device numbers as in /proc: 4:2, 136:7, 136:300 and a serial line.
        let names = [0x402, 0x8807, 0x10_882C, 0x440, 0]
            .map {
                ProcessStatus.name(ofTerminal: UInt32($0))
            }
        #expect(names == ["tty2", "pts/7", "pts/300", nil, ""])
        var closing = whole
        closing["State"] = .string("closing")
        #expect(LoginSession(closing)?.isInFront == false)
    }
}
