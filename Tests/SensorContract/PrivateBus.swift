public import DBus
public import Glibc

/// A `dbus-daemon` of a test's own, in a temporary folder that goes with it.
@BusActor public final class PrivateBus {
    /// What programs take after `--bus`.
    public let address: String
    /// The temporary folder, for whatever the test needs.
    public let folder: String
    private let daemon: LaunchedProgram
    private var connections: [Connection] = []

    /// Starts a bus that lets everybody own and call everything, and waits until it listens.
    ///
    /// `.service` files in its folder are what it can start.
    public init() async throws {
        var template = Array("/tmp/localauth-test-XXXXXX".utf8CString)
        try expect(mkdtemp(&template) != nil, "a temporary folder")
        folder = String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
        chmod(folder, 0o711)
        address = "unix:path=\(folder)/bus"
        try Self.write(Self.configuration(address, folder), to: folder + "/bus.conf")
        daemon = try LaunchedProgram(
            ["/usr/bin/dbus-daemon", "--nofork", "--config-file=\(folder)/bus.conf"],
            output: folder + "/bus"
        )
        // The socket is there a moment before anybody listens.
        for _ in 0..<500 {
            if let probe = try? Connection(.address(address)) {
                probe.close()
                break
            }
            await pause(.milliseconds(10))
        }
    }

    /// A new connection, closed with the bus.
    public func connect() throws(DBusError) -> Connection {
        let connection = try Connection(.address(address))
        connections.append(connection)
        return connection
    }

    /// Starts a program of this package on this bus.
    public func start(_ words: [String]) throws(ContractFailure) -> LaunchedProgram {
        started += 1
        var words = words
        if !words[0].hasPrefix("/") { words[0] = LaunchedProgram.folder + "/" + words[0] }
        return try LaunchedProgram(
            words + ["--bus", address],
            output: "\(folder)/program-\(started)"
        )
    }
    private var started = 0

    /// Waits until a name has an owner, or none.
    public func waitForOwner(
        of name: String,
        _ wanted: Bool = true,
        within limit: Duration = .seconds(5)
    ) async throws -> String? {
        let owners = Witness<String?>()
        let connection = try connect()
        let watch = connection.watchName(name) { owners.record($0) }
        defer { watch.cancel() }
        let what = wanted ? "an owner of \(name)" : "\(name) to be free"
        return try await owners.first(what, within: limit) { ($0 != nil) == wanted }
    }

    /// Ends the bus and removes its folder.
    public func end() async {
        for connection in connections { connection.close() }
        await daemon.end()
        if let listing = opendir(folder) {
            while let entry = readdir(listing) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                unlink(folder + "/" + name)
            }
            closedir(listing)
        }
        rmdir(folder)
    }

    /// Writes a small file.
    public static func write(
        _ text: String,
        to path: String,
        mode: mode_t = 0o644
    ) throws(ContractFailure) {
        let file = creat(path, mode)
        let bytes = Array(text.utf8)
        try expect(
            file >= 0 && Glibc.write(file, bytes, bytes.count) == bytes.count,
            "\(path) to be written"
        )
        close(file)
    }

    private static func configuration(_ address: String, _ folder: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>\(address)</listen>
          <auth>EXTERNAL</auth>
          <servicedir>\(folder)</servicedir>
          <policy context="default">
            <allow user="*"/><allow own="*"/><allow send_destination="*"/>
            <allow receive_type="signal"/><allow receive_type="method_call"/>
            <allow receive_type="error"/><allow receive_type="method_return"/>
          </policy>
        </busconfig>
        """
    }
}
