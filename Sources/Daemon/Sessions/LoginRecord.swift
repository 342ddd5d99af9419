import CLinux
import CSystemd
import DBus
import Glibc
import Linux

/// Passes the history of logins to the service's next process (L2).
///
/// systemd keeps two descriptors across restarts and crashes of the service: the history in memory,
/// and a watch on the login manager's folder of sessions. The login manager writes each session
/// there before it announces the session. The service reads only events of sessions that are in the
/// history. Therefore a session that no process heard of leaves an unread event, and the history is
/// then discarded.
@BusActor
final class LoginRecord {
    private let memory: OwnedDescriptor
    private let watch: OwnedDescriptor
    private var source: EventSource?

    private static let folder = "/run/systemd/sessions"
    /// The descriptors' names in systemd's store.
    private static let names = ["logins", "sessions"]
    /// More than the size of a full history.
    private static let limit = 65_536
    /// The login manager writes each session several times in a row.
    private static let debounce = Duration.milliseconds(50)

    /// Uses stored or new descriptors.
    init(memory: OwnedDescriptor, watch: OwnedDescriptor, folder: String) {
        self.memory = memory
        self.watch = watch
        // A folder that is watched already keeps its watch; a new folder gets a watch.
        inotify_add_watch(watch.rawValue, folder, UInt32(IN_CREATE | IN_MOVED_TO))
    }

    /// Returns the record that systemd keeps for this service; nil if it can't keep any.
    static func kept() -> LoginRecord? {
        let stored = storedDescriptors()
        if let memory = stored[names[0]], let watch = stored[names[1]] {
            return LoginRecord(memory: memory, watch: watch, folder: folder)
        }
        guard let memory = newMemory(), let watch = newWatch() else { return nil }
        for (name, descriptor) in zip(names, [memory, watch]) {
            sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=\(name)")
            var number = descriptor.rawValue
            sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDNAME=\(name)", &number, 1)
        }
        return LoginRecord(memory: memory, watch: watch, folder: folder)
    }

    nonisolated static func newMemory() -> OwnedDescriptor? {
        // `MFD_CLOEXEC`, a macro that Swift does not import.
        let number = memfd_create("logins", 1)
        return number < 0 ? nil : OwnedDescriptor(adopting: number)
    }

    nonisolated static func newWatch() -> OwnedDescriptor? {
        let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        return number < 0 ? nil : OwnedDescriptor(adopting: number)
    }

    private static func storedDescriptors() -> [String: OwnedDescriptor] {
        // SAFETY: sd_listen_fds_with_names allocates `count` names. The loop frees each name once.
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = sd_listen_fds_with_names(1, &list)
        var stored: [String: OwnedDescriptor] = [:]
        for place in 0..<max(0, Int(count)) {
            let descriptor = OwnedDescriptor(adopting: 3 + Int32(place))
            guard let name = list?[place] else { continue }
            stored[String(cString: name)] = descriptor
            free(name)
        }
        free(list)
        return stored
    }

    /// The number of unread bytes about sessions.
    var unread: Int {
        var count: Int32 = 0
        return count_unread(watch.rawValue, &count) == 0 ? Int(count) : .max
    }

    /// Returns the history if it belongs to this process of the login manager and is complete; else
    /// nil.
    func recall(of manager: LoginHistory.Program) -> LoginHistory? {
        guard unread == 0, lseek(memory.rawValue, 0, SEEK_SET) == 0,
            let content = memory.content(limit: Self.limit)
        else { return nil }
        var lines = String(decoding: content, as: UTF8.self).split(separator: "\n")
        // The last line proves that the text was written completely.
        guard lines.popLast() == "end", !lines.isEmpty,
            lines.removeFirst() == Self.line(of: manager)
        else { return nil }
        return LoginHistory(text: lines.joined(separator: "\n"))
    }

    /// Saves the history, and marks `count` bytes about sessions as read.
    func save(_ history: LoginHistory, of manager: LoginHistory.Program, read count: Int) {
        forget()
        let text = [Self.line(of: manager), history.text, "end"].joined(separator: "\n")
        guard memory.write(Array(text.utf8)) else { return forget() }
        // read(2) returns whole events only, and at most `count` bytes.
        var events = [UInt8](repeating: 0, count: min(count, 1 << 20))
        if !events.isEmpty { _ = read(watch.rawValue, &events, events.count) }
    }

    /// Discards the saved history.
    func forget() {
        ftruncate(memory.rawValue, 0)
        lseek(memory.rawValue, 0, SEEK_SET)
    }

    /// Calls `body` once, soon after new events arrive.
    func whenUnread(_ body: @escaping @BusActor () -> Void) {
        source?.cancel()
        source = EventLoop.shared.watch(descriptor: watch.rawValue) { [weak self] in
            guard let self else { return }
            source?.cancel()
            source = EventLoop.shared.schedule(after: Self.debounce) { body() }
        }
    }

    private static func line(of manager: LoginHistory.Program) -> String {
        "manager \(manager.pid) \(manager.start)"
    }
}
