import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Cases in which pam_localauth stays silent and leaves the decision to the next module.
@Suite("PAM module without biometry", .timeLimit(.minutes(10)))
struct PAMRefusalTests {
    @Test("Root, unknown users, ssh and remote hosts only get the password prompt")
    func otherPeople() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            try bench.stack("sshd")
            // The sensor could recognise root.
            _ = try await bench.daemon.sensor.addTemplate(uid: 0, label: "root's")
            try await bench.daemon.sensor.queue(outcomes: ["match"])
            let password = "say \(PAMService.passcode)"
            let answers = [
                try await bench.authenticate(password, user: "root"),
                try await bench.authenticate(password, user: "nobody-of-this-name"),
                try await bench.authenticate(password, service: "sshd"),
                try await bench.authenticate(
                    password,
                    environment: ["PAM_CLIENT_RHOST": "elsewhere.example"]
                ),
            ]
            for ended in answers {
                #expect(!ended.output.contains("told"), "\(ended.output)")
                #expect(ended.output.ranges(of: "asked").count == 1)
            }
            #expect(try await bench.daemon.sensor.pending() == ["match"])
        }
    }

    @Test("A missing or hanging service does not prevent the password prompt")
    func hanging() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            func took(_ ended: ChildProcess.Ended) throws -> Int {
                #expect(ended.status == PAMBench.success)
                #expect(!ended.output.contains("told"))
                return try Self.milliseconds(ended)
            }
            let password = "say \(PAMService.passcode)"
            let options = "bus=\(bus.address)"
            try PAMBench.stack(PAMBench.dialog, in: bus.folder, bench.module, options)
            // Without the module's deadline a call takes 25 s. The limit allows for a busy machine.
            bench.daemon.process.signal(SIGSTOP)
            #expect(try took(await bench.authenticate(password)) < 20_000)
            bench.daemon.process.signal(SIGCONT)
            try await bench.daemon.stop()
            #expect(try took(await bench.authenticate(password)) < 20_000)
            // A bus that accepts connections but never answers.
            let silent = try SilentSocket(bus.folder + "/silent")
            for address in [silent.address, "unix:path=/nowhere"] {
                let options = "bus=\(address)"
                try PAMBench.stack(PAMBench.dialog, in: bus.folder, bench.module, options)
                #expect(try took(await bench.authenticate(password)) < 20_000)
            }
        }
    }

    @Test("The module waits a second for the service, or as long as the option says")
    func patience() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            let silent = try SilentSocket(bus.folder + "/silent")
            for (name, option) in [("patient", "wait=6"), ("hasty", "")] {
                let options = "bus=\(silent.address) biometry-only \(option)"
                try PAMBench.stack(
                    name,
                    in: bus.folder,
                    bench.module,
                    options,
                    takesPasscode: false
                )
            }
            // In parallel, so that a busy machine delays both.
            let patient = try bench.start("fail", service: "patient")
            let hasty = try await bench.authenticate("fail", service: "hasty")
            #expect(hasty.status == PAMBench.unavailable)
            let time = try Self.milliseconds(hasty)
            #expect(try await time < Self.milliseconds(patient.ended(within: .seconds(60))))
        }
    }

    /// The duration of an attempt, as its program prints it.
    private static func milliseconds(_ ended: ChildProcess.Ended) throws -> Int {
        let words = ended.output.split(separator: " ").map(String.init)
        let place = try #require(words.firstIndex(of: "after"))
        return try #require(Int(words[place + 1]))
    }

    @Test("The module uses the system bus, even if the environment names another")
    func environment() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            try PAMBench.stack(PAMBench.dialog, in: bus.folder, bench.module, "wait=10")
            try await bench.daemon.sensor.queue(outcomes: ["match"])
            let variables = ["DBUS_SYSTEM_BUS_ADDRESS", "DBUS_SESSION_BUS_ADDRESS"]
            let ended = try await bench.authenticate(
                "say \(PAMService.passcode)",
                environment: Dictionary(uniqueKeysWithValues: variables.map { ($0, bus.address) })
            )
            #expect(ended.status == PAMBench.success)
            #expect(!ended.output.contains("told"))
            #expect(try await bench.daemon.sensor.pending() == ["match"])
        }
    }

    @Test("With a known password, no prompt appears")
    func known() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            try bench.stack("second", asksFirst: true)
            try await bench.daemon.sensor.queue(outcomes: ["match"])
            for (word, status) in [
                (PAMService.passcode, PAMBench.success), ("1357", PAMBench.refused),
            ] {
                let ended = try await bench.authenticate("say \(word)", service: "second")
                #expect(ended.status == status, "\(ended.output)")
                #expect(ended.output.ranges(of: "asked").count == 1, "\(ended.output)")
                #expect(!ended.output.contains("told"), "\(ended.output)")
            }
            #expect(try await bench.daemon.sensor.pending() == ["match"])
        }
    }

    @Test(
        "A caller's finger proves nothing about another user",
        .enabled(if: getuid() == 0, "only root becomes somebody else")
    )
    func stranger() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            // The service would accept the caller's own finger.
            _ = try await bench.daemon.sensor.addTemplate(uid: 5, label: "own")
            try await bench.daemon.sensor.queue(outcomes: ["match"])
            let user5 = ["/usr/bin/setpriv", "--reuid=5", "--regid=5", "--clear-groups"]
            let password = "say \(PAMService.passcode)"
            let ended = try await bench.authenticate(password, launcher: user5)
            #expect(ended.status == PAMBench.success, "\(ended.output) \(ended.errors)")
            #expect(!ended.output.contains("told"), "\(ended.output)")
            #expect(try await bench.daemon.sensor.pending() == ["match"])
            let user = String(cString: try #require(getpwuid(5)).pointee.pw_name)
            // A mixed uid is refused too, as in a setuid program that any user may start.
            let mixed = ["/usr/bin/setpriv", "--ruid=6", "--euid=5", "--regid=5", "--clear-groups"]
            let other = try await bench.authenticate(password, user: user, launcher: mixed)
            #expect(other.output.contains("asked"), "\(other.output) \(other.errors)")
            #expect(!other.output.contains("told"), "\(other.output)")
            #expect(try await bench.daemon.sensor.pending() == ["match"])
            let own = try await bench.authenticate(password, user: user, launcher: user5)
            #expect(own.output.contains("told"), "\(own.output) \(own.errors)")
        }
    }

    @Test(
        "The module does not trust a service of another user",
        .enabled(if: getuid() == 0, "only root becomes somebody else")
    )
    func impostor() async throws {
        try await PrivateBus.run { bus in
            let bench = try await PAMBench(bus)
            try await bench.daemon.stop()
            let folder = bus.folder + "/impostor"
            mkdir(folder, 0o700)
            chown(folder, 5, 5)
            let user5 = ["/usr/bin/setpriv", "--reuid=5", "--regid=5", "--clear-groups"]
            let users = String(decoding: try TemporaryFolder.read("/etc/passwd"), as: UTF8.self)
                .split(separator: "\n").filter { !$0.hasPrefix("localauth:") }
                .joined(separator: "\n")
            func callLocalauth(_ uid: Int) throws {
                let line = "localauth:x:\(uid):\(uid)::/:/bin/false\n"
                try TemporaryFolder.write(bus.folder + "/passwd", "\(users)\n\(line)".utf8)
            }
            try callLocalauth(6)
            // A mount namespace that makes this bus the system bus. The daemon needs it too: a
            // caller with other mounts would count as sandboxed.
            let socket = bus.address.split(separator: ",")[0].dropFirst("unix:path=".count)
            let system = """
                mount -t tmpfs none /run && mkdir /run/dbus \
                && ln -s \(socket) /run/dbus/system_bus_socket \
                && mount --bind \(bus.folder)/passwd /etc/passwd && exec "$@"
                """
            let service = try bus.start(
                ["/usr/bin/unshare", "-m", "/bin/sh", "-c", system, "sh"] + user5
                    + [ChildProcess.folder + "/localauthd", "--state-directory", folder]
            )
            try await bus.waitForOwner(of: TestDaemon.name)
            let there = ["/usr/bin/nsenter", "--mount=/proc/\(service.pid)/ns/mnt", "--"]
            let someone = there + user5
            try await bench.daemon.sensor.queue(outcomes: ["match"])
            let ended = try await bench.authenticate("say \(PAMService.passcode)")
            #expect(ended.status == PAMBench.success)
            #expect(!ended.output.contains("told"))
            #expect(try await bench.daemon.sensor.pending() == ["match"])
            // On a named bus the module trusts a service of its own user, on the system bus it does
            // not.
            let user = String(cString: try #require(getpwuid(5)).pointee.pw_name)
            _ = try await bench.daemon.sensor.addTemplate(uid: 5, label: "own")
            let named = try await bench.authenticate(
                "say \(PAMService.passcode)",
                user: user,
                launcher: someone
            )
            #expect(named.output.contains("told"), "\(named.output)")
            try PAMBench.stack(PAMBench.dialog, in: bus.folder, bench.module, "wait=10")
            let found = try await bench.authenticate(
                "say \(PAMService.passcode)",
                user: user,
                launcher: someone
            )
            #expect(found.status == PAMBench.success, "\(found.output) \(found.errors)")
            #expect(!found.output.contains("told"), "\(found.output)")
            try bench.stack(PAMBench.dialog)
            // The module trusts the service only if the user `localauth` has the service's uid.
            for uid in [6, 5] {
                try callLocalauth(uid)
                let ended = try await bench.authenticate(
                    "say \(PAMService.passcode)",
                    launcher: there
                )
                #expect(ended.output.contains("told") == (uid == 5), "\(uid): \(ended.output)")
            }
        }
    }
}

/// A socket that accepts connections and never answers.
private final class SilentSocket {
    let address: String
    private let socket: Int32

    init(_ path: String) throws {
        address = "unix:path=\(path)"
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        withUnsafeMutableBytes(of: &name.sun_path) { place in place.copyBytes(from: bytes) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isBound = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0
            }
        }
        try expect(isBound && listen(socket, 8) == 0, "expected a socket at \(path)")
    }

    deinit { close(socket) }
}
