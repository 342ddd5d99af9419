import AuthEngine

/// The places of callers and agents.
extension Sessions {
    struct Place {
        /// The session whose agent may prompt; nil if none may.
        var session: String?
        var absence = Absence.unknown
        var isRemote = false
        var isInNoSession = false
    }

    /// Where an agent's prompts appear.
    struct Home {
        let session: String
        /// Whether the prompts certainly appear on the session's own display or terminal.
        let isAtDisplay: Bool
    }

    func isDesktop(_ id: String?) -> Bool {
        sessions.values.contains { $0.id == id && $0.isDesktop }
    }

    func isX11(_ id: String?) -> Bool { sessions.values.contains { $0.id == id && $0.isX11 } }

    /// Returns the session assumed for a user if there is no login manager.
    static func only(of uid: UInt32) -> String { "uid:\(uid)" }
}
