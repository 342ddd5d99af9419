import CameraDevice
import SensorKit
import Testing

@testable import FaceSensor
@testable import ServiceProgram
@testable import localauth_sensor_face

@Suite struct FaceSettingsTests {
    private func settings(_ flags: [String]) throws -> FaceSettings {
        let values = ["camera": "/dev/video63", "state-directory": "/nowhere"]
        return try FaceSettings(ProgramArguments(values: values, flags: Set(flags)))
    }

    @Test(
        "Only --attention refuses closed eyes, and only --infrared checks liveness",
        arguments: [
            [], ["infrared"], ["attention"], ["infrared", "attention"], ["strict"],
        ]
    )
    func scanner(_ flags: [String]) throws {
        let settings = try settings(flags)
        let scanner = try FaceWorkshop(settings).scanner()
        #expect(scanner.requiresLiveness == flags.contains("infrared"))
        #expect(scanner.asksForAttention == flags.contains("attention"))
        #expect(settings.threshold == (flags.contains("strict") ? .strict : .ordinary))
    }

    @Test("Only a camera that reports infrared, with --infrared, is strong")
    func strength() throws {
        for (flags, isStrong) in [([], false), (["infrared"], true)] as [([String], Bool)] {
            let settings = try settings(flags)
            #expect(settings.strength(saysInfrared: false) == .convenience)
            let strength = settings.strength(saysInfrared: true)
            #expect(strength == (isStrong ? .strong : .convenience))
            // The configured camera does not exist.
            #expect(settings.strength == .convenience)
        }
    }

    @Test("With --infrared only grey pictures are accepted, otherwise all formats")
    func formats() throws {
        let (any, infrared) = (try settings([]), try settings(["infrared"]))
        for format in PixelFormat.allCases {
            #expect(any.accepts(format: format))
            #expect(infrared.accepts(format: format) == (format == .grey), "\(format)")
        }
    }
}
