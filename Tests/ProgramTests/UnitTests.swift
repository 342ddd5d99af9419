import Foundation
import TestSupport
import Testing

@Suite("Units", .timeLimit(.minutes(10)))
struct UnitTests {
    private static let services = [
        "localauthd", "localauth-passcode", "localauth-master-key", "localauth-sensor-face",
        "localauth-sensor-fido2", "localauth-sensor-fingerprint", "localauth-sensor-simulated",
        "localauth-passkey-broker",
    ]
    private static let sensors = services.filter { $0.contains("-sensor-") }

    private static let hardening = [
        ("NoNewPrivileges", "yes"), ("ProtectSystem", "strict"), ("ProtectHome", "yes"),
        ("PrivateTmp", "yes"), ("PrivateNetwork", "yes"), ("IPAddressDeny", "any"),
        ("PrivateMounts", "yes"), ("DevicePolicy", "closed"), ("KeyringMode", "private"),
        ("LimitCORE", "0"), ("LockPersonality", "yes"), ("MemoryDenyWriteExecute", "yes"),
        ("ProtectClock", "yes"), ("ProtectControlGroups", "yes"), ("ProtectHostname", "yes"),
        ("ProtectKernelLogs", "yes"), ("ProtectKernelModules", "yes"),
        ("ProtectKernelTunables", "yes"), ("ProtectProc", "invisible"), ("ProcSubset", "pid"),
        ("PrivateDevices", "yes"), ("RestrictNamespaces", "yes"), ("RestrictRealtime", "yes"),
        ("RestrictSUIDSGID", "yes"), ("SystemCallArchitectures", "native"), ("UMask", "0077"),
        ("RestrictAddressFamilies", "AF_UNIX"), ("CapabilityBoundingSet", ""),
    ]

    /// A unit's deviations, and why they are necessary.
    private static let exceptions = [
        // The service shows callers' names and reads the boot id.
        "localauthd ProtectProc": "default", "localauthd ProcSubset": "all",
        // PAM needs these.
        "localauth-passcode RestrictAddressFamilies": "AF_UNIX AF_NETLINK",
        "localauth-passcode CapabilityBoundingSet":
            "CAP_AUDIT_WRITE CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER",
        // This unit opens no socket.
        "localauth-master-key RestrictAddressFamilies": "none",
        // The sensor needs the camera's device, which DevicePolicy= and DeviceAllow= limit.
        "localauth-sensor-face PrivateDevices": "",
        // Security keys are devices too.
        "localauth-sensor-fido2 PrivateDevices": "",
        // The broker makes devices of the kernel.
        "localauth-passkey-broker PrivateDevices": "",
        // The print files belong to root, and the sensor watches them for changes.
        "localauth-sensor-fingerprint CapabilityBoundingSet": "CAP_DAC_READ_SEARCH",
    ]

    /// Settings of some units only: restrictions, and access for units that need it.
    private static let particular: [(String, String, [String])] = [
        ("RemoveIPC", "yes", ["localauthd", "localauth-passkey-broker"] + sensors),
        ("PrivateUsers", "yes", ["localauth-sensor-simulated"]),
        ("DeviceAllow", "char-video4linux rw", ["localauth-sensor-face"]),
        ("SupplementaryGroups", "video", ["localauth-sensor-face"]),
        ("DeviceAllow", "char-hidraw rw", ["localauth-sensor-fido2"]),
        ("DeviceAllow", "/dev/uhid rw", ["localauth-passkey-broker"]),
    ]

    /// Units that run as root, and may make privileged calls.
    private static let roots = ["localauth-passcode", "localauth-master-key"]

    @Test("L24: Every unit has every restriction, with only the exceptions named here")
    func hardening() async throws {
        let site = try await Installation("install", "install-simulated")
        let files = try site.files()
        let installed = files.filter { $0.contains("/systemd/system/") }
        // The broker's socket, and a setting of the display manager.
        #expect(installed.count == Self.services.count + 2)
        // The service has to see desktop logins happen.
        let display = "usr/lib/systemd/system/display-manager.service.d/localauth.conf"
        for key in ["Wants", "After"] {
            let said = Installation.values(key, in: try site.text(display))
            #expect(said == ["localauthd.service"], "\(key)")
        }
        for service in Self.services {
            let unit = try site.text("usr/lib/systemd/system/\(service).service")
            for (key, value) in Self.hardening {
                let wanted = Self.exceptions["\(service) \(key)"] ?? value
                let said = Installation.values(key, in: unit).last ?? ""
                #expect(said == wanted, "\(service): \(key)=\(said)")
            }
            for (key, value, units) in Self.particular where units.contains(service) {
                let said = Installation.values(key, in: unit)
                #expect(said == [value], "\(service): \(key)=\(said)")
            }
            let denied = Self.roots.contains(service) ? "~@resources" : "~@privileged @resources"
            let filters = Installation.values("SystemCallFilter", in: unit)
            #expect(filters == ["@system-service", denied], "\(service): \(filters)")
        }
    }

    /// Limits on memory, tasks and descriptors.
    private static let bounds = [
        "localauthd": ("512M", "64", "65536"), "localauth-passcode": ("512M", "64", "1024"),
        "localauth-master-key": ("128M", "16", "1024"),
        "localauth-sensor-face": ("1G", "64", "1024"),
        "localauth-sensor-fido2": ("128M", "64", "1024"),
        "localauth-sensor-fingerprint": ("128M", "32", "1024"),
        "localauth-sensor-simulated": ("128M", "32", "1024"),
        "localauth-passkey-broker": ("64M", "16", "1024"),
    ]

    @Test(
        "L21: The total that all users make the service hold is bounded"
    )
    func resources() async throws {
        let site = try await Installation("install", "install-simulated")
        for service in Self.services {
            let unit = try site.text("usr/lib/systemd/system/\(service).service")
            let (memory, tasks, files) = try #require(Self.bounds[service])
            #expect(Installation.value("MemoryMax", in: unit) == memory, "\(service)")
            #expect(Installation.value("TasksMax", in: unit) == tasks, "\(service)")
            #expect(Installation.value("LimitNOFILE", in: unit) == files, "\(service)")
            let isOneShot = Installation.value("Type", in: unit) == "oneshot"
            #expect(Installation.value("WatchdogSec", in: unit) == (isOneShot ? nil : "30s"))
            #expect(Installation.value("TimeoutStartSec", in: unit) != nil, "\(service)")
            // The other services exit when idle, to free memory.
            let command = try #require(Installation.value("ExecStart", in: unit))
            let isAlways =
                isOneShot || ["localauthd", "localauth-passkey-broker"].contains(service)
            #expect(command.hasSuffix(" --idle-timeout 60") == !isAlways, "\(command)")
        }
    }

    /// Paths hidden from all sensors and the verifier, and from sensors that read system files.
    private static let hiddenPaths =
        "-/var/lib/localauth -/run/credentials -/run/credstore "
        + "-/etc/credstore -/etc/credstore.encrypted"
    private static let hiddenFromReaders =
        hiddenPaths + " -/root -/etc/shadow -/etc/shadow- -/etc/gshadow -/etc/gshadow-"

    /// Settings of single units, with the lines of a key joined.
    ///
    /// A unit's keys are exactly these and ``hardening``, so that no key goes untested.
    private static let own: [String: [String: String]] = [
        "localauthd": [
            "Environment": "LD_BIND_NOW=1",
            "ExecStart": "localauthd --bus system --refuse-on-mistake",
            "ExecReload": "/bin/kill -HUP $MAINPID",
            "ExecStartPost": "-+/usr/bin/rm -f /run/credstore/localauth.master-key",
            "ExecStopPost": "-+/usr/bin/rm -f /run/credstore/localauth.master-key",
            "FileDescriptorStoreMax": "2", "LimitMEMLOCK": "16M", "MemorySwapMax": "0",
            "LoadCredential": "localauth.master-key", "PrivateUsers": "no", "RemoveIPC": "yes",
            "Restart": "on-failure", "RestartSec": "500ms", "StateDirectory": "localauth",
            "StateDirectoryMode": "0700", "User": "localauth", "Group": "localauth",
        ],
        "localauth-passcode": [
            "ExecStart": "localauth-passcode --bus system --idle-timeout 60",
            "InaccessiblePaths": hiddenPaths, "LimitMEMLOCK": "16M", "MemorySwapMax": "0",
            "ReadWritePaths": "-/run/faillock -/var/run/faillock -/var/lib/faillock",
            "Restart": "on-abnormal", "RestartSec": "500ms",
            "RuntimeDirectory": "localauth-passcode", "RuntimeDirectoryMode": "0700",
            "RuntimeDirectoryPreserve": "yes",
        ],
        "localauth-master-key": [
            "ExecStart": "/usr/bin/install -m 0600 %d/localauth.master-key "
                + "/run/credstore/localauth.master-key",
            "LoadCredentialEncrypted": "localauth.master-key", "RuntimeDirectory": "credstore",
            "RuntimeDirectoryMode": "0700", "RuntimeDirectoryPreserve": "yes",
        ],
        "localauth-sensor-face": [
            "ExecStart": "localauth-sensor-face --bus system --idle-timeout 60",
            "DeviceAllow": "char-video4linux rw", "InaccessiblePaths": hiddenFromReaders,
            "PrivateUsers": "no", "RemoveIPC": "yes", "Restart": "no",
            "StateDirectory": "localauth-face", "StateDirectoryMode": "0700",
            "SupplementaryGroups": "video", "User": "localauth-face", "Group": "localauth-face",
        ],
        "localauth-sensor-fido2": [
            "ExecStart": "localauth-sensor-fido2 --bus system --idle-timeout 60",
            "DeviceAllow": "char-hidraw rw", "InaccessiblePaths": hiddenFromReaders,
            "PrivateUsers": "no", "RemoveIPC": "yes", "Restart": "no",
            "StateDirectory": "localauth-fido2", "StateDirectoryMode": "0700",
            "User": "localauth-fido2", "Group": "localauth-fido2",
        ],
        "localauth-sensor-fingerprint": [
            "ExecStart": "localauth-sensor-fingerprint --bus system --idle-timeout 60",
            "AmbientCapabilities": "CAP_DAC_READ_SEARCH",
            "BindPaths": "/var/lib/localauth-sensor-fingerprint",
            "BindReadOnlyPaths": "-/var/lib/fprint -/etc/ld.so.cache -/etc/ld.so.conf "
                + "-/etc/ld.so.conf.d -/etc/nsswitch.conf -/etc/passwd -/etc/group "
                + "-/etc/localtime -/etc/machine-id -/etc/alternatives",
            "InaccessiblePaths": hiddenFromReaders
                + " -/etc/ssh -/etc/ssl/private -/etc/security -/etc/krb5.keytab"
                + " -/etc/NetworkManager -/var/backups -/var/log -/var/spool",
            "PrivateUsers": "no", "RemoveIPC": "yes", "Restart": "no",
            "StateDirectory": "localauth-sensor-fingerprint", "StateDirectoryMode": "0700",
            "TemporaryFileSystem": "/var:ro /etc:ro",
            "User": "localauth-fingerprint", "Group": "localauth-fingerprint",
        ],
        "localauth-sensor-simulated": [
            "ExecStart": "localauth-sensor-simulated --bus system --idle-timeout 60",
            "InaccessiblePaths": hiddenPaths, "PrivateUsers": "yes", "RemoveIPC": "yes",
            "Restart": "no", "User": "localauth-simulated", "Group": "localauth-simulated",
        ],
        "localauth-passkey-broker": [
            "ExecStart": "localauth-passkey-broker", "DeviceAllow": "/dev/uhid rw",
            "InaccessiblePaths": hiddenFromReaders, "NonBlocking": "yes", "PrivateUsers": "no",
            "RemoveIPC": "yes", "Restart": "on-failure", "RestartSec": "500ms",
        ],
    ]

    /// Keys that may have several lines.
    private static let several: Set = [
        "BindReadOnlyPaths", "InaccessiblePaths", "SystemCallFilter",
    ]

    @Test("Each unit has exactly the intended keys")
    func keys() async throws {
        let site = try await Installation("install", "install-simulated")
        let common = Set(Self.hardening.map(\.0))
            .union([
                "Type", "TimeoutStartSec", "LimitNOFILE", "MemoryMax", "TasksMax",
                "SystemCallFilter",
            ])
        let programs = "\(site.folder)/usr/libexec/localauth/"
        for service in Self.services {
            let unit = try site.text("usr/lib/systemd/system/\(service).service")
            let section = unit.components(separatedBy: "[Service]").last ?? ""
            let said = section.split(separator: "\n").filter { !$0.hasPrefix("#") }
                .compactMap { $0.split(separator: "=").first.map(String.init) }
            var values = ["SystemCallErrorNumber": "EPERM"]
            var meant = common
            if Self.exceptions["\(service) PrivateDevices"] == "" {
                meant.remove("PrivateDevices")
            }
            if service != "localauth-master-key" {
                meant.formUnion(["BusName", "WatchdogSec"])
                values["TimeoutStopSec"] = "5s"
                values["AmbientCapabilities"] = ""
            }
            // The socket starts the broker.
            if service == "localauth-passkey-broker" { meant.remove("BusName") }
            values.merge(Self.own[service] ?? [:]) { $1 }
            meant.formUnion(values.keys)
            #expect(Set(said) == meant, "\(service): \(Set(said).symmetricDifference(meant))")
            // A second line would extend or replace the first.
            let again = Set(said.filter { key in said.count { $0 == key } > 1 })
            #expect(again.isSubset(of: Self.several), "\(service): \(again)")
            for (key, value) in values {
                let lines = Installation.values(key, in: unit).joined(separator: " ")
                    .replacingOccurrences(of: programs, with: "")
                #expect(lines == value, "\(service): \(key)=\(lines)")
            }
        }
    }

    /// All settings of the session units, except descriptions and program paths.
    private static let sessions: [String: [String: String]] = [
        "localauth-agent": [
            "PartOf": "graphical-session.target", "After": "graphical-session.target",
            "StartLimitIntervalSec": "60s", "StartLimitBurst": "5", "Type": "notify",
            "ExecStart": "localauth-agent --bus system --resident", "Restart": "on-failure",
            "RestartSec": "2s", "TimeoutStopSec": "2s", "Slice": "session.slice",
            "LimitCORE": "0", "MemoryMax": "256M", "TasksMax": "64", "UMask": "0077",
            "WantedBy": "graphical-session.target", "Environment": "LD_BIND_NOW=1",
        ],
        "localauth-passkey": [
            "ConditionPathExists": "/run/localauth-passkey/broker",
            "StartLimitIntervalSec": "60s", "StartLimitBurst": "5", "Type": "notify",
            "ExecStart": "localauth-passkey --bus system", "Restart": "on-failure",
            "RestartSec": "2s", "TimeoutStopSec": "2s", "Slice": "session.slice",
            "LimitCORE": "0", "MemoryMax": "128M", "TasksMax": "64", "UMask": "0077",
            "WantedBy": "default.target", "Environment": "LD_BIND_NOW=1",
        ],
        "localauthd": [
            "Type": "notify", "BusName": "org.localauth.Authentication1",
            "ExecStart": "localauthd --bus session --refuse-on-mistake",
            "TimeoutStopSec": "5s", "LimitCORE": "0", "MemoryMax": "512M", "TasksMax": "64",
            "UMask": "0077", "Environment": "LD_BIND_NOW=1",
        ],
        "localauth-passcode": [
            "Type": "notify", "BusName": "org.localauth.Passcode1",
            "RuntimeDirectory": "localauth-passcode", "RuntimeDirectoryMode": "0700",
            "RuntimeDirectoryPreserve": "yes",
            "ExecStart": "localauth-passcode --bus session", "TimeoutStopSec": "5s",
            "LimitCORE": "0", "UMask": "0077",
        ],
        "localauth-sensor-face": [
            "Type": "notify", "BusName": "org.localauth.Sensor1.Face",
            "ExecStart": "localauth-sensor-face --bus session", "TimeoutStopSec": "5s",
            "LimitCORE": "0", "UMask": "0077",
        ],
        "localauth-sensor-fido2": [
            "Type": "notify", "BusName": "org.localauth.Sensor1.Fido2",
            "ExecStart": "localauth-sensor-fido2 --bus session", "TimeoutStopSec": "5s",
            "LimitCORE": "0", "UMask": "0077",
        ],
        "localauth-sensor-fingerprint": [
            "Type": "notify", "BusName": "org.localauth.Sensor1.Fingerprint",
            "ExecStart": "localauth-sensor-fingerprint --bus session", "TimeoutStopSec": "5s",
            "LimitCORE": "0", "UMask": "0077",
        ],
        "localauth-sensor-simulated": [
            "Type": "notify", "BusName": "org.localauth.Sensor1.Simulated",
            "ExecStart": "localauth-sensor-simulated --bus session", "TimeoutStopSec": "5s",
            "LimitCORE": "0", "UMask": "0077",
        ],
    ]

    @Test("Each session unit has exactly the intended keys")
    func ofSessions() async throws {
        let site = try await Installation("install", "install-simulated")
        let installed = try site.files().filter { $0.contains("/systemd/user/") }
        let folder = "usr/lib/systemd/user"
        #expect(installed == Set(Self.sessions.keys.map { "\(folder)/\($0).service" }))
        for (service, meant) in Self.sessions {
            let lines = try site.text("\(folder)/\(service).service").split(separator: "\n")
            let pairs = lines.filter { !$0.hasPrefix("#") && $0.contains("=") }
                .map { $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false) }
                .filter { !["Description", "Documentation"].contains($0[0]) }
            let keys = pairs.map { String($0[0]) }
            let said = Set(keys)
            #expect(said == Set(meant.keys), "\(service): \(said.symmetricDifference(meant.keys))")
            #expect(said.count == keys.count, "\(service): a key stands there twice")
            for pair in pairs {
                let key = String(pair[0])
                let program = pair[1].split(separator: "/").last.map(String.init)
                let value = key == "ExecStart" ? program ?? "" : String(pair[1])
                #expect(value == meant[key], "\(service): \(key)=\(value)")
            }
        }
    }

    @Test("Each sensor's unit hides the state, keys and credentials")
    func hidden() async throws {
        let site = try await Installation("install", "install-simulated")
        let secrets = [
            "/var/lib/localauth", "/run/credentials", "/run/credstore", "/etc/credstore",
            "/etc/credstore.encrypted",
        ]
        let ofReaders = ["/root", "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-"]
        let ofRoot = [
            "/etc/ssh", "/etc/ssl/private", "/etc/security", "/etc/krb5.keytab",
            "/etc/NetworkManager", "/var/backups", "/var/log", "/var/spool",
        ]
        for sensor in Self.sensors {
            let unit = try site.text("usr/lib/systemd/system/\(sensor).service")
            let paths = unit.split(separator: "\n").filter { $0.hasPrefix("InaccessiblePaths=") }
                .flatMap { $0.dropFirst("InaccessiblePaths=".count).split(separator: " ") }
                .map { String($0.drop { $0 == "-" }) }
            var meant = Set(secrets)
            if sensor != "localauth-sensor-simulated" { meant.formUnion(ofReaders) }
            if sensor == "localauth-sensor-fingerprint" { meant.formUnion(ofRoot) }
            #expect(meant.isSubset(of: paths), "\(sensor): \(meant.subtracting(paths))")
        }
        let key = try site.text("usr/lib/systemd/system/localauth-master-key.service")
        let condition = Installation.value("ConditionPathExists", in: key)
        #expect(condition == "/etc/credstore.encrypted/localauth.master-key")
    }

    @Test("udev gives security keys, and no other device, to their sensor alone")
    func devices() async throws {
        let site = try await Installation("install")
        let own = try site.text("usr/lib/udev/rules.d/72-localauth-passkey.rules")
        #expect(own.contains(#"ENV{HID_PHYS}=="localauth-passkey/*", TAG-="uaccess""#))
        let text = try site.text("usr/lib/udev/rules.d/70-localauth-fido2.rules")
        let rules = text.replacingOccurrences(of: "\\\n", with: "").split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
            .map { $0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } }
        #expect(
            rules == [
                [
                    #"ACTION!="remove""#, #"SUBSYSTEM=="hidraw""#, #"IMPORT{parent}="HID_PHYS""#,
                ],
                [
                    #"ACTION!="remove""#, #"SUBSYSTEM=="hidraw""#, #"ENV{ID_SECURITY_TOKEN}=="1""#,
                    #"ENV{HID_PHYS}!="localauth-passkey/*""#, #"GROUP="localauth-fido2""#,
                    #"MODE="0660""#, #"TAG+="systemd""#,
                    #"ENV{SYSTEMD_WANTS}+="localauth-sensor-fido2.service""#,
                ],
            ]
        )
    }

    @Test("L21: A process can be restarted after any number of crashes")
    func startLimits() async throws {
        let site = try await Installation("install", "install-simulated")
        for service in Self.services where service != "localauth-master-key" {
            let unit = try site.text("usr/lib/systemd/system/\(service).service")
            #expect(Installation.value("StartLimitIntervalSec", in: unit) == "0", "\(service)")
        }
        for service in ["localauthd", "localauth-passcode"] {
            let unit = try site.text("usr/lib/systemd/system/\(service).service")
            #expect(Installation.value("RestartSec", in: unit) == "500ms", "\(service)")
        }
    }

    /// All lines of the sysusers files, without comments.
    private static let users: [Substring] = [
        "u localauth - \"LocalAuthentication service\" /var/lib/localauth -",
        "u localauth-face - \"LocalAuthentication face sensor\" /var/lib/localauth-face -",
        "u localauth-fido2 - \"LocalAuthentication security keys\" /var/lib/localauth-fido2 -",
        "u localauth-fingerprint - \"LocalAuthentication fingerprint sensor\" "
            + "/var/lib/localauth-sensor-fingerprint -",
        "u localauth-simulated - \"LocalAuthentication simulated sensor\" - -",
    ]

    @Test("L24: Each sensor has its own user, the only user of its name")
    func users() async throws {
        let site = try await Installation("install", "install-simulated")
        var seen: Set = ["root", "localauth"]
        let made = try ["localauth", "localauth-simulated"]
            .map { try site.text("usr/lib/sysusers.d/\($0).conf") }.joined()
        // The files make no other user, and change no group.
        #expect(made.split(separator: "\n").filter { !$0.hasPrefix("#") } == Self.users)
        for sensor in Self.sensors {
            let unit = try site.text("usr/lib/systemd/system/\(sensor).service")
            let user = try #require(Installation.value("User", in: unit))
            #expect(seen.insert(user).inserted, "\(user)")
            #expect(Installation.value("Group", in: unit) == user)
            #expect(made.contains("\nu \(user) - "), "\(user)")
            let name = try #require(Installation.value("BusName", in: unit))
            let activation = try site.text("usr/share/dbus-1/system-services/\(name).service")
            #expect(Installation.value("User", in: activation) == user)
            let last = name.split(separator: ".").last ?? ""
            let description = try site.text("usr/share/localauth/sensors/\(last).conf")
            #expect(Installation.value("User", in: description) == user)
            // L8: a camera counts as strong only if an administrator says so.
            let strength = last == "Face" ? "convenience" : "strong"
            #expect(Installation.value("Strength", in: description) == strength, "\(last)")
        }
        let service = try site.text("usr/lib/systemd/system/localauthd.service")
        #expect(Installation.value("User", in: service) == "localauth")
        #expect(Installation.value("StateDirectory", in: service) == "localauth")
        #expect(Installation.value("StateDirectoryMode", in: service) == "0700")
        let verifier = try site.text("usr/lib/systemd/system/localauth-passcode.service")
        #expect(Installation.value("User", in: verifier) == nil)
    }

    @Test("L24: Each sensor's unit hides the service's state and its key")
    func state() async throws {
        let site = try await Installation("install", "install-simulated")
        for sensor in Self.sensors {
            let unit = try site.text("usr/lib/systemd/system/\(sensor).service")
            let values = Installation.values("InaccessiblePaths", in: unit)
            // A line without a value would reset earlier lines.
            #expect(!values.contains(""), "\(sensor)")
            let hidden = values.flatMap { $0.split(separator: " ") }
            for secret in [
                "/var/lib/localauth", "/run/credentials", "/run/credstore", "/etc/credstore",
                "/etc/credstore.encrypted",
            ] {
                // The prefix "-" lets the sensor start if a path is missing.
                #expect(hidden.contains { $0 == "-" + secret }, "\(sensor): \(secret)")
            }
        }
    }

    @Test("L24: The sensor that may read any file sees only the necessary parts of /etc and /var")
    func visible() async throws {
        let site = try await Installation("install", "install-simulated")
        for sensor in Self.sensors {
            let unit = try site.text("usr/lib/systemd/system/\(sensor).service")
            func words(_ key: String) -> Set<String> {
                Set(
                    Installation.values(key, in: unit).flatMap { $0.split(separator: " ") }
                        .map(String.init)
                )
            }
            guard words("AmbientCapabilities").contains("CAP_DAC_READ_SEARCH") else { continue }
            #expect(words("TemporaryFileSystem") == ["/etc:ro", "/var:ro"], "\(sensor)")
            #expect(
                words("BindReadOnlyPaths") == [
                    "-/etc/alternatives", "-/etc/group", "-/etc/ld.so.cache", "-/etc/ld.so.conf",
                    "-/etc/ld.so.conf.d", "-/etc/localtime", "-/etc/machine-id",
                    "-/etc/nsswitch.conf", "-/etc/passwd", "-/var/lib/fprint",
                ],
                "\(sensor)"
            )
            #expect(words("BindPaths") == ["/var/lib/\(sensor)"])
            // Hide folders: a hidden file becomes visible when it is replaced.
            for secret in ["/etc/security", "/etc/krb5.keytab", "/var/backups", "/var/log"] {
                #expect(words("InaccessiblePaths").contains("-" + secret), "\(sensor): \(secret)")
            }
        }
    }
}
