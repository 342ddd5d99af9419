import Foundation
import TestSupport
import Testing

/// What `make install` leaves on a system.
@Suite("Installation", .timeLimit(.minutes(4)))
struct InstallTests {
    /// A folder for an installation; it goes with the object.
    private final class Site: Sendable {
        private let temporary: TemporaryFolder
        var folder: String { temporary.path }

        init() throws { temporary = try TemporaryFolder() }

        /// Every file below the folder.
        func files() throws -> Set<String> {
            let all = try FileManager.default.subpathsOfDirectory(atPath: folder)
            return Set(
                try all.filter { path in
                    let attributes = try FileManager.default
                        .attributesOfItem(atPath: "\(folder)/\(path)")
                    return attributes[.type] as? FileAttributeType == .typeRegular
                }
            )
        }

        func text(_ path: String) throws -> String {
            try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
        }
    }

    private static let project = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// Runs make with the programs beside the tests; its catalogues go to another folder.
    private func make(_ arguments: String...) async throws {
        let build = try TemporaryFolder()
        let words = [
            "--directory", Self.project, "BUILD=\(build.path)", "RELEASE=\(ChildProcess.folder)",
        ]
        let said = try await run("/usr/bin/make", words + arguments)
        #expect(said.status == 0, "\(said.output)")
    }

    /// Runs a program to its end.
    private func run(_ path: String, _ arguments: [String]) async throws -> ChildProcess.Ended {
        try await ChildProcess([path] + arguments, mergesErrors: true).ended(within: .seconds(120))
    }

    /// An installation whose paths are real: the prefix is a temporary folder.
    private func installed(_ targets: String...) async throws -> Site {
        let site = try Site()
        for target in targets {
            try await make(
                target,
                "PREFIX=\(site.folder)/usr",
                "PAMDIR=\(site.folder)/etc/pam.d",
                "POLICYDIR=\(site.folder)/usr/share/dbus-1/system.d",
                "POLKITDIR=\(site.folder)/usr/share/polkit-1/rules.d"
            )
        }
        return site
    }

    @Test("Each file is where its reader looks, below DESTDIR, and no simulated sensor")
    func files() async throws {
        let site = try Site()
        try await make("install", "DESTDIR=\(site.folder)", "PREFIX=/usr")
        let files = try site.files()
        let expected: Set = [
            "usr/bin/localauthctl", "usr/libexec/localauth/localauthd",
            "usr/libexec/localauth/localauth-passcode",
            "usr/share/dbus-1/system.d/org.localauth.Authentication1.conf",
            "usr/share/dbus-1/system-services/org.localauth.Authentication1.service",
            "usr/share/dbus-1/system-services/org.localauth.Passcode1.service",
            "usr/share/dbus-1/interfaces/org.localauth.Authentication1.xml",
            "usr/lib/systemd/system/localauthd.service",
            "usr/lib/systemd/system/localauth-passcode.service",
            "usr/lib/systemd/system/localauth-master-key.service",
            "usr/lib/systemd/user/localauthd.service",
            "usr/lib/systemd/user/localauth-passcode.service",
            "usr/lib/systemd/catalog/localauth.catalog", "usr/lib/sysusers.d/localauth.conf",
            "etc/pam.d/localauth", "usr/share/locale/de/LC_MESSAGES/localauth.mo",
            "usr/share/locale/zh_CN/LC_MESSAGES/localauth.mo", "usr/share/man/man8/localauthd.8",
            "usr/share/man/man1/localauthctl.1", "usr/share/man/man5/localauth.conf.5",
        ]
        #expect(expected.subtracting(files).isEmpty)
        // Its interface is documentation; nothing else of it may be there.
        let simulated = files.filter { $0.lowercased().contains("simulated") }
        #expect(simulated == ["usr/share/dbus-1/interfaces/org.localauth.SimulatedSensor1.xml"])
        for file in files {
            let isProgram = file.hasPrefix("usr/bin/") || file.hasPrefix("usr/libexec/")
            let path = "\(site.folder)/\(file)"
            #expect(FileManager.default.isExecutableFile(atPath: path) == isProgram, "\(file)")
        }
    }

    @Test("The bus can also be given another prefix: its policy then goes to /etc")
    func otherPrefix() async throws {
        let site = try Site()
        try await make("install", "DESTDIR=\(site.folder)", "PREFIX=/opt/localauth")
        let files = try site.files()
        #expect(files.contains("etc/dbus-1/system.d/org.localauth.Authentication1.conf"))
        // polkit reads no rules below another prefix either.
        #expect(files.contains("etc/polkit-1/rules.d/50-localauth-fingerprint.rules"))
        #expect(files.contains("opt/localauth/libexec/localauth/localauthd"))
        let unit = try site.text("opt/localauth/lib/systemd/system/localauthd.service")
        #expect(unit.contains("\nExecStart=/opt/localauth/libexec/localauth/localauthd "))
    }

    @Test("Units and activation files name what is installed, and systemd accepts the units")
    func units() async throws {
        let site = try await installed("install", "install-simulated")
        let files = try site.files()
        let units = files.filter { $0.contains("/systemd/") && $0.hasSuffix(".service") }
        #expect(units.count >= 6)
        for unit in units {
            let command = try #require(value("ExecStart", in: try site.text(unit)))
            let program = String(command.prefix { $0 != " " })
            // Copying a file takes no program of ours.
            let isKey = unit.hasSuffix("/system/localauth-master-key.service")
            #expect(program.hasPrefix(isKey ? "/usr/bin/install" : site.folder + "/usr/libexec/"))
            #expect(FileManager.default.isExecutableFile(atPath: program), "\(unit): \(program)")
        }
        for service in files where service.contains("/system-services/") {
            let text = try site.text(service)
            let unit = "usr/lib/systemd/system/" + (value("SystemdService", in: text) ?? "")
            #expect(files.contains(unit), "\(service)")
            #expect(value("BusName", in: try site.text(unit)) == value("Name", in: text))
        }
        let analyze = "/usr/bin/systemd-analyze"
        guard FileManager.default.isExecutableFile(atPath: analyze) else { return }
        let system = units.filter { $0.contains("/system/") }.map { "\(site.folder)/\($0)" }
        let said = try await run(analyze, ["verify", "--man=no"] + system)
        #expect(said.status == 0 && said.output.isEmpty, "\(said.output)")
    }

    @Test("The sealed key that localauthctl makes is the one that systemd gives to the service")
    func sealedKey() async throws {
        let site = try await installed("install")
        let folder = "usr/lib/systemd/system/"
        let unsealing = try site.text(folder + "localauth-master-key.service")
        let service = try site.text(folder + "localauthd.service")
        let name = "localauth.master-key"
        let place = try #require(value("ConditionPathExists", in: unsealing))
        #expect(place == "/etc/credstore.encrypted/" + name)
        let help = try await run(
            ChildProcess.folder + "/localauthctl",
            ["keychain", "init", "--help"]
        )
        #expect(help.output.contains("\(place))."), "\(help.output)")
        #expect(value("LoadCredentialEncrypted", in: unsealing) == name)
        let copied = "%d/\(name) /run/credstore/\(name)"
        #expect(value("ExecStart", in: unsealing)?.hasSuffix(" " + copied) == true)
        // A name and no path: without such a file the service starts all the same.
        #expect(value("LoadCredential", in: service) == name)
        #expect(value("Wants", in: service) == "localauth-master-key.service")
        #expect(value("After", in: service)?.contains("localauth-master-key.service") == true)
    }

    /// What a key of a unit or an activation file says.
    private func value(_ key: String, in text: String) -> String? {
        text.split(separator: "\n").first { $0.hasPrefix("\(key)=") }
            .map { String($0.dropFirst(key.count + 1)) }
    }

    @Test("Installed programs find their catalogues")
    func catalogues() async throws {
        let site = try await installed("install")
        let said = try await run(
            "/usr/bin/env",
            ["LC_ALL=C.UTF-8", "LANGUAGE=de", "\(site.folder)/usr/bin/localauthctl", "--help"]
        )
        #expect(said.output.contains("Fragt, wer da ist"), "\(said.output)")
    }

    /// A system bus of its own: Debian's configuration, with the installed policy alone.
    private func systemBus(_ site: Site) throws -> (bus: ChildProcess, address: String) {
        let address = "unix:path=\(site.folder)/bus"
        let lines = try String(contentsOfFile: "/usr/share/dbus-1/system.conf", encoding: .utf8)
            .split(separator: "\n")
        let unwanted = [
            "<user>", "<fork/>", "<standard_system", "<servicehelper>", "<pidfile>", "<syslog/>",
            "<listen>", "<include",
        ]
        let kept = lines.filter { line in !unwanted.contains { line.contains($0) } }
            .filter { !$0.contains("</busconfig>") }
        let own = [
            "<listen>\(address)</listen>",
            "<includedir>\(site.folder)/usr/share/dbus-1/system.d</includedir>", "</busconfig>",
        ]
        let file = "\(site.folder)/bus.conf"
        try (kept.map(String.init) + own).joined(separator: "\n")
            .write(toFile: file, atomically: true, encoding: .utf8)
        let bus = try ChildProcess(
            ["/usr/bin/dbus-daemon", "--nofork", "--config-file=\(file)", "--print-address"],
            hasStream: true
        )
        // It says its address when it listens; nothing at all when it can't.
        #expect(try bus.line() != nil, "\(bus.errors)")
        return (bus, address)
    }

    @Test("A bus accepts the policy: the service gets its name, others don't")
    func policy() async throws {
        let site = try await installed("install", "install-simulated")
        let (bus, address) = try systemBus(site)
        // The user of the service need not exist here; nothing else may be said of the files.
        let complaints = bus.errors.split(separator: "\n")
            .filter { !$0.contains("\"localauth\"") && !$0.contains("fd limit") }
        #expect(complaints.isEmpty, "\(complaints)")
        guard geteuid() == 0 else { return }
        let daemon = try ChildProcess([
            "\(site.folder)/usr/libexec/localauth/localauthd", "--bus", address,
            "--state-directory", "\(site.folder)/state",
        ])
        let busctl = ["--address=\(address)", "--timeout=20"]
        let ping =
            busctl + [
                "call", "org.localauth.Authentication1",
                "/org/localauth/Authentication1", "org.localauth.Authentication1", "CanEvaluate",
                "u",
                "1",
            ]
        while try await run("/usr/bin/busctl", ping).status != 0 {
            try #require(daemon.isRunning, "\(daemon.errors)")
        }
        let takeName =
            busctl + [
                "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                "RequestName", "su", "org.localauth.Sensor1.Forged", "4",
            ]
        #expect(try await run("/usr/bin/busctl", takeName).status == 0)
        chmod(site.folder, 0o755)
        let nobody = ["--reuid=nobody", "--regid=nogroup", "--clear-groups", "/usr/bin/busctl"]
        #expect(try await run("/usr/bin/setpriv", nobody + ping).status == 0)
        let refused = try await run("/usr/bin/setpriv", nobody + takeName)
        #expect(refused.status == 1 && refused.output.contains("ccess denied"), "\(refused.output)")
        daemon.signal(SIGTERM)
        #expect(try await daemon.exitStatus() == 0)
    }
}
