import Foundation
import TestSupport
import Testing

@Suite("Installation", .timeLimit(.minutes(10)))
struct InstallTests {
    @Test("Each file is where its reader looks, below DESTDIR, without a simulated sensor")
    func files() async throws {
        let site = try await Installation(staged: "/usr")
        let files = try site.files()
        let expected: Set = [
            "usr/bin/localauthctl", "usr/libexec/localauth/localauthd",
            "usr/libexec/localauth/localauth-passcode",
            "usr/share/dbus-1/system.d/org.localauth.Authentication1.conf",
            "usr/share/dbus-1/system-services/org.localauth.Authentication1.service",
            "usr/share/dbus-1/system-services/org.localauth.Passcode1.service",
            "usr/include/localauth-sensor.h", "usr/include/localauth-prompt.h",
            "usr/share/dbus-1/interfaces/org.localauth.Authentication1.xml",
            "usr/lib/systemd/system/localauthd.service",
            "usr/lib/systemd/system/localauth-passcode.service",
            "usr/lib/systemd/system/localauth-master-key.service",
            "usr/lib/systemd/user/localauthd.service",
            "usr/lib/systemd/user/localauth-passcode.service",
            "usr/lib/systemd/catalog/localauth.catalog", "usr/lib/sysusers.d/localauth.conf",
            "usr/share/localauth/sensors/Fingerprint.conf",
            "usr/share/localauth/sensors/Face.conf", "usr/share/localauth/sensors/Fido2.conf",
            "usr/lib/udev/rules.d/70-localauth-fido2.rules",
            "etc/pam.d/localauth", "usr/share/locale/de/LC_MESSAGES/localauth.mo",
            "usr/share/locale/zh_CN/LC_MESSAGES/localauth.mo", "usr/share/man/man8/localauthd.8",
            "usr/share/man/man1/localauthctl.1", "usr/share/man/man5/localauth.conf.5",
            "usr/share/man/man5/localauth-sensors.5",
            "usr/share/man/man5/org.localauth.Authentication1.5",
            "usr/share/bash-completion/completions/localauthctl",
            "usr/share/zsh/vendor-completions/_localauthctl",
            "usr/share/fish/vendor_completions.d/localauthctl.fish",
            "usr/bin/localauth-sensor-check", "usr/share/man/man1/localauth-sensor-check.1",
            "usr/share/bash-completion/completions/localauth-sensor-check",
        ]
        #expect(expected.subtracting(files).isEmpty)
        // Only the documentation of its interface may be installed.
        let simulated = files.filter { $0.lowercased().contains("simulated") }
        #expect(
            simulated == [
                "usr/share/dbus-1/interfaces/org.localauth.SimulatedSensor1.xml",
                "usr/share/man/man5/org.localauth.SimulatedSensor1.5",
            ]
        )
        for file in files {
            let isProgram = file.hasPrefix("usr/bin/") || file.hasPrefix("usr/libexec/")
            let path = "\(site.folder)/\(file)"
            #expect(FileManager.default.isExecutableFile(atPath: path) == isProgram, "\(file)")
        }
    }

    @Test("With a prefix that the bus does not read, the policy goes to /etc")
    func otherPrefix() async throws {
        let site = try await Installation(staged: "/opt/localauth")
        let files = try site.files()
        #expect(files.contains("etc/dbus-1/system.d/org.localauth.Authentication1.conf"))
        // polkit reads no rules below another prefix either.
        #expect(files.contains("etc/polkit-1/rules.d/50-localauth-fingerprint.rules"))
        // The service reads no descriptions of sensors there either.
        #expect(files.contains("etc/localauth/sensors/Fingerprint.conf"))
        #expect(files.contains("opt/localauth/libexec/localauth/localauthd"))
        let unit = try site.text("opt/localauth/lib/systemd/system/localauthd.service")
        #expect(unit.contains("\nExecStart=/opt/localauth/libexec/localauth/localauthd "))
    }

    @Test("A second installation keeps an administrator's changes to PAM and sensors")
    func again() async throws {
        let site = try await Installation(staged: "/usr/local")
        let changed = ["etc/pam.d/localauth", "etc/localauth/sensors/Fingerprint.conf"]
        let texts = try changed.map(site.text)
        for file in changed {
            try Data("# another\n".utf8).write(to: URL(filePath: "\(site.folder)/\(file)"))
        }
        // The link to /dev/null distrusts the sensor permanently.
        let masked = "\(site.folder)/etc/localauth/sensors/Face.conf"
        try? FileManager.default.removeItem(atPath: masked)
        try FileManager.default.createSymbolicLink(
            atPath: masked,
            withDestinationPath: "/dev/null"
        )
        try await site.install(staged: "/usr/local")
        for (file, text) in zip(changed, texts) {
            #expect(try site.text(file) == "# another\n")
            #expect(try site.text(file + ".new") == text)
        }
        let destination = try FileManager.default.destinationOfSymbolicLink(atPath: masked)
        #expect(destination == "/dev/null")
    }

    @Test("Units and activation files name the installed files")
    func units() async throws {
        let site = try await Installation("install", "install-simulated")
        let files = try site.files()
        let units = files.filter { $0.contains("/systemd/") && $0.hasSuffix(".service") }
        #expect(units.count >= 6)
        for unit in units {
            let command = try #require(Installation.value("ExecStart", in: try site.text(unit)))
            let program = String(command.prefix { $0 != " " })
            // This unit only copies a file, with a system program.
            let isKey = unit.hasSuffix("/system/localauth-master-key.service")
            #expect(program.hasPrefix(isKey ? "/usr/bin/install" : site.folder + "/usr/libexec/"))
            #expect(FileManager.default.isExecutableFile(atPath: program), "\(unit): \(program)")
        }
        for service in files where service.contains("/system-services/") {
            let text = try site.text(service)
            let unit =
                "usr/lib/systemd/system/" + (Installation.value("SystemdService", in: text) ?? "")
            #expect(files.contains(unit), "\(service)")
            let started = try site.text(unit)
            #expect(
                Installation.value("BusName", in: started) == Installation.value("Name", in: text)
            )
            // A bus without systemd would start it outside its sandbox.
            #expect(Installation.value("Exec", in: text) == "/bin/false", "\(service)")
            let user = Installation.value("User", in: started) ?? "root"
            #expect(Installation.value("User", in: text) == user, "\(service)")
        }
    }

    private static let analyze = "/usr/bin/systemd-analyze"

    @Test(
        "systemd accepts the units",
        .enabled(if: FileManager.default.isExecutableFile(atPath: analyze), "needs \(analyze)")
    )
    func accepted() async throws {
        let site = try await Installation("install", "install-simulated")
        let units = try site.files().filter { $0.hasSuffix(".service") }
        let system = units.filter { $0.contains("/system/") }.map { "\(site.folder)/\($0)" }
        let said = try await Installation.run(Self.analyze, ["verify", "--man=no"] + system)
        #expect(!system.isEmpty)
        #expect(said.status == 0 && said.output.isEmpty, "\(said.output)")
    }

    @Test("localauthctl seals the key to the credential that systemd passes to the service")
    func sealedKey() async throws {
        let site = try await Installation("install")
        let folder = "usr/lib/systemd/system/"
        let unsealing = try site.text(folder + "localauth-master-key.service")
        let service = try site.text(folder + "localauthd.service")
        let name = "localauth.master-key"
        let place = try #require(Installation.value("ConditionPathExists", in: unsealing))
        #expect(place == "/etc/credstore.encrypted/" + name)
        let help = try await Installation.run(
            ChildProcess.folder + "/localauthctl",
            ["keychain", "init", "--help"]
        )
        #expect(help.output.contains("\(place))."), "\(help.output)")
        #expect(Installation.value("LoadCredentialEncrypted", in: unsealing) == name)
        let copied = "%d/\(name) /run/credstore/\(name)"
        #expect(Installation.value("ExecStart", in: unsealing)?.hasSuffix(" " + copied) == true)
        // A name without a path, so that the service starts even without this file.
        #expect(Installation.value("LoadCredential", in: service) == name)
        #expect(Installation.value("Wants", in: service) == "localauth-master-key.service")
        #expect(
            Installation.value("After", in: service)?.contains("localauth-master-key.service")
                == true
        )
    }

    @Test("Installed programs find their catalogues")
    func catalogues() async throws {
        let site = try await Installation("install")
        let said = try await Installation.run(
            "/usr/bin/env",
            ["LC_ALL=C.UTF-8", "LANGUAGE=de", "\(site.folder)/usr/bin/localauthctl", "--help"]
        )
        #expect(said.output.contains("Authentifiziert Benutzer"), "\(said.output)")
    }
}
