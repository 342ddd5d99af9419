import AgentKit
import DBus
import LocalAuthBus
import Localization

/// The running service, pinned to the connection that owned its name at the start: signals are
/// taken from that one only.
@BusActor struct Service {
    static let name = "org.localauth.Authentication1"
    static let path = ObjectPath(trusted: "/org/localauth/Authentication1")

    let connection: Connection
    let owner: String
    let manager: Authentication1Proxy

    /// Connects, and starts the service where the bus can.
    static func reach(_ address: Connection.Address) async throws(Failure) -> Service {
        do throws(DBusError) {
            let connection = try Connection(address)
            if let owner = try await connection.nameOwner(name) {
                return Service(connection, owner)
            }
            _ = try await connection.call(
                to: name,
                path: path,
                interface: "org.freedesktop.DBus.Peer",
                member: "Ping",
                signature: "",
                timeout: nil
            ) { _ in }
            if let owner = try await connection.nameOwner(name) {
                return Service(connection, owner)
            }
            throw DBusError(.nameHasNoOwner, "The service ended at once.")
        } catch {
            throw Failure(.unreachable, error)
        }
    }

    init(_ connection: Connection, _ owner: String) {
        self.connection = connection
        self.owner = owner
        manager = Authentication1Proxy(connection, destination: owner, path: Self.path)
    }

    /// Every sensor, by name.
    func sensors() async throws(DBusError) -> [SensorRow] {
        let reply = try await connection.call(
            to: owner,
            path: Self.path,
            interface: "org.freedesktop.DBus.ObjectManager",
            member: "GetManagedObjects",
            signature: "",
            timeout: nil
        ) { _ in }
        let objects = try reply.read("a{oa{sa{sv}}}") { reader throws(DBusError) in
            try reader.read([ObjectPath: [String: [String: Variant]]].self)
        }
        return
            objects.compactMap { path, interfaces in
                interfaces["org.localauth.Device1"].map { SensorRow(path, $0) }
            }
            .sorted { $0.name < $1.name }
    }

    /// The sensor of that name; without a name the only one there is.
    func sensor(_ name: String?) async throws -> SensorRow {
        let all = try await sensors()
        let matching = all.filter { name == nil || $0.name == name }
        if let first = matching.first, matching.count == 1 { return first }
        let names = all.map(\.name).joined(separator: ", ")
        guard let name else {
            throw all.isEmpty
                ? Failure(.refused, localized("There is no sensor."), hint: "localauthctl doctor")
                : Failure(
                    .usage,
                    localized("There are several sensors."),
                    hint: localized("--sensor, one of %1$s", names)
                )
        }
        throw Failure(
            .refused,
            localized("There is no sensor “%1$s”.", plainText(name, limit: 64)),
            hint: names.isEmpty ? "localauthctl doctor" : localized("--sensor, one of %1$s", names)
        )
    }

    func device(_ sensor: SensorRow) -> Device1Proxy {
        Device1Proxy(connection, destination: owner, path: sensor.path)
    }
}
