import AgentKit
import DBus
import LocalAuthClient
import Localization

/// Finds the service and its sensors for a command, or says what to do when they are not there.
extension RemoteService {
    /// Connects, and starts the service where the bus can.
    static func reach(_ address: Connection.Address) async throws(Failure) -> RemoteService {
        do throws(DBusError) {
            return try await find(on: try Connection(address))
        } catch {
            throw Failure(.unreachable, error)
        }
    }

    /// Every sensor, by name, with texts that are safe on a terminal.
    func plainSensors() async throws(DBusError) -> [RemoteSensor] {
        try await sensors().map(\.plain)
    }

    /// The sensor of that name; without a name the only one there is.
    func sensor(_ name: String?) async throws -> RemoteSensor {
        let all = try await plainSensors()
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
}
