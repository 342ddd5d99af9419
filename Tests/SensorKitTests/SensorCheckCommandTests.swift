import Foundation
import TestSupport
import Testing

/// Runs `localauth-sensor-check` as an author does, on the Python example.
@Suite(.timeLimit(.minutes(10)))
struct SensorCheckCommandTests {
    private static let examples =
        #filePath.split(separator: "/").dropLast(3)
        .reduce("") { "\($0)/\($1)" } + "/examples/sensors"
    private static let interface = "org.localauth.Sensor1.xml"

    private static func check(_ words: [String]) async throws -> ChildProcess.Ended {
        try await ChildProcess(["localauth-sensor-check"] + words).ended(within: .seconds(240))
    }

    /// The Python example with a fault.
    private static func folder(with fault: PlantedFault) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let python = examples + "/python/"
        try fault.plant(in: python + "sensor.py", into: folder, as: "sensor.py")
        try folder.write(interface, try TemporaryFolder.read(python + interface))
        return folder
    }

    private static func object(_ output: String) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(output.utf8))
        return try #require(object as? [String: Any])
    }

    @Test(
        "--patience extends the one-second limit on a busy machine",
        arguments: zip([[], ["--patience", "60"]], [1, 0])
    )
    func patience(_ options: [String], _ status: Int) async throws {
        let late = "signal.SIGTERM, lambda: GLib.timeout_add(3000, loop.quit)"
        let fault = PlantedFault("late", "signal.SIGTERM, loop.quit", late, "")
        let folder = try Self.folder(with: fault)
        let only = ["--only", "within a second while it is idle"]
        let ended = try await Self.check(
            options + only + ["/usr/bin/python3", folder.path + "/sensor.py"]
        )
        #expect(ended.status == Int32(status), "\(ended.output)\(ended.errors)")
    }

    @Test("A patience below one second or above ten minutes is a usage error")
    func wrongPatience() async throws {
        for patience in ["0.9", "601", "nan", "inf", "-1", "soon"] {
            let ended = try await Self.check(["--patience=\(patience)", "sensor"])
            #expect(ended.status == 64 && ended.errors.contains("--patience"), "\(ended.errors)")
        }
    }

    @Test("A sensor that cannot be measured still gets its summary, which says so")
    func broken() async throws {
        let fault = PlantedFault("no health", #"return "ok", """#, #"raise Fault("Failed")"#, "")
        let folder = try Self.folder(with: fault)
        let words = ["--json", "/usr/bin/python3", folder.path + "/sensor.py"]
        let ended = try await Self.check(words)
        #expect(ended.status == 1)
        #expect(ended.errors.contains("no latencies: "), "\(ended.errors)")
        let found = try Self.object(ended.output)
        let (passed, failed) = (found["passed"] as? Int, found["failed"] as? Int)
        #expect(try #require(failed) > 0 && #require(passed) > 0, "\(ended.output)")
        #expect((found["latency"] as? [Any])?.isEmpty == true)
    }

    @Test("The JSON report of a good sensor has every check and the latencies")
    func good() async throws {
        let words = [
            "--json", "--patience", "20", "/usr/bin/python3", Self.examples + "/python/sensor.py",
        ]
        let ended = try await Self.check(words)
        #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
        let found = try Self.object(ended.output)
        #expect(found["sensor"] as? String == "Doorbell")
        let checks = try #require(found["checks"] as? [[String: Any]])
        #expect(checks.count >= 50 && checks.count == found["passed"] as? Int)
        #expect(checks.allSatisfy { $0["result"] as? String == "passed" })
        let rows = try #require(found["latency"] as? [[String: Any]])
        let measured = rows.compactMap { $0["what"] as? String }
        #expect(measured.contains("Cancel, until Verify is answered") && measured.count == 8)
        #expect(rows.allSatisfy { $0["median"] is Double && $0["worst"] is Double })
    }

    @Test(
        "A run of some checks measures no latencies, and a sensor's own options may come first",
        arguments: ["python", "c"]
    )
    func some(_ language: String) async throws {
        let folder = try TemporaryFolder()
        var program = ["/usr/bin/python3", Self.examples + "/python/sensor.py"]
        if language == "c" {
            let built = try ChildProcess.run([
                "/bin/sh", "-c",
                """
                cc -x c -I"$1" "$1/sensor.c" -o "$2" $(pkg-config --cflags --libs libsystemd)
                """,
                "sh", Self.examples + "/c", folder.path + "/sensor",
            ])
            try #require(built.status == 0, "\(built.errors)")
            program = [folder.path + "/sensor"]
        }
        let ended = try await Self.check(["--only", "Health"] + program + ["--palm", "left"])
        #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
        #expect(ended.output.contains(" checks hold, 0 don't") && !ended.output.contains("Latency"))
    }
}
