import Glibc

enum ProcessIdentity {
    static let uid: UInt32 = geteuid()
}
