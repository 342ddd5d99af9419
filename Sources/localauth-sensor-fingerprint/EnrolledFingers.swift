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
        /// Whether the id is derived from the print; else it is derived from the finger's name.
        let isSeen: Bool
    }

    let entries: [Entry]
    /// The files; nil where they can't be seen.
    let prints: [PrintStore.Print]?
    /// Whether every change shows in the files; then fprintd isn't asked while they stay the same.
    let isComplete: Bool

    /// Joins what fprintd lists with the files.
    ///
    /// `stamps` are earlier ids that ``stamped(_:)`` made.
    init(
        _ fingers: [Finger],
        prints: [PrintStore.Print]?,
        in store: PrintStore,
        user: String,
        stamps: [String]
    ) {
        var entries: [Entry] = []
        for finger in fingers {
            let own = (prints ?? []).filter { $0.finger == finger }
            if let id = store.identifier(of: own, user: user) {
                let newest = own.map(\.modified).max() ?? 0
                entries.append(
                    Entry(
                        finger: finger,
                        id: id,
                        created: newest / 1_000_000_000,
                        isSeen: true
                    )
                )
            } else {
                let prefix = finger.rawValue + "."
                let stamp = stamps.last { $0.hasPrefix(prefix) }
                let time = stamp.flatMap { Int64($0.dropFirst(prefix.count)) } ?? 0
                entries.append(
                    Entry(
                        finger: finger,
                        id: stamp ?? finger.rawValue,
                        created: time / 1_000_000_000,
                        isSeen: false
                    )
                )
            }
        }
        self.entries = entries.sorted { $0.created < $1.created }
        self.prints = prints
        isComplete = !entries.isEmpty && entries.allSatisfy(\.isSeen)
    }

    /// An id for a finger whose print can't be seen, other than those of earlier enrolments.
    static func stamped(_ finger: Finger) -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return "\(finger.rawValue).\(now.tv_sec * 1_000_000_000 + now.tv_nsec)"
    }
}
