import Glibc

/// Who this process is.
enum ProcessIdentity {
    /// Its user.
    static let uid: UInt32 = geteuid()
}
