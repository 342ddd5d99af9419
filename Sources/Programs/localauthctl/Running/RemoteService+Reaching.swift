import AgentKit
import DBus
import LocalAuthClient
import Localization

extension RemoteService {
    /// Connects to the service, and starts it where the bus can.
    ///
    /// `bus` is the argument of `--bus`. Without it, the bus of the installed service is used,
    /// system bus first. This choice holds even if the service can't be reached or the bus refuses.
    static func reach(_ bus: String?) async throws(Failure) -> RemoteService {
        let addresses = bus.map { [Connection.Address(argument: $0)] } ?? [.system, .session]
        Advice.bus = bus
        for address in addresses {
            Advice.address = address
            let connection: Connection
            do throws(DBusError) {
                connection = try Connection(address)
            } catch {
                // A machine need not have both buses.
                guard bus == nil, error.name == .noServer else {
                    throw Failure(.unreachable, error)
                }
                continue
            }
            do throws(DBusError) {
                if let service = try await find(on: connection) { return service }
            } catch {
                throw Failure(.unreachable, error)
            }
        }
        Advice.address = nil
        throw Failure(
            .unreachable,
            bus == nil
                ? localized("The service is neither on the system bus nor on the session bus.")
                : localized("The service is not on this bus."),
            hint: bus == nil
                ? localized("install the service, or name its bus with --bus")
                : localized("start it there, or leave --bus out")
        )
    }

    /// Lists the sensors by name, with texts that are safe on a terminal.
    func plainSensors() async throws(DBusError) -> [RemoteSensor] {
        try await sensors().map(\.plain)
    }

    /// Finds the sensor with this name; nil: the only sensor.
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
                    hint: localized("use --sensor with a name out of %1$s", names)
                )
        }
        throw Failure(
            .refused,
            localized("There is no sensor “%1$s”.", plainText(name, limit: 64)),
            hint: names.isEmpty
                ? "localauthctl doctor"
                : localized(
                    "use --sensor with a name out "
                        + "of %1$s",
                    names
                )
        )
    }
}
