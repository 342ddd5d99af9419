import AuthEngine
import Contract
import DBus
import Testing

@testable import AuthService

@Suite("Options of Evaluate")
struct EvaluateOptionsTests {
    @Test("Without options the timeout is 120 s and all other options are unset")
    func defaults() throws {
        let options = try EvaluateOptions([:])
        #expect(options.timeout == .seconds(120))
        #expect(options.fallbackTitle == nil)
        #expect(options.sensors == nil)
        #expect(options.minimumStrength == nil)
    }

    @Test("A timeout of 0 is the default, a timeout over 600 s is malformed")
    func timeouts() throws {
        #expect(try EvaluateOptions(["timeout": .uint64(0)]).timeout == .seconds(120))
        #expect(try EvaluateOptions(["timeout": .uint64(600_000)]).timeout == .seconds(600))
        #expect(throws: (any Error).self) { try EvaluateOptions(["timeout": .uint64(600_001)]) }
        #expect(throws: (any Error).self) { try EvaluateOptions(["timeout": .uint64(.max)]) }
    }

    @Test(
        "A negative, infinite or NaN duration is malformed",
        arguments: [-1.0, .infinity, -.infinity, .nan]
    )
    func durations(_ seconds: Double) {
        #expect(throws: (any Error).self) {
            try EvaluateOptions(["reuse-duration": .double(seconds)])
        }
    }

    @Test(
        "A known option of a wrong type is malformed",
        arguments: [
            "timeout", "fallback-title", "cancel-title", "interaction-not-allowed",
            "reuse-duration",
            "sensors", "minimum-strength", "require-confirmation", "parent-window",
            "activation-token", "uid",
        ]
    )
    func wrongTypes(_ name: String) {
        #expect(throws: (any Error).self) { try EvaluateOptions([name: .int16(1)]) }
    }

    @Test("An unknown option is ignored, whatever its value")
    func unknown() throws {
        _ = try EvaluateOptions(["x-later": .dictionary(["a": .variant(.int16(1))])])
    }

    @Test("More than 64 sensors, and a token over 4096 bytes, are malformed")
    func lengths() throws {
        func sensors(_ count: Int) -> [String: Variant] {
            ["sensors": .strings((0..<count).map { "sensor\($0)" })]
        }
        #expect(try EvaluateOptions(sensors(64)).sensors?.count == 64)
        #expect(throws: (any Error).self) { try EvaluateOptions(sensors(65)) }
        for name in ["parent-window", "activation-token"] {
            let longest = String(repeating: "x", count: 4096)
            _ = try EvaluateOptions([name: .string(longest)])
            let longer = [name: Variant.string(longest + "x")]
            #expect(throws: (any Error).self) { try EvaluateOptions(longer) }
        }
    }

    @Test("R20: a reason must not be blank, nor longer than 64 KiB")
    func reasons() throws {
        #expect(try Checked.reason("to pay") == "to pay")
        for reason in ["", " ", "\n\t", "\u{200B}", "\u{202E}"] {
            let error = #expect(throws: DBusError.self) { try Checked.reason(reason) }
            #expect(error?.name == .invalidArgs, "\(reason)")
        }
        _ = try Checked.reason(String(repeating: "x", count: 65_536))
        #expect(throws: (any Error).self) {
            try Checked.reason(String(repeating: "x", count: 65_537))
        }
    }

    @Test("An unknown strength is malformed")
    func strength() throws {
        #expect(try EvaluateOptions(["minimum-strength": .string("weak")]).minimumStrength == .weak)
        #expect(throws: (any Error).self) {
            try EvaluateOptions(["minimum-strength": .string("gigantic")])
        }
    }
}
