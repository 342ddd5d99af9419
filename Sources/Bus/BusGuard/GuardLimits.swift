/// Bounds on the calls and replies of neighbours, in bytes unless a comment says otherwise.
enum GuardLimits {
    /// Messages that are read in a row before a waiting call is served.
    static let readsInRow = 256
    /// Small calls of a connection that may wait whatever else its user has waiting: as many as
    /// dbus-daemon lets be unanswered on the system bus.
    static let callsOfConnection = 128
    /// Waiting calls of a connection from which on calls without a reply are dropped.
    static let unansweredCalls = 32
    /// A small call.
    static let smallCall = 2048
    /// Waiting calls of a user, but for those small calls.
    static let heldOfUser = 4 * 1024 * 1024

    /// Sent bytes from which on the bus is asked how many it still has.
    static let unreadAsked = 256 * 1024
    /// Unread bytes of a connection from which on its calls wait.
    static let unreadOfConnection = 2 * 1024 * 1024
    /// Unread bytes of a user from which on the user's calls wait.
    static let unreadOfUser = 8 * 1024 * 1024
    /// Unread bytes of all users from which on calls of users with more than ``little`` wait.
    static let unreadOfAll = 64 * 1024 * 1024
    /// Unread bytes that each user may have whatever the others have.
    static let little = 32 * 1024
}
