import DBus
import Glibc

/// The name of a user, for people.
enum UserName {
    /// The account's name, or its number when it has none.
    ///
    /// Only the loop's thread asks, which is what getpwuid(3) needs.
    @BusActor
    static func of(_ uid: UInt32) -> String {
        guard let entry = getpwuid(uid), let name = entry.pointee.pw_name else { return "\(uid)" }
        return DisplayText.cleaned(String(cString: name), limit: DisplayText.titleLimit)
    }
}
