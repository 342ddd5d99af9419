import Glibc
import SensorContract
import TestSupport
import Testing

/// Tests of the skeletons for new sensors.
@Suite(.timeLimit(.minutes(30)))
struct SkeletonTests {
    private static let languages = ["python", "c", "swift", "rust"]
    private static let project = #filePath.split(separator: "/").dropLast(3)
        .reduce("") { "\($0)/\($1)" }

    private static func new(_ name: String, _ language: String) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let words = [
            "/bin/sh", "-c", "cd \"$1\" && exec \"$2\" --new \"$3\" --language \"$4\"", "sh",
            folder.path, ChildProcess.folder + "/localauth-sensor-check", name, language,
        ]
        let ended = try ChildProcess.run(words)
        try expect(ended.status == 0, ended.errors)
        return folder
    }

    private static func text(_ path: String) throws -> String {
        String(decoding: try TemporaryFolder.read(path), as: UTF8.self)
    }

    /// The folder of crates from Debian packages.
    private static let crates = "/usr/share/cargo/registry"

    /// Debian's crates, and the crate of localauth-dev as packaged.
    private static func crates(in folder: TemporaryFolder) throws -> String {
        let place = folder.path + "/crates"
        let words = [
            "/bin/sh", "-ec",
            """
            mkdir "$1"
            ln -s "$2"/* "$1"
            exec "$3/scripts/sensor-crate" "$1"
            """,
            "sh", place, crates, project,
        ]
        let ended = try ChildProcess.run(words)
        try expect(ended.status == 0, ended.errors)
        return place
    }

    @Test("A new sensor passes the check unchanged", arguments: ["python", "c"])
    func check(_ language: String) async throws {
        try await check(language, ["CPPFLAGS": "-I\(Self.project)/examples/sensors/c"])
    }

    @Test(
        "A new sensor in Rust passes the check unchanged",
        .enabled(if: access(crates, F_OK) == 0, "cargo and librust-dbus-dev are not here")
    )
    func rust() async throws {
        let folder = try TemporaryFolder()
        let cargo = folder.path + "/cargo"
        let crates = try Self.crates(in: folder)
        // Skip optimization: answers stay equal, and compilation takes half the time.
        let variables = [
            "MAKEFLAGS": "CRATES=\(crates)", "CARGO_HOME": cargo,
            "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
        ]
        try await check("rust", variables)
    }

    private func check(_ language: String, _ variables: [String: String]) async throws {
        let folder = try Self.new("AcmePalm", language)
        let path = [
            "PATH": ChildProcess.folder + ":/usr/bin:/bin", "CHECKFLAGS": "--patience 20",
        ]
        let make = try ChildProcess(
            ["/usr/bin/make", "-C", folder.path + "/AcmePalm", "check"],
            environment: variables.merging(path) { own, _ in own }
        )
        let ended = try await make.ended(within: .seconds(1200))
        #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
        #expect(ended.output.contains("org.localauth.Sensor1.AcmePalm: AcmePalm"))
        #expect(ended.output.contains(" checks hold, 0 don't, 0 do not apply"))
    }

    @Test(
        "A new sensor has few lines: 120, in C 240, in Python with the whole protocol 270",
        arguments: [
            ("python", ["sensor.py"]), ("c", ["sensor.c"]),
            ("swift", ["Package.swift", "Sources/AcmePalm/main.swift"]),
            ("rust", ["Cargo.toml", "src/main.rs"]),
        ]
    )
    func length(_ language: String, _ files: [String]) throws {
        let folder = try Self.new("AcmePalm", language)
        let lines = try files.map { file in
            try Self.text(folder.path + "/AcmePalm/" + file).split(separator: "\n").count
        }
        let limit = ["python": 270, "c": 240][language] ?? 120
        #expect(lines.reduce(0, +) <= limit)
    }

    @Test("A new sensor in Swift has less than 60 lines besides imports")
    func swift() throws {
        let folder = try Self.new("AcmePalm", "swift")
        let text = try Self.text(folder.path + "/AcmePalm/Sources/AcmePalm/main.swift")
        let lines = text.split(separator: "\n")
            .filter { line in
                !line.hasPrefix("import") && !line.hasPrefix("///")
            }
        #expect(lines.count < 60 && text.contains("\"AcmePalm\"") && !text.contains("oorbell"))
        let manifest = try Self.text(folder.path + "/AcmePalm/Package.swift")
        #expect(manifest.contains("/usr/share/localauth/swift"))
    }

    @Test("A new sensor is installed with user, name, trust and sandbox", arguments: languages)
    func installation(_ language: String) throws {
        let folder = try Self.new("AcmePalm", language)
        // This package builds the Swift example; test-packages builds the new sensor.
        let built = folder.path + "/AcmePalm/.build/release"
        let copy = "mkdir -p \(built) && cp \(ChildProcess.folder)/Doorbell \(built)/AcmePalm"
        if language == "swift" { _ = try ChildProcess.run(["/bin/sh", "-c", copy]) }
        // Imitate Cargo's result, which the test above covers.
        let made =
            "cd \(folder.path)/AcmePalm && mkdir -p target/release && "
            + "cp src/main.rs target/release/acmepalm"
        if language == "rust" { _ = try ChildProcess.run(["/bin/sh", "-c", made]) }
        let root = folder.path + "/root"
        let words = ["-C", folder.path + "/AcmePalm", "install", "DESTDIR=\(root)"]
        let variables = ["CPPFLAGS": "-I\(Self.project)/examples/sensors/c"]
        let ended = try ChildProcess.run(["/usr/bin/make"] + words, environment: variables)
        try #require(ended.status == 0, "\(ended.errors)")
        let share = root + "/usr/share"
        let trust = try Self.text(share + "/localauth/sensors/AcmePalm.conf")
        #expect(trust.contains("[Sensor]\nUser=localauth-acmepalm\nStrength=convenience\n"))
        let name = "org.localauth.Sensor1.AcmePalm"
        let policy = try Self.text(share + "/dbus-1/system.d/\(name).conf")
        let owner = "<policy user=\"localauth-acmepalm\">"
        #expect(policy.contains("\(owner)\n    <allow own=\"\(name)\"/>"))
        let activation = try Self.text(share + "/dbus-1/system-services/\(name).service")
        #expect(activation.contains("\nSystemdService=localauth-sensor-acmepalm.service\n"))
        // No device is granted until the author names it.
        let device = try Self.text(root + "/usr/lib/udev/rules.d/70-localauth-acmepalm.rules")
        #expect(device.contains("GROUP=\"localauth-acmepalm\""))
        #expect(device.split(separator: "\n").allSatisfy { $0.hasPrefix("#") })
        let user = try Self.text(root + "/usr/lib/sysusers.d/localauth-acmepalm.conf")
        #expect(user.contains("\nu localauth-acmepalm - "))
        try unit(root)
    }

    /// Checks that the unit has the simulated sensor's sandbox and names an existing program.
    private func unit(_ root: String) throws {
        let path = root + "/usr/lib/systemd/system/localauth-sensor-acmepalm.service"
        let unit = try Self.text(path)
        let ours = "/dbus/systemd/system/localauth-sensor-simulated.service"
        let lines = try Self.text(Self.project + ours).split(separator: "\n").map(String.init)
        let sandbox = lines.drop { $0 != "LimitCORE=0" }.filter { !$0.hasPrefix("#") }
        #expect(sandbox.count > 30)
        for line in sandbox { #expect(unit.contains("\n\(line)\n"), "\(line)") }
        let start = try #require(unit.firstMatch(of: /\nExecStart=(\S+) --bus system\n/))
        let program = try TemporaryFolder.read(root + String(start.1))
        #expect(!program.isEmpty)
        #expect(unit.contains("\nUser=localauth-acmepalm\n"))
    }

    @Test("An existing folder is left alone, and an invalid name is refused")
    func refusals() throws {
        let folder = try Self.new("AcmePalm", "python")
        let again = try ChildProcess.run([
            "/bin/sh", "-c", "cd \"$1\" && exec \"$2\" --new AcmePalm", "sh", folder.path,
            ChildProcess.folder + "/localauth-sensor-check",
        ])
        #expect(again.status == 1 && again.errors.contains("File exists"), "\(again)")
        for name in ["", "../up", "Acme Palm", "9", "A;b", String(repeating: "x", count: 21)]
            + ["Fingerprint", "FACE", "fido2", "Simulated"]
        {
            let words = ["localauth-sensor-check", "--new", name]
            let ended = try ChildProcess.run(words)
            #expect(ended.status == 64, "\(name): \(ended.errors)")
        }
    }
}
