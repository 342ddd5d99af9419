import Foundation

/// A dbus-daemon of our own in a folder of our own; both go with it.
public final class PrivateBus {
    /// For whatever belongs to it; removed with it.
    public let folder: String
    /// What programs take after `--bus`.
    public let address: String
    private let daemon: ChildProcess

    /// Starts a bus that lets everybody own and call everything.
    ///
    /// `.service` files in its folder are what it can start.
    public init(at place: ChildProcess.Place? = nil) throws {
        folder = NSTemporaryDirectory() + "localauth-bench-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        let configuration = folder + "/bus.conf"
        try Self.configuration(folder)
            .write(toFile: configuration, atomically: false, encoding: .utf8)
        daemon = try ChildProcess(
            [
                "/usr/bin/dbus-daemon", "--nofork", "--config-file=" + configuration,
                "--print-address",
            ],
            at: place,
            errors: folder + "/bus.log"
        )
        address = try daemon.readLine(within: 10)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func configuration(_ folder: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>unix:path=\(folder)/bus</listen>
          <auth>EXTERNAL</auth>
          <servicedir>\(folder)</servicedir>
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
