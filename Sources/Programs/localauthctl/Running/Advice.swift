import DBus
import Localization
import Synchronization

/// What to do next, for the bus that this command is about.
enum Advice {
    private static let place = Mutex<(bus: String?, address: Connection.Address?)>((nil, nil))

    /// The argument of `--bus`; nil: there is none.
    static var bus: String? {
        get { place.withLock { $0.bus } }
        set { place.withLock { $0.bus = newValue } }
    }

    /// The bus on which the service is, or was looked for last; nil: it is on none.
    static var address: Connection.Address? {
        get { place.withLock { $0.address } }
        set { place.withLock { $0.address = newValue } }
    }

    /// The bus on which the service is, as `--bus` takes it.
    static var busName: String {
        switch address {
        case .system: "system"
        case .session: "session"
        case .address(let text): text
        case nil: bus ?? ""
        }
    }

    /// What to do about a service that is installed, and doesn't answer.
    static var forUnreachable: String {
        switch address {
        case .system: "systemctl status localauthd"
        case .session: "systemctl --user status localauthd"
        case .address, nil: localized("start it there, or leave --bus out")
        }
    }

    /// Commands need the same `--bus` as this one.
    static func complete(_ hint: String) -> String {
        guard let bus, hint.contains("localauthctl") else { return hint }
        // Of a sentence, before its full stop.
        let stop = hint.hasSuffix(".") || hint.hasSuffix("。") ? String(hint.suffix(1)) : ""
        let command = String(hint.dropLast(stop.count))
        return localized("%1$s (with --bus %2$s)", command, bus) + stop
    }
}
