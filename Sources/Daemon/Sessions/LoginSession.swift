import DBus

struct LoginSession: Equatable {
    let id: String
    let uid: UInt32
    let isRemote: Bool
    /// Whether the user sits at the machine in this session.
    ///
    /// A session is local if it has a seat, as for polkit, or if it is a login on a terminal. The
    /// login manager's own flag is not sufficient: `su` in a user unit, `ssh localhost` and remote
    /// desktops create sessions without a seat that it does not call remote.
    let isLocal: Bool
    /// Such as `tty2`; empty without a terminal.
    private let terminal: String
    private let isGraphical: Bool
    let isX11: Bool
    private(set) var isActive: Bool
    private(set) var isLocked: Bool
    private var isClosing: Bool

    /// Whether the session may show prompts.
    var isInFront: Bool { isActive && !isClosing }

    var isDesktop: Bool { isLocal && isGraphical }
    /// Whether the session is local, or belongs to the user's service manager.
    var isAtMachine: Bool { isLocal || isManager }
    private let isManager: Bool

    /// Returns nil if a required property is missing or has a wrong type.
    init?(_ properties: [String: Variant]) {
        guard let id = properties["Id"]?.asString, !id.isEmpty, id.utf8.count <= 256,
            case .structure(let user) = properties["User"],
            let uid = user.first?.asUInt32, uid != UInt32.max,
            let isRemote = properties["Remote"]?.asBool,
            let isActive = properties["Active"]?.asBool,
            let isLocked = properties["LockedHint"]?.asBool
        else { return nil }
        self.id = id
        self.uid = uid
        self.isRemote = isRemote
        self.isActive = isActive
        self.isLocked = isLocked
        isClosing = properties["State"]?.asString == "closing"
        terminal = properties["TTY"]?.asString ?? ""
        isX11 = properties["Type"]?.asString == "x11"
        isGraphical = ["x11", "wayland", "mir"].contains(properties["Type"]?.asString ?? "")
        isLocal = !isRemote && Self.isPlace(properties)
        isManager = !isRemote && properties["Class"]?.asString?.hasPrefix("manager") == true
    }

    /// Whether the session is a user's session on a seat, or a login on a terminal.
    private static func isPlace(_ properties: [String: Variant]) -> Bool {
        if let kind = properties["Class"]?.asString, kind != "user" { return false }
        guard case .structure(let seat) = properties["Seat"], seat.first?.asString == "" else {
            return true
        }
        return properties["Service"]?.asString == "login"
    }

    /// Whether a process in the session shows its output on the session's own display or terminal.
    ///
    /// `other` is the process's controlling terminal: empty for none, nil if unknown. A process
    /// without a terminal can only use the display of a graphical session.
    func shows(onTerminal other: String?) -> Bool {
        guard let other else { return false }
        return other.isEmpty ? isGraphical : other == terminal
    }

    /// Whether the session has been locked or left since `known`.
    func isWorse(than known: Self) -> Bool {
        isLocked && !known.isLocked || !isInFront && known.isInFront
    }

    mutating func update(_ changed: [String: Variant]) {
        if let isActive = changed["Active"]?.asBool { self.isActive = isActive }
        if let isLocked = changed["LockedHint"]?.asBool { self.isLocked = isLocked }
        if let state = changed["State"]?.asString { isClosing = state == "closing" }
    }
}
