import CPAM
import Glibc

/// `--passcode-set`: whether users have a password.
enum PasscodeSetting: String {
    case auto
    case always
    case never

    /// `hasDirectory` says that PAM asks more than the shadow file.
    func isSet(for user: SystemUser, hasDirectory: Bool) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto: Self.isPasscode(user.shadow, hasDirectory: hasDirectory)
        }
    }

    /// Whether the user's password was removed, so that it can't simply be set again.
    ///
    /// Only `auto` can tell; `always` and `never` say nothing about removal.
    func isRemoved(of user: SystemUser, hasDirectory: Bool) -> Bool {
        self == .auto && !hasDirectory && Self.isRemoved(user.shadow)
    }

    /// Whether an entry of shadow has no hash; a locked entry keeps its hash behind the mark.
    static func isRemoved(_ shadow: ShadowEntry) -> Bool {
        guard case .field(let field) = shadow else { return false }
        return field.allSatisfy { $0 == "!" || $0 == "*" }
    }

    /// Whether an entry of shadow is usable: neither empty nor locked.
    ///
    /// A directory may know a user without a hash here, so PAM decides about them. An unreadable
    /// entry counts as set, too.
    static func isPasscode(_ shadow: ShadowEntry, hasDirectory: Bool) -> Bool {
        switch shadow {
        case .unreadable: true
        case .missing: hasDirectory
        case .field(let field) where isMark(field): hasDirectory
        case .field(let field): !(field.isEmpty || field.hasPrefix("!") || field.hasPrefix("*"))
        }
    }

    /// Whether a field has a mark in place of a hash, such as `*`, `!!` or Kerberos' `*K*`.
    private static func isMark(_ field: String) -> Bool {
        guard field.hasPrefix("!") || field.hasPrefix("*"), field.count <= 8 else { return false }
        return field.allSatisfy { $0 == "!" || $0 == "*" || $0.isASCII && $0.isUppercase }
    }
}

/// A user's entry in shadow.
enum ShadowEntry: Hashable {
    case field(String)
    case missing
    case unreadable
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

    /// The password field of shadow.
    var shadow: ShadowEntry {
        var entry = spwd()
        // SAFETY: null when there is no entry; the entry points into `buffer`, which outlives its
        // use.
        var found: UnsafeMutablePointer<spwd>?
        var buffer = [CChar](repeating: 0, count: Self.bufferSize)
        defer { explicit_bzero(&buffer, buffer.count) }
        let error = getspnam_r(name, &entry, &buffer, buffer.count, &found)
        guard found != nil, let field = entry.sp_pwdp else {
            return error == 0 || error == ENOENT ? .missing : .unreadable
        }
        return .field(String(cString: field))
    }

    /// Larger than any real record; a longer record counts as a failed look-up.
    private static let bufferSize = 65_536
}
