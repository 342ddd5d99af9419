import ArgumentParser
import BusBench
import DBus
import Glibc
import LocalAuthBus

/// A sensor to begin with, and all that an installation needs beside it.
struct Skeleton {
    /// What it is written in.
    enum Language: String, CaseIterable, ExpressibleByArgument {
        case python
        case c
        case swift
        case rust
    }

    private static let taken = ["face", "fido2", "fingerprint", "simulated"]

    private let name: String
    private let language: Language

    /// - Throws: When this can't be the last element of a bus name, or of a user's name.
    init(_ name: String, _ language: Language) throws {
        let isName = name.wholeMatch(of: /[A-Za-z][A-Za-z0-9]{0,19}/) != nil
        guard isName else {
            throw ValidationError(
                "“\(name)” can't be a sensor's name: a letter, then at most 19 letters and "
                    + "digits."
            )
        }
        // Its files would take the place of those of the sensor that has the name.
        guard !Self.taken.contains(name.lowercased()) else {
            throw ValidationError("“\(name)” is the name of a sensor that localauth brings.")
        }
        self.name = name
        self.language = language
    }

    /// Writes a folder of its name, which must not be there yet.
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

    /// What is checked and installed.
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

    /// The example with another name, and with its program.
    private func text(_ bytes: [UInt8]) -> String {
        let file = program.split(separator: "/").last.map(String.init) ?? program
        return String(decoding: bytes, as: UTF8.self)
            .replacing("Doorbell", with: name)
            .replacing("doorbell", with: lower)
            .replacing("PROGRAM := sensor", with: "PROGRAM := \(program)")
            .replacing("/PROGRAM ", with: "/\(file) ")
    }
}
