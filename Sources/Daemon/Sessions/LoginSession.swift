import DBus

/// What the login manager says of one session.
struct LoginSession: Equatable {
    let id: String
    let uid: UInt32
    /// Whether it comes over the network.
    let isRemote: Bool
    /// Whether its user sits at the machine in it.
    ///
    /// As for polkit, a seat is what makes a session local. Without one only a login on a terminal
    /// is: `su` in a user unit and `ssh localhost` make sessions that the login manager doesn't
    /// call remote either, and so does a remote desktop.
    let isLocal: Bool
    /// Its terminal, such as `tty2`; empty without one.
    private let terminal: String
    private let isGraphical: Bool
    /// Whether its display is an X server.
    let isX11: Bool
    private(set) var isActive: Bool
    private(set) var isLocked: Bool
    private var isClosing: Bool

    /// Whether somebody may be asked in it.
    var isInFront: Bool { isActive && !isClosing }

    /// Whether it is a desktop at this machine.
    var isDesktop: Bool { isLocal && isGraphical }
    /// Whether it is that, or what the login manager calls the user's service manager.
    var isAtMachine: Bool { isLocal || isManager }
    private let isManager: Bool

    /// Nil unless all that matters is there, and of its type.
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

    /// Whether it is a user's, on a seat or of a login on a terminal.
    private static func isPlace(_ properties: [String: Variant]) -> Bool {
        if let kind = properties["Class"]?.asString, kind != "user" { return false }
        guard case .structure(let seat) = properties["Seat"], seat.first?.asString == "" else {
            return true
        }
        return properties["Service"]?.asString == "login"
    }

    /// Whether what a process in it shows is on its own display or terminal, by the process's
    /// controlling terminal: empty for none, nil for one that isn't known.
    ///
    /// Without a terminal, a graphical session has one place to show anything.
    func shows(onTerminal other: String?) -> Bool {
        guard let other else { return false }
        return other.isEmpty ? isGraphical : other == terminal
    }

    /// Whether less may be asked in it than in what was known.
    func isWorse(than known: Self) -> Bool {
        isLocked && !known.isLocked || !isInFront && known.isInFront
    }

    /// Takes over what changed.
    mutating func update(_ changed: [String: Variant]) {
        if let isActive = changed["Active"]?.asBool { self.isActive = isActive }
        if let isLocked = changed["LockedHint"]?.asBool { self.isLocked = isLocked }
        if let state = changed["State"]?.asString { isClosing = state == "closing" }
    }
}
