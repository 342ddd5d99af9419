/// Bounds on the calls and replies of neighbours, in bytes unless a comment says otherwise.
enum GuardLimits {
    /// Messages that are read in a row before a waiting call is served.
    static let readsInRow = 256
    /// Small calls of a connection that may wait beside all other calls of its user.
    ///
    /// The value is dbus-daemon's limit of unanswered calls on the system bus.
    static let callsOfConnection = 128
    /// Waiting calls of a connection from which on calls without a reply are dropped.
    static let unansweredCalls = 32
    static let smallCall = 2048
    /// Bytes of a user's waiting calls, without these small calls.
    static let heldOfUser = 4 * 1024 * 1024

    /// Sent bytes from which on the bus is asked how many it still has.
    static let unreadAsked = 256 * 1024
    /// Unread bytes of a connection from which on its calls wait.
    static let unreadOfConnection = 2 * 1024 * 1024
    /// Unread bytes of a user from which on the user's calls wait.
    static let unreadOfUser = 8 * 1024 * 1024
    /// Unread bytes of all users from which on calls of users with more than ``little`` wait.
    static let unreadOfAll = 64 * 1024 * 1024
    /// Unread bytes that each user may have in any case.
    static let little = 32 * 1024
}
