import Foundation
import Testing

/// Checks that the project's own sensors and prompts use no more than other authors can.
@Suite("Sensors and prompts of the project") struct AuthorTests {
    /// Each program's additional dependencies, beside the libraries of localauth-dev.
    ///
    /// Authors bring their own hardware and window code.
    private static let programs: [String: Set<String>] = [
        "localauth-sensor-simulated": [],
        "localauth-sensor-fingerprint": ["Fingerprint", "Linux"],
        "localauth-sensor-face": ["CameraDevice", "FaceSensor", "Linux"],
        "localauth-sensor-fido2": ["Linux", "SecurityKey"],
        // C code that Swift cannot express, and the texts of the project's windows.
        "localauth-agent": ["CAdwaita", "CLinux", "Localization", "Windows"],
    ]

    /// The libraries in localauth-dev.
    private static func libraries(_ files: [SourceFile]) throws -> Set<String> {
        let script = try #require(files.first { $0.path == "scripts/client-package" })
        let text = script.lines.joined(separator: "\n")
        let list = try #require(text.firstMatch(of: /LIBRARIES = \[([^\]]*)\]/)).output.1
        return Set(list.matches(of: /"([A-Za-z]+)"/).map { String($0.output.1) })
    }

    @Test("Sensors and prompts use the libraries for authors and their own hardware code")
    func dependencies() throws {
        let files = try Project.files()
        let libraries = try Self.libraries(files)
        #expect(libraries.isSuperset(of: ["AgentKit", "DBus", "LocalAuthBus", "SensorKit"]))
        let manifest = Manifest(try #require(files.first { $0.path == "Package.swift" }))
        for (name, own) in Self.programs {
            let target = try #require(manifest.targets.first { $0.name == name })
            let others = Set(target.dependencies.map(\.name)).subtracting(libraries)
            #expect(others == own, "\(name)")
        }
        let sensors = manifest.targets.map(\.name).filter { $0.hasPrefix("localauth-sensor-") }
        #expect(
            Set(sensors).subtracting(["localauth-sensor-check"]).isSubset(of: Self.programs.keys)
        )
    }

    @Test("The compiler keeps package-internal code from the simulated sensor")
    func sensors() throws {
        let files = try Project.files()
        let manifest = try #require(files.first { $0.path == "Package.swift" })
        let text = manifest.lines.joined(separator: "\n")
        let start = try #require(
            text.firstRange(of: "            name: \"localauth-sensor-simulated\",")
        )
        let target = try #require(
            text[start.upperBound...].split(separator: "\n        ),").first
        )
        #expect(target.hasSuffix("packageAccess: false"))
    }

    @Test("The window prompt uses no package-internal code of the libraries")
    func prompt() throws {
        let files = try Project.files().filter { !$0.isGenerated }
        let libraries = try Self.libraries(files)
        let declared = files.filter { libraries.contains($0.target ?? "") }
            .flatMap { file in
                file.code.compactMap { line in
                    line.firstMatch(
                        of: /^package (?:[a-z]+ )*(?:func|class|struct|enum|protocol|let|var) (\w+)/
                    )?
                    .output.1
                }
            }
        let names = Set(declared.map(String.init))
        #expect(names.count > 10 && names.contains("serviceText"))
        for file in files where file.target == "localauth-agent" {
            for (index, line) in file.code.enumerated() {
                let words = line.split { !$0.isLetter && !$0.isNumber }.map(String.init)
                for word in words where names.contains(word) {
                    Issue.record("\(file.offence(index, "\(word) is internal"))")
                }
            }
        }
    }
}
