import CameraDevice
import SensorKit
import Testing

@testable import FaceSensor
@testable import ServiceProgram
@testable import localauth_sensor_face

/// What the words of the command line make of the sensor.
@Suite struct FaceSettingsTests {
    private func settings(_ flags: [String]) throws -> FaceSettings {
        let values = ["camera": "/dev/video63", "state-directory": "/nowhere"]
        return try FaceSettings(ProgramArguments(values: values, flags: Set(flags)))
    }

    @Test(
        "Closed eyes match with --no-attention alone; life is asked for with --infrared",
        arguments: [
            [], ["infrared"], ["no-attention"], ["infrared", "no-attention"], ["strict"],
        ]
    )
    func scanner(_ flags: [String]) throws {
        let settings = try settings(flags)
        let scanner = try FaceWorkshop(settings).scanner()
        #expect(scanner.asksForLife == flags.contains("infrared"))
        #expect(scanner.asksForAttention == !flags.contains("no-attention"))
        #expect(settings.threshold == (flags.contains("strict") ? .strict : .ordinary))
    }

    @Test("Strong is a camera that says it is infrared, and was asked to be, and no other")
    func strength() throws {
        for (flags, isStrong) in [([], false), (["infrared"], true)] as [([String], Bool)] {
            let settings = try settings(flags)
            #expect(settings.strength(saysInfrared: false) == .convenience)
            let strength = settings.strength(saysInfrared: true)
            #expect(strength == (isStrong ? .strong : .convenience))
            // That camera isn't there.
            #expect(settings.strength == .convenience)
        }
    }

    @Test("Of an infrared camera only grey pictures are taken, of another one any")
    func formats() throws {
        let (any, infrared) = (try settings([]), try settings(["infrared"]))
        for format in PixelFormat.allCases {
            #expect(any.takes(format))
            #expect(infrared.takes(format) == (format == .grey), "\(format)")
        }
    }
}
