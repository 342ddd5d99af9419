import AuthEngine
import Contract
import DBus
import Glibc
import TestSupport
import Testing

@testable import AuthService

/// Files that describe which programs may be sensors.
struct SensorDescriptionTests {
    private let folder: TemporaryFolder
    private let descriptions: SensorDescriptions

    init() throws {
        EventLoop.shared.startThread()
        folder = try TemporaryFolder()
        folder.make("etc")
        folder.make("usr")
        descriptions = SensorDescriptions(folders: ["\(folder.path)/etc", "\(folder.path)/usr"])
    }

    @BusActor private func trust(_ text: String) throws -> SensorTrust {
        try folder.write("usr/Palm.conf", text.utf8)
        return descriptions.trust(in: "Palm")
    }

    @Test("L24: omitted keys have the lowest trust: root and convenience")
    @BusActor func defaults() throws {
        #expect(try trust("") == .granted(uids: [0], strength: .convenience))
        #expect(try trust("[Sensor]\n# nothing\n") == .granted(uids: [0], strength: .convenience))
        #expect(
            try trust("[Sensor]\nUser = nobody\nStrength=weak\n")
                == .granted(uids: [65_534], strength: .weak)
        )
        #expect(try trust("[Sensor]\nUser=1234") == .granted(uids: [1234], strength: .convenience))
    }

    @Test(
        "L24: a mistake refuses the sensor, and is reported with file, line and key",
        arguments: [
            ("Strength=strong", "1: Strength stands before any [Section]."),
            ("[Sensors]", "1: [Sensors] is no section here; there are [Sensor]."),
            ("[Sensor]\nName=x", "2: Name is no key of [Sensor]; there are User, Strength."),
            (
                "[Sensor]\nStrength=Strong",
                "2: Strength=Strong is not allowed; it takes strong, weak, convenience."
            ),
            (
                "[Sensor]\nUser=no such user",
                "2: User=no such user is not allowed; it takes a user of this system."
            ),
            ("[Sensor]\nUser=", "2: User= is not allowed; it takes a user of this system."),
            (
                "[Sensor]\nUser=4294967295",
                "2: User=4294967295 is not allowed; it takes a user of this system."
            ),
            ("[Sensor]\nUser=0\nUser=1", "3: User was set in line 2 already."),
        ]
    )
    @BusActor func mistakes(_ text: String, _ told: String) throws {
        #expect(try trust(text) == .refused("\(folder.path)/usr/Palm.conf:\(told)"))
    }

    @Test("L24: an administrator's file hides the package's file, even if invalid")
    @BusActor func precedence() throws {
        #expect(
            descriptions.trust(in: "Palm")
                == .refused("There is no file \(folder.path)/usr/Palm.conf.")
        )
        try folder.write("usr/Palm.conf", "[Sensor]\nStrength=strong\n".utf8)
        try folder.write("etc/Palm.conf", "[Sensor]\nStrength=weak\n".utf8)
        #expect(descriptions.trust(in: "Palm") == .granted(uids: [0], strength: .weak))
        for target in ["/dev/null", "/nowhere", "\(folder.path)/usr"] {
            unlink("\(folder.path)/etc/Palm.conf")
            try folder.link("etc/Palm.conf", to: target)
            guard case .refused(let reason) = descriptions.trust(in: "Palm") else {
                Issue.record("\(target)")
                continue
            }
            #expect(reason.hasPrefix("\(folder.path)/etc/Palm.conf: "), "\(reason)")
        }
    }

    @Test("L24: a second sensor of a program has the trust of the first, unless a file exists")
    @BusActor func numbered() throws {
        let first = try trust("[Sensor]\nStrength=strong\n")
        for name in ["Palm2", "Palm9"] { #expect(descriptions.trust(in: name) == first) }
        for name in ["Palm1", "Palm0", "Palm10", "Palm22", "2Palm", "Palmtop", "2"] {
            guard case .refused(let reason) = descriptions.trust(in: name) else {
                Issue.record("\(name)")
                continue
            }
            #expect(reason.contains("/\(name).conf"), "\(reason)")
        }
        try folder.write("etc/Palm2.conf", "[Sensor]\nStrength=weak\n".utf8)
        #expect(descriptions.trust(in: "Palm2") == .granted(uids: [0], strength: .weak))
    }
}
