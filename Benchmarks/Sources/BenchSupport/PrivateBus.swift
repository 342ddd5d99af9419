import Foundation

/// A dbus-daemon of our own in a folder of our own; both go with it.
final class PrivateBus {
    let folder: String
    let address: String
    private let daemon: ChildProcess

    init() throws {
        folder = NSTemporaryDirectory() + "localauth-bench-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        let configuration = folder + "/bus.conf"
        try Self.configuration(socket: folder + "/bus")
            .write(toFile: configuration, atomically: false, encoding: .utf8)
        daemon = try ChildProcess(
            [
                "/usr/bin/dbus-daemon", "--nofork", "--config-file=" + configuration,
                "--print-address",
            ],
            at: .clients
        )
        address = try daemon.readLine(within: 10)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func configuration(socket: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>unix:path=\(socket)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*"/>
            <allow receive_type="method_call"/><allow receive_type="method_return"/>
            <allow receive_type="error"/><allow receive_type="signal"/>
            <allow own="*"/>
          </policy>
          <limit name="max_replies_per_connection">50000</limit>
        </busconfig>

        """
    }
}
