import DBus
import Glibc

/// Finds the account names that fprintd uses for users.
package enum Account {
    /// Returns the account's name, or nil without an account or if its name is unsafe in a path.
    ///
    /// Call it only on the loop's thread, because getpwuid(3) is not thread-safe.
    /// - Throws: `failed` if the look-up fails, so that this does not look like a user without
    ///   prints.
    @BusActor
    package static func name(of uid: UInt32) throws(FprintFault) -> String? {
        errno = 0
        guard let entry = getpwuid(uid), let text = entry.pointee.pw_name else {
            // These values mean "not found" in getpwuid(3).
            guard [0, ENOENT, ESRCH, EBADF, EPERM].contains(errno) else {
                throw .failed(
                    "The account \(uid) can't be looked up: \(String(cString: strerror(errno)))."
                )
            }
            return nil
        }
        let name = String(cString: text)
        return isSafe(name) ? name : nil
    }

    /// Returns whether the name is safe for fprintd, which uses it as the name of a folder.
    static func isSafe(_ name: String) -> Bool {
        guard (1...256).contains(name.utf8.count), name.utf8.first != UInt8(ascii: ".") else {
            return false
        }
        return name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") }
    }
}
