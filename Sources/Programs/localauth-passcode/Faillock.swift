import Glibc
import Linux

/// The settings of a `pam_faillock` line, and the look-up whether an account is locked.
///
/// Defaults, files and arithmetic follow the module (`faillock_config.c`, `pam_faillock.c`).
struct Faillock {
    private var folder = "/var/run/faillock"
    private var limit: UInt64 = 3
    private var interval: UInt64 = 900
    private var unlockTime: UInt64 = 600
    private var rootUnlockTime: UInt64?
    private var locksRoot = false

    /// The file in `/etc` replaces the distribution's file.
    private static let files = ["/etc", "/usr/etc", "/usr/lib", "/usr/share"]
        .map { "\($0)/security/faillock.conf" }
    private static let longestTime: UInt64 = 604_800

    /// Reads the file of settings, then the options of the line.
    ///
    /// Fails on an option that could exempt a user from the lock, and on a malformed value.
    init?(options: [String]) {
        let file = options.last { $0.hasPrefix("conf=") }?.dropFirst(5)
        let content = (file.map { [String($0)] } ?? Self.files).lazy
            .compactMap { SmallFile.read($0, limit: 1 << 16) }.first
        if file != nil, content == nil { return nil }
        for line in (content ?? []).split(separator: UInt8(ascii: "\n")) {
            let text = String(decoding: line, as: UTF8.self)
            let words = text.prefix { $0 != "#" && $0 != "\r" }
                .split(maxSplits: 1) { $0 == " " || $0 == "\t" || $0 == "=" }
            guard let name = words.first else { continue }
            let value = words.dropFirst().first?.drop { $0 == " " || $0 == "\t" || $0 == "=" } ?? ""
            let end = value.lastIndex { $0 != " " && $0 != "\t" }
            guard set(name, end.map { value[...$0] } ?? "") else { return nil }
        }
        for option in options where !option.hasPrefix("conf=") {
            let words = option.split(separator: "=", maxSplits: 1)
            guard set(words.first ?? "", words.count > 1 ? words[1] : "") else { return nil }
        }
    }

    private mutating func set(_ name: Substring, _ value: Substring) -> Bool {
        func time() -> UInt64? {
            value == "never" ? 0 : UInt64(value).flatMap { $0 <= Self.longestTime ? $0 : nil }
        }
        switch name {
        case "preauth", "audit", "silent", "no_log_info", "nodelay": return true
        case "even_deny_root": locksRoot = true
        case "dir" where value.hasPrefix("/"): folder = String(value)
        case "deny":
            guard let number = UInt16(value) else { return false }
            limit = UInt64(number)
        case "fail_interval":
            guard value != "never", let time = time() else { return false }
            interval = time
        case "unlock_time":
            guard let time = time() else { return false }
            unlockTime = time
        case "root_unlock_time":
            guard let time = time() else { return false }
            rootUnlockTime = time
        default: return false
        }
        return true
    }

    /// Returns the number of failed logins that lock an account at `now`, in seconds since 1970;
    /// nil while the account is open.
    func failures(of user: String, uid: UInt32, at now: UInt64) -> Int? {
        guard uid != 0 || locksRoot, limit > 0, !user.contains("/") else { return nil }
        var times = Self.times(in: "\(folder)/\(user)")
        guard let latest = times.max() else { return nil }
        times.removeAll { latest - $0 >= interval }
        guard times.count >= limit else { return nil }
        let duration = uid == 0 ? rootUnlockTime ?? unlockTime : unlockTime
        // The user can write any time into the file. Additions wrap as in the module.
        return duration > 0 && latest &+ duration < now ? nil : times.count
    }

    /// Returns the times of the valid records in a user's file.
    private static func times(in path: String) -> [UInt64] {
        guard let file = OwnedDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let bytes = file.content(limit: recordSize * maximumRecords)
        else { return [] }
        return bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - recordSize + 1, by: recordSize)
                .compactMap { start in
                    let status = bytes.loadUnaligned(fromByteOffset: start + 54, as: UInt16.self)
                    let time = bytes.loadUnaligned(fromByteOffset: start + 56, as: UInt64.self)
                    return status & 1 != 0 ? time : nil
                }
        }
    }

    private static let recordSize = 64
    private static let maximumRecords = 1024
}
