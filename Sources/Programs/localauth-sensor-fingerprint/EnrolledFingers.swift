import Fingerprint
import Glibc

/// A user's fingers on one reader, with the state of their files when fprintd listed them.
struct EnrolledFingers {
    struct Entry: Hashable {
        let finger: Finger
        let id: String
        /// Seconds since 1970; 0 if unknown.
        let created: Int64
        /// Whether its print file is readable.
        let isSeen: Bool
    }

    let entries: [Entry]
    /// The print files; nil if unreadable.
    let prints: [PrintStore.Print]?
    /// Whether the files show every change; then the list stays valid while the files do.
    let isComplete: Bool

    /// Combines fprintd's list with the print files and with ids assigned earlier.
    ///
    /// `isCurrent`: no file changed since before the call to fprintd. `stamps`: earlier ids from
    /// ``stamped(_:)``.
    init(
        _ fingers: [Finger],
        prints: [PrintStore.Print]?,
        isCurrent: Bool,
        in store: PrintStore,
        user: String,
        stamps: [String],
        identify: (Finger, _ print: String?, _ modified: Int64, _ stamp: String?) -> String
    ) {
        var entries: [Entry] = []
        for finger in fingers {
            let own = (prints ?? []).filter { $0.finger == finger }
            let print = store.identifier(of: own, user: user)
            let stamp = stamps.last { $0.hasPrefix(finger.rawValue + ".") }
            let modified = own.map(\.modified).max() ?? 0
            let id = identify(finger, print, modified, stamp)
            let time = id.split(separator: ".").last.flatMap { Int64($0) } ?? 0
            entries.append(
                Entry(
                    finger: finger,
                    id: id,
                    created: (print == nil ? time : modified) / 1_000_000_000,
                    isSeen: print != nil
                )
            )
        }
        self.entries = entries.sorted { $0.created < $1.created }
        self.prints = prints
        isComplete = isCurrent && !entries.isEmpty && entries.allSatisfy(\.isSeen)
    }

    /// Makes an id for a finger without a readable print file, unique among enrolments.
    static func stamped(_ finger: Finger) -> String {
        "\(finger.rawValue).\(now)"
    }

    /// Nanoseconds since 1970.
    static var now: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }
}
