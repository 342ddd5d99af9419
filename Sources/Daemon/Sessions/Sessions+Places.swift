import AuthEngine

/// Where callers and agents are.
extension Sessions {
    /// Where a caller stands.
    struct Place {
        /// The session whose agent may ask; nil when none may.
        var session: String?
        /// Why there is none.
        var absence = Absence.unknown
        var isRemote = false
        /// Whether the caller is in no session.
        var isInNoSession = false
    }

    /// Where the prompts of an agent appear.
    struct Home {
        let session: String
        /// Whether they are known to be on the session's own display or terminal.
        let isAtDisplay: Bool
    }

    /// Whether a session is a desktop at this machine.
    func isDesktop(_ id: String?) -> Bool {
        sessions.values.contains { $0.id == id && $0.isDesktop }
    }

    /// Whether a session's display is an X server.
    func isX11(_ id: String?) -> Bool { sessions.values.contains { $0.id == id && $0.isX11 } }

    /// The session of a user without a login manager.
    static func only(of uid: UInt32) -> String { "uid:\(uid)" }
}
