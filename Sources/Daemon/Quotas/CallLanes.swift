import BusGuard

/// What the service asks others, by what may wait for what (L21).
///
/// Together they stay below what a bus allows one connection, so that a prompt or a passcode always
/// finds a place, whatever was asked before.
extension CallLane {
    /// Questions: templates, passcode set, sessions, health.
    static let questions = CallLane("questions", capacity: 24, perUser: 8, waiting: 256)
    /// Changes of templates: a user's come one after the other.
    static let changes = CallLane("changes", capacity: 8, perUser: 1, waiting: 64)
    /// Sensors that look for a person or enrol one, for as long as that takes.
    static let looks = CallLane("looks", capacity: 44, perUser: 22)
    /// Prompts that are to be shown.
    ///
    /// Agents are anybody's programs: what they leave unanswered keeps its place, because the bus
    /// counts it until they leave. So few are one user's.
    static let prompts = CallLane("prompts", capacity: 16, perUser: 2, waiting: 64)
    /// Passcodes that are verified.
    static let passcodes = CallLane("passcodes", capacity: 16, perUser: 8, waiting: 64)
    /// polkit, which may ask an administrator for as long as a prompt is up.
    static let administration = CallLane("administration", capacity: 4, perUser: 1)

    /// What sensors are asked about themselves, in the place of a user each: what one leaves
    /// unanswered takes no place of another's, or of the service's.
    static let sensors = CallLane("sensors", capacity: 8, perUser: 1, waiting: 16)

    /// All of them.
    static let all = [questions, sensors, changes, looks, prompts, passcodes, administration]
}
