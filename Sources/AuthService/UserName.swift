import Glibc

/// The name of a user, for people.
enum UserName {
    /// The account's name, or its number when it has none.
    static func of(_ uid: UInt32) -> String {
        var buffer = [CChar](repeating: 0, count: 16_384)
        return buffer.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return "\(uid)" }
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            let status = getpwuid_r(uid, &entry, base, buffer.count, &found)
            guard status == 0, let found, let name = found.pointee.pw_name else { return "\(uid)" }
            return DisplayText.cleaned(String(cString: name), limit: DisplayText.titleLimit)
        }
    }
}
