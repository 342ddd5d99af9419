import DBus
import Localization
import Synchronization

/// Remedies, adapted to the bus that this command uses.
enum Advice {
    private static let place = Mutex<(bus: String?, address: Connection.Address?)>((nil, nil))

    static var bus: String? {
        get { place.withLock { $0.bus } }
        set { place.withLock { $0.bus = newValue } }
    }

    /// The bus of the service, or the bus searched last; nil: none.
    static var address: Connection.Address? {
        get { place.withLock { $0.address } }
        set { place.withLock { $0.address = newValue } }
    }

    /// The service's bus, as `--bus` takes it.
    static var busName: String {
        switch address {
        case .system: "system"
        case .session: "session"
        case .address(let text): text
        case nil: bus ?? ""
        }
    }

    /// The remedy for an installed service that does not answer.
    static var forUnreachable: String {
        switch address {
        case .system: "systemctl status localauthd"
        case .session: "systemctl --user status localauthd"
        case .address, nil: localized("start it there, or leave --bus out")
        }
    }

    /// Adds this command's `--bus` to a hint that names a command.
    static func complete(_ hint: String) -> String {
        guard let bus, hint.contains("localauthctl") else { return hint }
        // Insert before a full stop.
        let stop = hint.hasSuffix(".") || hint.hasSuffix("。") ? String(hint.suffix(1)) : ""
        let command = String(hint.dropLast(stop.count))
        return localized("%1$s (with --bus %2$s)", command, bus) + stop
    }
}
