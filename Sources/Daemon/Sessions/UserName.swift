import Contract
import DBus
import Glibc

/// The name of a user, for people and in files.
enum UserName {
    /// The account's name, or its number when it has none.
    ///
    /// Only the loop's thread asks, which is what getpwuid(3) needs.
    @BusActor
    static func of(_ uid: UInt32) -> String {
        guard let entry = getpwuid(uid), let name = entry.pointee.pw_name else { return "\(uid)" }
        return DisplayText.cleaned(String(cString: name), limit: DisplayText.titleLimit)
    }

    /// The number of an account that is named, or given by its number; nil when there is none.
    ///
    /// Only the loop's thread asks, which is what getpwnam(3) needs.
    @BusActor
    static func uid(of account: String) -> UInt32? {
        if !account.isEmpty, account.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return UInt32(account).flatMap { $0 == UInt32.max ? nil : $0 }
        }
        return getpwnam(account)?.pointee.pw_uid
    }
}
