import DBus
import Glibc
import Linux
import TestSupport
import Testing

/// An installation on a system bus of its own: Debian's configuration, the shipped policy, and the
/// users that the shipped files make.
///
/// Needs root.
final class InstalledSystem: Sendable {
    /// Who nobody is.
    static let nobody = "nobody"
    /// A service that isn't ours, whose own policy lets everybody call it.
    static let otherService = "org.example.Other1"

    let site: Installation
    let address: String
    /// Every user by name, root and nobody included.
    let users: [String: UInt32]
    /// The folder of descriptions that is an administrator's.
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
        // It says its address when it listens; nothing at all when it can't.
        #expect(try bus.line() != nil, "\(bus.errors)")
    }

    /// What the bus says of its configuration.
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
        // What logind's own package brings.
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

    /// Has systemd make the users of the shipped files, beside those of this machine.
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

    /// What has a program know those users.
    private static func accounts(_ folder: String) -> [String: String] {
        [
            "LD_PRELOAD": "libnss_wrapper.so", "NSS_WRAPPER_PASSWD": "\(folder)/etc/passwd",
            "NSS_WRAPPER_GROUP": "\(folder)/etc/group",
        ]
    }

    func uid(_ user: String) throws -> UInt32 { try #require(users[user], "\(user)") }

    /// Words that run a program as a user.
    func words(as user: String, _ program: [String]) throws -> [String] {
        let uid = try uid(user)
        return ["/usr/bin/setpriv", "--reuid=\(uid)", "--regid=\(uid)", "--clear-groups"] + program
    }

    // MARK: - Programs

    /// Starts a program as a user; it has the users and this bus as its system bus.
    func start(as user: String, _ program: [String]) throws -> ChildProcess {
        var environment = Self.accounts(site.folder)
        environment["DBUS_SYSTEM_BUS_ADDRESS"] = address
        var program = program
        if !program[0].hasPrefix("/") {
            program[0] = "\(site.folder)/usr/libexec/localauth/\(program[0])"
        }
        return try ChildProcess(try words(as: user, program), environment: environment)
    }

    /// Starts the daemon as its unit has it, and waits until it answers.
    ///
    /// - Parameters:
    ///   - bus: What it takes this bus for; an address: one without sessions.
    ///   - configuration: The text of its configuration file.
    /// - Returns: Its process.
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

    /// Calls with busctl, as a user.
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

    /// A connection without a library, over a bridge that runs as a user: there as long as that.
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

    /// The bus over a bridge that runs as a user.
    func address(as user: String) throws -> String {
        "unixexec:path=/usr/bin/setpriv,argv0=setpriv,argv1=--reuid=\(try uid(user)),"
            + "argv2=--clear-groups,argv3=/usr/bin/systemd-stdio-bridge,"
            + "argv4=--bus-path=\(address)"
    }
}
