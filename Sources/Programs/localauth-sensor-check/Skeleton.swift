import ArgumentParser
import BusBench
import DBus
import Glibc
import LocalAuthBus

/// A sensor to start from, with the files that its installation needs.
struct Skeleton {
    enum Language: String, CaseIterable, ExpressibleByArgument {
        case python
        case c
        case swift
        case rust
    }

    private static let taken = ["face", "fido2", "fingerprint", "simulated"]

    private let name: String
    private let language: Language

    ///
    /// - Throws: When the name can't end a bus name or a user name.
    init(_ name: String, _ language: Language) throws {
        let isName = name.wholeMatch(of: /[A-Za-z][A-Za-z0-9]{0,19}/) != nil
        guard isName else {
            throw ValidationError(
                "“\(name)” can't be a sensor's name: a letter, then at most 19 letters and "
                    + "digits."
            )
        }
        // A sensor with this name would replace the files of the bundled sensor.
        guard !Self.taken.contains(name.lowercased()) else {
            throw ValidationError("“\(name)” is the name of a sensor of localauth.")
        }
        self.name = name
        self.language = language
    }

    /// Writes a folder with the sensor's name, which must not exist.
    func write() throws {
        guard mkdir(name, 0o755) == 0 else {
            throw TestFailure("\(name): \(String(cString: strerror(errno)))")
        }
        for folder in folders {
            guard mkdir("\(name)/\(folder)", 0o755) == 0 else {
                throw TestFailure("\(name)/\(folder): \(String(cString: strerror(errno)))")
            }
        }
        for (file, text) in files {
            let isProgram = file == program
            try TemporaryFolder.write("\(name)/\(file)", text.utf8, mode: isProgram ? 0o755 : 0o644)
        }
        let (check, install) = ("make -C \(name) check", "sudo make -C \(name) install")
        print("\(name): “\(check)” checks it, “\(install)” installs it.")
    }

    /// The file that is checked and installed.
    private var program: String {
        switch language {
        case .python: "sensor.py"
        case .c: "sensor"
        case .swift: ".build/release/\(name)"
        case .rust: "target/release/\(lower)"
        }
    }
    private var folders: [String] {
        switch language {
        case .python, .c: []
        case .swift: ["Sources", "Sources/\(name)"]
        case .rust: ["src"]
        }
    }
    private var lower: String { name.lowercased() }

    private var files: [(String, String)] {
        let bus = "org.localauth.Sensor1.\(name)"
        let common = [
            ("\(name).conf", text(PackageResources.description_conf)),
            ("\(bus).conf", text(PackageResources.policy_conf)),
            ("\(bus).service", text(PackageResources.activation_service)),
            ("localauth-sensor-\(lower).service", text(PackageResources.unit_service)),
            ("sysusers.conf", text(PackageResources.sysusers_conf)),
            ("70-localauth-\(lower).rules", text(PackageResources.udev_rules)),
            ("Makefile", text(PackageResources.Makefile)),
        ]
        switch language {
        case .python:
            let interface = "<node>\n\(Sensor1Interface.description.introspection)\n</node>\n"
            return common + [
                ("sensor.py", text(PackageResources.sensor_py)),
                ("org.localauth.Sensor1.xml", interface),
            ]
        case .c: return common + [("sensor.c", text(PackageResources.sensor_c_txt))]
        case .swift:
            return common + [
                ("Package.swift", text(PackageResources.package_swift_txt)),
                ("Sources/\(name)/main.swift", text(PackageResources.sensor_swift_txt)),
            ]
        case .rust:
            return common + [
                ("Cargo.toml", text(PackageResources.cargo_toml_txt)),
                ("src/main.rs", text(PackageResources.sensor_rs_txt)),
            ]
        }
    }

    private func text(_ bytes: [UInt8]) -> String {
        let file = program.split(separator: "/").last.map(String.init) ?? program
        return String(decoding: bytes, as: UTF8.self)
            .replacing("Doorbell", with: name)
            .replacing("doorbell", with: lower)
            .replacing("PROGRAM := sensor", with: "PROGRAM := \(program)")
            .replacing("/PROGRAM ", with: "/\(file) ")
    }
}
