import DBus
import Foundation
import LocalAuthBus
import Testing

/// A private bus in a folder of its own, and what runs on it; all of it goes with the desk.
final class Desk: Sendable {
    static let service = "org.localauth.Authentication1"
    static let root = ObjectPath(trusted: "/org/localauth/Authentication1")
    static let sensorName = "org.localauth.Sensor1.Simulated"

    let folder: String
    let address: String
    private let bus: Program

    init() async throws {
        folder = NSTemporaryDirectory() + "localauth-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        address = "unix:path=\(folder)/bus"
        try Self.configuration(address: address)
            .write(toFile: folder + "/bus.conf", atomically: true, encoding: .utf8)
        let said = Pipe()
        bus = try Program(
            "/usr/bin/dbus-daemon",
            ["--nofork", "--config-file=\(folder)/bus.conf", "--print-address"],
            log: folder + "/bus.log",
            output: said.fileHandleForWriting
        )
        // It says its address when it listens; nothing at all when it can't.
        guard !said.fileHandleForReading.availableData.isEmpty else {
            throw DBusError(.failed, bus.said)
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func configuration(address: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>\(address)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*"/>
            <allow receive_type="method_call"/><allow receive_type="method_return"/>
            <allow receive_type="error"/><allow receive_type="signal"/>
            <allow own="*"/>
          </policy>
          <limit name="max_connections_per_user">1024</limit>
          <limit name="max_completed_connections">1024</limit>
          <limit name="max_replies_per_connection">50000</limit>
        </busconfig>

        """
    }

    /// Starts a program of the project on this bus; doesn't wait for anything.
    func start(_ name: String, _ arguments: [String] = []) throws -> Program {
        try Program(
            Program.folder + "/" + name,
            ["--bus", address] + arguments,
            log: "\(folder)/\(name)-\(UUID().uuidString).log"
        )
    }

    /// A new client.
    @BusActor
    func connect() throws -> Connection {
        try Connection(.address(address))
    }

    /// Starts the daemon and waits until it answers.
    @BusActor
    func daemon(_ arguments: [String] = []) async throws -> Program {
        let program = try start("localauthd", ["--state-directory", folder + "/state"] + arguments)
        let client = try connect()
        defer { client.close() }
        try await client.waitForOwner(of: Self.service)
        return program
    }

    /// Starts the verifier with a passcode that is always set.
    @BusActor
    func verifier() async throws -> Program {
        let program = try start("localauth-passcode", ["--passcode-set", "always"])
        let client = try connect()
        defer { client.close() }
        try await client.waitForOwner(of: "org.localauth.Passcode1")
        return program
    }

    /// Starts a simulated sensor with one template of this user, and waits until the daemon has it.
    @BusActor
    func sensor() async throws -> Program {
        let program = try start("localauth-sensor-simulated")
        let client = try connect()
        defer { client.close() }
        try await client.waitForOwner(of: Self.sensorName)
        let sensor = SimulatedSensor1Proxy(
            client,
            destination: Self.sensorName,
            path: ObjectPath(trusted: "/org/localauth/Sensor1")
        )
        _ = try await sensor.addTemplate(uid: getuid(), label: "finger")
        let manager = Authentication1Proxy(client, destination: Self.service, path: Self.root)
        while try await manager.canEvaluate(policy: 1).code == -6 { await Task.yield() }
        return program
    }
}

extension Connection {
    /// Waits until somebody owns a name.
    func waitForOwner(of name: String) async throws {
        let (owners, feed) = AsyncStream.makeStream(of: String?.self)
        let watch = watchName(name) { feed.yield($0) }
        defer { watch.cancel() }
        for await owner in owners where owner != nil { return }
    }

    /// The name of the error that a call was answered with; nil: it succeeded.
    func errorName(
        of member: String,
        on interface: String,
        at path: ObjectPath,
        _ arguments: [Variant],
        to destination: String = Desk.service
    ) async -> String? {
        do throws(DBusError) {
            _ = try await call(
                to: destination,
                path: path,
                interface: interface,
                member: member,
                signature: arguments.map(\.signature).joined(),
                timeout: .seconds(20)
            ) { writer throws(DBusError) in
                for argument in arguments { try argument.writeBare(to: &writer) }
            }
            return nil
        } catch {
            return error.name.rawValue
        }
    }
}

extension Variant {
    /// Writes the value without saying its type.
    func writeBare(to writer: inout MessageWriter) throws(DBusError) {
        switch self {
        case .bool(let value): try writer.write(value)
        case .uint8(let value): try writer.write(value)
        case .int16(let value): try writer.write(value)
        case .uint16(let value): try writer.write(value)
        case .int32(let value): try writer.write(value)
        case .uint32(let value): try writer.write(value)
        case .int64(let value): try writer.write(value)
        case .uint64(let value): try writer.write(value)
        case .double(let value): try writer.write(value)
        case .string(let value): try writer.write(value)
        case .objectPath(let value): try writer.write(value)
        case .signature(let value): try writer.write(value)
        case .descriptor(let value): try writer.write(value)
        case .bytes(let value): try writer.write(value)
        case .strings(let value): try writer.write(value)
        case .dictionary(let value): try writer.write(value)
        case .variant(let value): try writer.write(value)
        case .array, .structure, .entries:
            throw DBusError(.notSupported, "the tests send none of these alone")
        }
    }
}
