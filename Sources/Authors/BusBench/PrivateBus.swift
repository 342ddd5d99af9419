public import DBus
import Glibc
import Synchronization

/// A `dbus-daemon` of a test's own, in a temporary folder that goes with it.
///
/// Everything that was started on it ends with the last reference, or with ``end()``.
public final class PrivateBus: Sendable {
    /// Room for benchmarks with more connections, or calls in flight, than Debian's buses allow.
    ///
    /// The one exception: every test has Debian's limits.
    public static let wideLimits = [
        "max_connections_per_user": 1024, "max_completed_connections": 1024,
        "max_replies_per_connection": 50_000,
    ]

    /// What programs take after `--bus`.
    public let address: String
    /// The temporary folder, for whatever the test needs.
    ///
    /// `.service` files in it are what the bus can start.
    public let folder: String
    private let temporary: TemporaryFolder
    private let daemon: ChildProcess
    /// The process of the bus.
    public var pid: Int32 { daemon.pid }
    private let limits: [String: Int]
    private let dependents = Mutex<(connections: [Connection], programs: [ChildProcess])>(([], []))

    /// Starts a bus that lets everybody own and call everything, and waits until it listens.
    ///
    /// Nobody may send a reply that was not asked for, as on Debian's buses.
    ///
    /// - Parameters:
    ///   - limits: By their names in dbus-daemon's configuration; without any, those of dbus-daemon
    ///     itself, which Debian's system bus has as well.
    ///   - launcher: Words before the program.
    /// - Throws: When it does not start.
    public init(
        limits: [String: Int] = [:],
        launcher: [String] = []
    ) throws(TestFailure) {
        self.limits = limits
        // Connections live on the loop.
        EventLoop.shared.startThread()
        temporary = try TemporaryFolder()
        folder = temporary.path
        // Another user may have to reach the socket.
        chmod(folder, 0o711)
        let configuration = Self.configuration(folder, limits)
        try temporary.write("bus.conf", configuration.utf8)
        daemon = try ChildProcess(
            launcher + [
                "/usr/bin/dbus-daemon", "--nofork", "--nopidfile", "--print-address",
                "--config-file=\(folder)/bus.conf",
            ],
            hasStream: true
        )
        // It says its address once it listens, with a GUID that not every client understands.
        guard try daemon.line() != nil else {
            throw TestFailure("dbus-daemon did not start: \(daemon.errors)")
        }
        address = "unix:path=\(folder)/bus"
    }

    private static func configuration(
        _ folder: String,
        _ limits: [String: Int],
        losing lost: [Signal] = [],
        isLenient: Bool = false
    ) -> String {
        let isRequested = isLenient ? "false" : "true"
        let lost = lost.map {
            "    <deny receive_interface=\"\($0.interface)\" receive_member=\"\($0.member)\"/>"
        }
        let limits = limits.map { "  <limit name=\"\($0.key)\">\($0.value)</limit>" }
        return """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(folder)/bus</listen>
              <auth>EXTERNAL</auth>
              <servicedir>\(folder)</servicedir>
              <policy context="default">
                <allow user="*"/><allow own="*"/>
                <allow send_type="method_call"/><allow send_type="signal"/>
                <allow send_requested_reply="\(isRequested)" send_type="method_return"/>
                <allow send_requested_reply="\(isRequested)" send_type="error"/>
                <allow receive_type="signal"/><allow receive_type="method_call"/>
                <allow receive_requested_reply="\(isRequested)" receive_type="error"/>
                <allow receive_requested_reply="\(isRequested)" receive_type="method_return"/>
            \(lost.joined(separator: "\n"))
              </policy>
            \(limits.joined(separator: "\n"))
            </busconfig>

            """
    }

    /// A signal that a bus may lose.
    public struct Signal: Sendable {
        let interface: String
        let member: String

        /// That a name has another owner, or none.
        public static let nameOwnerChanged = Signal(
            interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged"
        )
        /// That properties have changed.
        public static let propertiesChanged = Signal(
            interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged"
        )
    }

    /// Loses all signals of these kinds from now on, as a bus whose queues are full does.
    @BusActor public func lose(_ signals: Signal...) async throws {
        try await reconfigure(Self.configuration(folder, limits, losing: signals))
    }

    /// Hands over replies that nobody asked for from now on, as a bus with a careless policy does.
    @BusActor public func letForgedRepliesThrough() async throws {
        try await reconfigure(Self.configuration(folder, limits, isLenient: true))
    }

    @BusActor private func reconfigure(_ text: String) async throws {
        try TemporaryFolder.write(folder + "/bus.conf", text.utf8, mode: 0o644)
        let connection = try Connection(.address(address))
        defer { connection.close() }
        _ = try await connection.call(
            to: "org.freedesktop.DBus",
            path: ObjectPath(trusted: "/org/freedesktop/DBus"),
            interface: "org.freedesktop.DBus",
            member: "ReloadConfig"
        )
    }

    /// Gives a test a bus of its own, and ends it whatever happens.
    ///
    /// - Throws: What the test throws, with what the programs on the bus said.
    public static func run(
        limits: [String: Int] = [:],
        _ body: @BusActor (PrivateBus) async throws -> Void
    ) async throws {
        let bus = try PrivateBus(limits: limits)
        do {
            try await body(bus)
        } catch {
            let said = bus.errors
            await bus.end()
            // A test that ended itself says why already.
            guard !Task.isCancelled, !said.isEmpty else { throw error }
            throw TestFailure("\(error); the programs said: \(said)")
        }
        await bus.end()
    }

    /// A new connection, closed with the bus; a call on it may take as long as a busy machine does.
    @BusActor public func connect() throws(DBusError) -> Connection {
        let connection = try Connection(.address(address))
        connection.callTimeout = .seconds(120)
        dependents.withLock { $0.connections.append(connection) }
        return connection
    }

    /// Starts a program on this bus, which it gets as `--bus`; it ends with the bus.
    @discardableResult
    public func start(
        _ words: [String],
        environment: [String: String] = [:],
        hasStream: Bool = false
    ) throws(TestFailure) -> ChildProcess {
        try run(words + ["--bus", address], environment: environment, hasStream: hasStream)
    }

    /// Starts a program with nothing added; it ends with the bus.
    @discardableResult
    public func run(
        _ words: [String],
        environment: [String: String] = [:],
        hasStream: Bool = false
    ) throws(TestFailure) -> ChildProcess {
        let program = try ChildProcess(words, environment: environment, hasStream: hasStream)
        dependents.withLock { $0.programs.append(program) }
        return program
    }

    /// Lets the bus start a program that takes a name; it gets this bus as `--bus`.
    @BusActor public func offer(_ name: String, _ words: [String]) async throws {
        var words = words + ["--bus", address]
        if !words[0].contains("/") { words[0] = ChildProcess.folder + "/" + words[0] }
        let text = "[D-BUS Service]\nName=\(name)\nExec=\(words.joined(separator: " "))\n"
        try TemporaryFolder.write("\(folder)/\(name).service", text.utf8)
        try await reload()
    }

    /// Takes that back.
    @BusActor public func withdraw(_ name: String) async throws {
        unlink("\(folder)/\(name).service")
        try await reload()
    }

    /// Has it look again for what it can start.
    @BusActor private func reload() async throws {
        _ = try await connect()
            .call(
                to: "org.freedesktop.DBus",
                path: ObjectPath(trusted: "/org/freedesktop/DBus"),
                interface: "org.freedesktop.DBus",
                member: "ReloadConfig"
            )
    }

    /// The process behind a name; nil: nobody has it.
    @BusActor public func process(of name: String) async throws -> Int32? {
        let connection = try connect()
        guard let owner = try await connection.nameOwner(name) else { return nil }
        return try await connection.peer(named: owner).pid
    }

    /// What the programs on it wrote to standard error.
    public var errors: String {
        dependents.withLock { $0.programs }.map(\.errors).joined()
    }

    /// Waits until a name has an owner, or none.
    @BusActor @discardableResult
    public func waitForOwner(
        of name: String,
        _ wanted: Bool = true,
        within limit: Duration = .seconds(60)
    ) async throws -> String? {
        let owners = Witness<String?>()
        let connection = try Connection(.address(address))
        defer { connection.close() }
        let watch = connection.watchName(name) { owners.record($0) }
        defer { watch.cancel() }
        let what = wanted ? "an owner of \(name)" : "\(name) to be free"
        return try await owners.first(what, within: limit) { ($0 != nil) == wanted }
    }

    /// Ends everything on the bus, and the bus, and removes its folder.
    @BusActor public func end() async {
        let dependents = self.dependents.withLock { all in
            defer { all = ([], []) }
            return all
        }
        for program in dependents.programs.reversed() { await program.end() }
        for connection in dependents.connections { connection.close() }
        await daemon.end()
        temporary.remove()
    }
}
