import CPAM
import Glibc

/// `--passcode-set`: whether users have a password.
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

    /// Whether the user's password was removed, so that it can't simply be set again.
    ///
    /// Only `auto` can tell; `always` and `never` say nothing about removal.
    func isRemoved(of user: SystemUser) -> Bool {
        self == .auto && Self.isRemoved(shadowField: user.shadowField)
    }

    /// Whether a password field of shadow has no hash; a locked field keeps its hash behind the
    /// mark.
    static func isRemoved(shadowField field: String?) -> Bool {
        guard let field else { return false }
        return field.allSatisfy { $0 == "!" || $0 == "*" }
    }

    /// Whether a password field of shadow is usable: neither empty nor locked.
    ///
    /// An unreadable field counts as set, and PAM decides at the next check.
    static func isPasscode(shadowField field: String?) -> Bool {
        guard let field else { return true }
        return !(field.isEmpty || field.hasPrefix("!") || field.hasPrefix("*"))
    }
}

struct SystemUser: Hashable {
    let name: String

    /// Fails when the user does not exist or the look-up fails.
    init?(uid: UInt32) {
        var entry = passwd()
        // SAFETY: null when there is no entry; the entry points into `buffer`, which outlives its
        // use.
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: Self.bufferSize)
        guard getpwuid_r(uid, &entry, &buffer, buffer.count, &found) == 0, found != nil,
            let name = entry.pw_name
        else { return nil }
        self.name = String(cString: name)
    }

    /// The password field of shadow; nil if unreadable.
    var shadowField: String? {
        var entry = spwd()
        // SAFETY: null when there is no entry; the entry points into `buffer`, which outlives its
        // use.
        var found: UnsafeMutablePointer<spwd>?
        var buffer = [CChar](repeating: 0, count: Self.bufferSize)
        defer { explicit_bzero(&buffer, buffer.count) }
        guard getspnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil,
            let field = entry.sp_pwdp
        else { return nil }
        return String(cString: field)
    }

    /// Larger than any real record; a longer record counts as a failed look-up.
    private static let bufferSize = 65_536
}
