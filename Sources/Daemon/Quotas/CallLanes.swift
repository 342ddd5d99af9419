import BusGuard

/// Lanes for the service's calls to other processes, grouped so that a slow kind delays no other
/// (L21).
///
/// Their sum stays below the bus's limit for one connection, so that a prompt or a password always
/// finds a place.
extension CallLane {
    /// Queries: templates, whether a password is set, sessions, health.
    static let questions = CallLane("questions", capacity: 24, perUser: 8, waiting: 256)
    /// Changes of templates, one at a time for each user.
    static let changes = CallLane("changes", capacity: 8, perUser: 1, waiting: 64)
    /// Sensors that verify or enrol a person, for as long as that takes.
    static let operations = CallLane("looks", capacity: 44, perUser: 22)
    /// Prompts to show.
    ///
    /// Agents are untrusted programs. An unanswered call keeps its place, because the bus counts
    /// the call until the agent leaves. Therefore each user has few places.
    static let prompts = CallLane("prompts", capacity: 16, perUser: 2, waiting: 64)
    static let passcodes = CallLane("passcodes", capacity: 16, perUser: 8, waiting: 64)
    /// Calls to polkit, which may ask an administrator for as long as a prompt is up.
    static let administration = CallLane("administration", capacity: 4, perUser: 1)

    /// Queries to sensors about themselves.
    ///
    /// Each sensor counts as a user, so that a sensor that does not answer blocks neither other
    /// sensors nor the service.
    static let sensors = CallLane("sensors", capacity: 8, perUser: 1, waiting: 16)

    static let all = [questions, sensors, changes, operations, prompts, passcodes, administration]
}
