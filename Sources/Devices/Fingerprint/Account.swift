import DBus
import Glibc

/// Users as fprintd knows them: by name.
package enum Account {
    /// The account's name; nil when there is none, or none that may be part of a path.
    ///
    /// Only the loop's thread asks, which is what getpwuid(3) needs.
    /// - Throws: `failed` when the look-up fails, which must not look like a user without prints.
    @BusActor
    package static func name(of uid: UInt32) throws(FprintFault) -> String? {
        errno = 0
        guard let entry = getpwuid(uid), let text = entry.pointee.pw_name else {
            // What getpwuid(3) lists for "not found".
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

    /// Whether fprintd may be given the name: it makes a folder of it.
    static func isSafe(_ name: String) -> Bool {
        guard (1...256).contains(name.utf8.count), name.utf8.first != UInt8(ascii: ".") else {
            return false
        }
        return name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") }
    }
}
