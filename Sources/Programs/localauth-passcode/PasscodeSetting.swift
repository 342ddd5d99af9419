import CPAM
import Glibc

/// `--passcode-set`: whether users have a passcode at all.
enum PasscodeSetting: String {
    case auto
    case always
    case never

    func isSet(for user: SystemUser) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto: Self.isPasscode(shadowField: user.shadowField)
        }
    }

    /// Whether the same passcode can't be set again.
    ///
    /// What the administrator says with this option says nothing of that.
    func isRemoved(of user: SystemUser) -> Bool {
        self == .auto && Self.isRemoved(shadowField: user.shadowField)
    }

    /// Whether a password field of shadow has no hash: a locked one has, behind the mark.
    static func isRemoved(shadowField field: String?) -> Bool {
        guard let field else { return false }
        return field.allSatisfy { $0 == "!" || $0 == "*" }
    }

    /// Whether a password field of shadow is a passcode: not when it is empty or locked.
    ///
    /// A field that can't be read counts as set: then PAM decides when the passcode is checked.
    static func isPasscode(shadowField field: String?) -> Bool {
        guard let field else { return true }
        return !(field.isEmpty || field.hasPrefix("!") || field.hasPrefix("*"))
    }
}

/// A user in the system's user database.
struct SystemUser: Hashable {
    let name: String

    /// Nil when there is no such user, or the look-up fails.
    init?(uid: UInt32) {
        var entry = passwd()
        // The pointer is null when there is no entry.
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: Self.bufferSize)
        guard getpwuid_r(uid, &entry, &buffer, buffer.count, &found) == 0, found != nil,
            let name = entry.pw_name
        else { return nil }
        self.name = String(cString: name)
    }

    /// The password field of shadow; nil when it can't be read.
    var shadowField: String? {
        var entry = spwd()
        // The pointer is null when there is no entry.
        var found: UnsafeMutablePointer<spwd>?
        var buffer = [CChar](repeating: 0, count: Self.bufferSize)
        defer { explicit_bzero(&buffer, buffer.count) }
        guard getspnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil,
            let field = entry.sp_pwdp
        else { return nil }
        return String(cString: field)
    }

    /// Longer records than any real one; a longer one counts as a failed look-up.
    private static let bufferSize = 65_536
}
