import Contract
import DBus
import Glibc

enum UserName {
    /// Returns the account's name, or its number without an account.
    ///
    /// Called only on the loop's thread, because getpwuid(3) is not thread-safe.
    @BusActor
    static func of(_ uid: UInt32) -> String {
        guard let entry = getpwuid(uid), let name = entry.pointee.pw_name else { return "\(uid)" }
        return DisplayText.cleaned(String(cString: name), limit: DisplayText.titleLimit)
    }

    /// Returns the uid of an account by its name or number; nil if there is no account.
    ///
    /// Called only on the loop's thread, because getpwnam(3) is not thread-safe.
    @BusActor
    static func uid(of account: String) -> UInt32? {
        if !account.isEmpty, account.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return UInt32(account).flatMap { $0 == UInt32.max ? nil : $0 }
        }
        return getpwnam(account)?.pointee.pw_uid
    }
}
