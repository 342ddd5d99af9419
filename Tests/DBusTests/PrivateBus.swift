import DBus
import Glibc
import Testing

/// A bus of the test's own, in a temporary folder.
final class PrivateBus: Sendable {
    let address: String
    private let folder: String
    private let daemon: ChildProcess

    init() throws {
        var template = Array("/tmp/dbus-tests-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let folder = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
        self.folder = folder
        let configuration = folder + "/bus.conf"
        let file = try #require(fopen(configuration, "w"))
        fputs(Self.configuration(folder), file)
        fclose(file)
        daemon = try ChildProcess([
            "dbus-daemon", "--nofork", "--nopidfile", "--config-file=" + configuration,
            "--print-address=1",
        ])
        // The daemon listens once it prints this.
        address = daemon.line()
        try #require(address.hasPrefix("unix:"), "\(address)")
    }

    deinit {
        for name in ["bus.conf", "bus"] {
            unlink(folder + "/" + name)
        }
        rmdir(folder)
    }

    @BusActor
    func connect() throws(DBusError) -> Connection {
        try Connection(.address(address))
    }

    private static func configuration(_ folder: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>unix:path=\(folder)/bus</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow user="*"/>
            <allow send_destination="*"/>
            <allow receive_type="signal"/><allow receive_type="method_call"/>
            <allow receive_type="error"/><allow receive_type="method_return"/>
            <allow own="*"/>
          </policy>
          <limit name="max_replies_per_connection">50000</limit>
        </busconfig>
        """
    }
}

/// Runs a test body with a service that owns a name on a private bus, and a client.
@BusActor
func withBus(
    _ body: @BusActor (PrivateBus, _ server: Connection, _ client: Connection) async throws -> Void
) async throws {
    let bus = try PrivateBus()
    let server = try bus.connect()
    let client = try bus.connect()
    defer {
        client.close()
        server.close()
    }
    try await body(bus, server, client)
}
