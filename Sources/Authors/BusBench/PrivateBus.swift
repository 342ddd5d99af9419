public import DBus
import Glibc
import Synchronization

/// A private `dbus-daemon` for a test, in a temporary folder that is removed with it.
///
/// Releasing the last reference, or ``end()``, ends every program that was started on the bus.
public final class PrivateBus: Sendable {
    /// Wider limits for benchmarks that need more connections or pending replies than Debian's
    /// buses allow.
    ///
    /// All tests run with Debian's limits; only benchmarks use these.
    public static let wideLimits = [
        "max_connections_per_user": 1024, "max_completed_connections": 1024,
        "max_replies_per_connection": 50_000,
    ]

    /// The address for the option `--bus`.
    public let address: String
    /// A temporary folder for the test's own use.
    ///
    /// The bus can activate the `.service` files in it.
    public let folder: String
    private let temporary: TemporaryFolder
    private let daemon: ChildProcess
    public var pid: Int32 { daemon.pid }
    private let limits: [String: Int]
    private let dependents = Mutex<(connections: [Connection], programs: [ChildProcess])>(([], []))

    /// Starts a bus with a permissive policy, and waits until it listens.
    ///
    /// Unrequested replies are refused, as on Debian's buses.
    ///
    /// - Parameters:
    ///   - limits: Limits by their names in dbus-daemon's configuration. The default is
    ///     dbus-daemon's own, as on Debian's system bus.
    ///   - launcher: Words before the program.
    /// - Throws: If the bus does not start.
    public init(
        limits: [String: Int] = [:],
        launcher: [String] = []
    ) throws(TestFailure) {
        self.limits = limits
        // Connections live on the loop.
        EventLoop.shared.startThread()
        temporary = try TemporaryFolder()
        folder = temporary.path
        // A process of another user may have to reach the socket.
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
        // dbus-daemon prints its address once it listens, but with a GUID that some clients do not
        // understand.
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

    public struct Signal: Sendable {
        let interface: String
        let member: String

        public static let nameOwnerChanged = Signal(
            interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged"
        )
        public static let propertiesChanged = Signal(
            interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged"
        )
    }

    /// Drops all signals of these kinds from this point on, like a bus with full queues.
    @BusActor public func lose(_ signals: Signal...) async throws {
        try await reconfigure(Self.configuration(folder, limits, losing: signals))
    }

    /// Delivers unrequested replies from this point on, like a bus with a careless policy.
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

    /// Runs a test on a private bus, and ends the bus in every case.
    ///
    /// - Throws: The test's error, with the standard error of the programs on the bus.
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
            // A canceled test reports its cause already.
            guard !Task.isCancelled, !said.isEmpty else { throw error }
            throw TestFailure("\(error); the programs said: \(said)")
        }
        await bus.end()
    }

    /// Opens a connection that is closed with the bus; its call timeout suits a busy machine.
    @BusActor public func connect() throws(DBusError) -> Connection {
        let connection = try Connection(.address(address))
        connection.callTimeout = .seconds(120)
        dependents.withLock { $0.connections.append(connection) }
        return connection
    }

    /// Starts a program with `--bus` and this bus's address; the program ends with the bus.
    @discardableResult
    public func start(
        _ words: [String],
        environment: [String: String] = [:],
        hasStream: Bool = false
    ) throws(TestFailure) -> ChildProcess {
        try run(words + ["--bus", address], environment: environment, hasStream: hasStream)
    }

    /// Starts a program without extra arguments; the program ends with the bus.
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

    /// Makes a program activatable under a name; it receives `--bus` with this bus's address.
    @BusActor public func offer(_ name: String, _ words: [String]) async throws {
        var words = words + ["--bus", address]
        if !words[0].contains("/") { words[0] = ChildProcess.folder + "/" + words[0] }
        let text = "[D-BUS Service]\nName=\(name)\nExec=\(words.joined(separator: " "))\n"
        try TemporaryFolder.write("\(folder)/\(name).service", text.utf8)
        try await reload()
    }

    /// Removes the activation file of ``offer(_:_:)``.
    @BusActor public func withdraw(_ name: String) async throws {
        unlink("\(folder)/\(name).service")
        try await reload()
    }

    /// Makes the bus read its activation files anew.
    @BusActor private func reload() async throws {
        _ = try await connect()
            .call(
                to: "org.freedesktop.DBus",
                path: ObjectPath(trusted: "/org/freedesktop/DBus"),
                interface: "org.freedesktop.DBus",
                member: "ReloadConfig"
            )
    }

    /// The pid of a name's owner; nil without an owner.
    @BusActor public func process(of name: String) async throws -> Int32? {
        let connection = try connect()
        guard let owner = try await connection.nameOwner(name) else { return nil }
        return try await connection.peer(named: owner).pid
    }

    /// The standard error of all programs on the bus.
    public var errors: String {
        dependents.withLock { $0.programs }.map(\.errors).joined()
    }

    /// Waits until a name gains an owner, or loses it if `wanted` is false.
    @BusActor @discardableResult
    public func waitForOwner(
        of name: String,
        _ wanted: Bool = true,
        within limit: Duration = .seconds(60)
    ) async throws -> String? {
        let owners = EventRecorder<String?>()
        let connection = try Connection(.address(address))
        defer { connection.close() }
        let watch = connection.watchName(name) { owners.record($0) }
        defer { watch.cancel() }
        let what = wanted ? "an owner of \(name)" : "\(name) to be free"
        return try await owners.first(what, within: limit) { ($0 != nil) == wanted }
    }

    /// Ends the bus and every program on it, and removes its folder.
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
