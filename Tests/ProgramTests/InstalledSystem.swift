import DBus
import Glibc
import Linux
import TestSupport
import Testing

/// An installation on its own system bus: Debian's configuration, the shipped policy, and the users
/// of the shipped files.
///
/// Needs root.
final class InstalledSystem: Sendable {
    /// A user without any role.
    static let nobody = "nobody"
    /// A foreign service, which every user may call by its own policy.
    static let otherService = "org.example.Other1"

    let site: Installation
    let address: String
    /// The uid of every user by name, including root and nobody.
    let users: [String: UInt32]
    /// The administrator's folder of sensor descriptions.
    let descriptions: String
    private let bus: ChildProcess

    init() async throws {
        EventLoop.shared.startThread()
        site = try await Installation("install", "install-simulated")
        let folder = site.folder
        chmod(folder, 0o755)
        users = try await Self.makeUsers(in: folder)
        descriptions = "\(folder)/etc/localauth/sensors"
        for part in ["/etc/localauth", "/etc/localauth/sensors"] { mkdir(folder + part, 0o755) }
        address = "unix:path=\(folder)/bus"
        let file = "\(folder)/bus.conf"
        try TemporaryFolder.write(file, try Self.configuration(folder, address).utf8)
        bus = try ChildProcess(
            ["/usr/bin/dbus-daemon", "--nofork", "--config-file=\(file)", "--print-address"],
            environment: Self.accounts(folder),
            hasStream: true
        )
        // The bus prints its address when it listens, and nothing on failure.
        #expect(try bus.line() != nil, "\(bus.errors)")
    }

    var complaints: [Substring] {
        bus.errors.split(separator: "\n").filter { !$0.contains("fd limit") }
    }

    private static func configuration(_ folder: String, _ address: String) throws -> String {
        let unwanted = [
            "<user>", "<fork/>", "<standard_system", "<servicehelper>", "<pidfile>", "<syslog/>",
            "<listen>", "<include", "</busconfig>",
        ]
        let text = try TemporaryFolder.read("/usr/share/dbus-1/system.conf")
        let kept = String(decoding: text, as: UTF8.self).split(separator: "\n")
            .filter { line in !unwanted.contains { line.contains($0) } }
        // The policy of logind's own package.
        let logind = """
            <policy user="root"><allow own="org.freedesktop.login1"/></policy>
            <policy context="default"><allow send_destination="org.freedesktop.login1"/></policy>
            """
        let other = """
            <policy user="root"><allow own="\(otherService)"/></policy>
            <policy context="default"><allow send_destination="\(otherService)"/></policy>
            """
        let own = [
            logind, other, "<listen>\(address)</listen>",
            "<includedir>\(folder)/usr/share/dbus-1/system.d</includedir>", "</busconfig>",
        ]
        return (kept.map(String.init) + own).joined(separator: "\n")
    }

    // MARK: - Users

    /// Makes the shipped users with systemd, in addition to this machine's users.
    private static func makeUsers(in folder: String) async throws -> [String: UInt32] {
        mkdir(folder + "/etc", 0o755)
        for file in ["passwd", "group"] {
            let text = try TemporaryFolder.read("/etc/\(file)")
            try TemporaryFolder.write("\(folder)/etc/\(file)", text)
        }
        let made = try await Installation.run("/usr/bin/systemd-sysusers", ["--root=\(folder)"])
        #expect(made.status == 0, "\(made.output)")
        let text = String(decoding: try TemporaryFolder.read("\(folder)/etc/passwd"), as: UTF8.self)
        var users: [String: UInt32] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            if fields.count > 2 { users[String(fields[0])] = UInt32(fields[2]) }
        }
        return users
    }

    /// Environment variables that make a program see these users.
    private static func accounts(_ folder: String) -> [String: String] {
        [
            "LD_PRELOAD": "libnss_wrapper.so", "NSS_WRAPPER_PASSWD": "\(folder)/etc/passwd",
            "NSS_WRAPPER_GROUP": "\(folder)/etc/group",
        ]
    }

    func uid(_ user: String) throws -> UInt32 { try #require(users[user], "\(user)") }

    /// A command line that runs a program as a user.
    func words(as user: String, _ program: [String]) throws -> [String] {
        let uid = try uid(user)
        return ["/usr/bin/setpriv", "--reuid=\(uid)", "--regid=\(uid)", "--clear-groups"] + program
    }

    // MARK: - Programs

    /// Starts a program as a user, with these users and this bus as its system bus.
    func start(as user: String, _ program: [String]) throws -> ChildProcess {
        var environment = Self.accounts(site.folder)
        environment["DBUS_SYSTEM_BUS_ADDRESS"] = address
        var program = program
        if !program[0].hasPrefix("/") {
            program[0] = "\(site.folder)/usr/libexec/localauth/\(program[0])"
        }
        return try ChildProcess(try words(as: user, program), environment: environment)
    }

    /// Starts the daemon with its unit's options, and waits until it answers.
    ///
    /// - Parameters:
    ///   - bus: The value of `--bus`. An address means a bus without sessions.
    ///   - configuration: The text of its configuration file.
    /// - Returns: The daemon's process.
    /// - Throws: When it does not start.
    func startDaemon(
        bus: String = "system",
        configuration: String = ""
    ) async throws -> ChildProcess {
        let state = "\(site.folder)/state"
        mkdir(state, 0o700)
        chown(state, try uid("localauth"), try uid("localauth"))
        let file = "\(site.folder)/localauth.conf"
        try TemporaryFolder.write(file, configuration.utf8, mode: 0o644)
        let daemon = try start(
            as: "localauth",
            [
                "localauthd", "--bus", bus, "--state-directory", state, "--config", file,
                "--sensors", "\(descriptions):\(site.folder)/usr/share/localauth/sensors",
            ]
        )
        while try await call(as: "root", Self.canEvaluate).status != 0 {
            try #require(daemon.isRunning, "\(daemon.errors)")
        }
        return daemon
    }

    func call(as user: String, _ words: [String]) async throws -> ChildProcess.Ended {
        let busctl = ["/usr/bin/busctl", "--address=\(address)", "--timeout=20", "call"]
        let program = try self.words(as: user, busctl + words)
        return try await ChildProcess(program, mergesErrors: true).ended(within: .seconds(60))
    }

    static let canEvaluate = [
        "org.localauth.Authentication1", "/org/localauth/Authentication1",
        "org.localauth.Authentication1", "CanEvaluate", "u", "1",
    ]

    @BusActor func connect() throws -> Connection {
        try Connection(.address(address))
    }

    /// Connects without a library, through a bridge that runs as a user and ends with the client.
    func rawClient(as user: String) throws -> (client: RawClient, bridge: ChildProcess) {
        let (ours, theirs) = try streamPair()
        let program = ["/usr/bin/systemd-stdio-bridge", "--bus-path=\(address)"]
        let shell = ["/bin/sh", "-c", "exec \"$@\" <&3 >&3 3<&-", "sh"]
        let words = try shell + words(as: user, program)
        let bridge = try withExtendedLifetime(theirs) {
            try ChildProcess(words, descriptor: theirs.rawValue)
        }
        return (try RawClient(over: ours), bridge)
    }

    /// The bus's address through a bridge that runs as a user.
    func address(as user: String) throws -> String {
        "unixexec:path=/usr/bin/setpriv,argv0=setpriv,argv1=--reuid=\(try uid(user)),"
            + "argv2=--clear-groups,argv3=/usr/bin/systemd-stdio-bridge,"
            + "argv4=--bus-path=\(address)"
    }
}
