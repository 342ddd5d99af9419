import Fingerprint
import Glibc

/// The fingers of one user on one reader, and the state of their files when fprintd listed them.
struct EnrolledFingers {
    /// One finger with a print.
    struct Entry: Hashable {
        let finger: Finger
        let id: String
        /// In seconds since 1970; 0: not known.
        let created: Int64
        /// Whether its files can be seen.
        let isSeen: Bool
    }

    let entries: [Entry]
    /// The files; nil where they can't be seen.
    let prints: [PrintStore.Print]?
    /// Whether every change shows in the files; then fprintd isn't asked while they stay the same.
    let isComplete: Bool

    /// Joins what fprintd lists with the files, and with the ids that were given before.
    ///
    /// `isCurrent` says whether no file changed since before fprintd was asked; `stamps` are
    /// earlier ids that ``stamped(_:)`` made.
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

    /// An id for a finger whose print can't be seen, other than those of earlier enrolments.
    static func stamped(_ finger: Finger) -> String {
        "\(finger.rawValue).\(now)"
    }

    /// In nanoseconds since 1970.
    static var now: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }
}
