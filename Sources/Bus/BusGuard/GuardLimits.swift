/// Bounds on the calls and replies of neighbours, in bytes unless a comment says otherwise.
enum GuardLimits {
    /// Messages read in a row before a waiting call is served.
    static let readsInRow = 256
    /// Small calls that a connection may have waiting, even if its user is over ``heldOfUser``.
    ///
    /// Equal to dbus-daemon's limit of unanswered calls on the system bus.
    static let callsOfConnection = 128
    /// With this many waiting calls, further calls without a reply are dropped.
    static let unansweredCalls = 32
    static let smallCall = 2048
    /// Bytes of a user's waiting calls, without these small calls.
    static let heldOfUser = 4 * 1024 * 1024

    /// From this many sent bytes on, the guard asks the bus how many are unread.
    static let unreadAsked = 256 * 1024
    /// From this many unread bytes of a connection on, its calls wait.
    static let unreadOfConnection = 2 * 1024 * 1024
    /// From this many unread bytes of a user on, the user's calls wait.
    static let unreadOfUser = 8 * 1024 * 1024
    /// From this many unread bytes on, calls of all users with more than ``alwaysAllowedUnread``
    /// unread bytes wait.
    static let unreadOfAll = 64 * 1024 * 1024
    /// Unread bytes that each user may always have.
    static let alwaysAllowedUnread = 32 * 1024
}
