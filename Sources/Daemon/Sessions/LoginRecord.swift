import CLinux
import CSystemd
import DBus
import Glibc
import Linux

/// What is known of logins, for the process of the service that comes after this one (L2).
///
/// systemd keeps two descriptors while it starts the service again, however that ended: what is
/// known, in memory, and a watch on the folder where the login manager writes each session before
/// it tells of it. Only what is known is read from the watch. So a session that nobody heard of,
/// such as one that came and went while no process ran, is still unread; then nothing is believed.
@BusActor
final class LoginRecord {
    private let memory: OwnedDescriptor
    private let watch: OwnedDescriptor
    private var source: EventSource?

    private static let folder = "/run/systemd/sessions"
    /// What the descriptors are called in systemd's store, in this order.
    private static let names = ["logins", "sessions"]
    /// More than a full history takes.
    private static let limit = 65_536
    /// Sessions are written several times at once.
    private static let debounce = Duration.milliseconds(50)

    /// With descriptors that were kept, or new ones.
    init(memory: OwnedDescriptor, watch: OwnedDescriptor, folder: String) {
        self.memory = memory
        self.watch = watch
        // The folder keeps the watch that it has, and has one from now on if it is another.
        inotify_add_watch(watch.rawValue, folder, UInt32(IN_CREATE | IN_MOVED_TO))
    }

    /// The one that systemd keeps for this service; nil where nothing can be kept.
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
        // systemd allocates the names for us.
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

    /// How many bytes about sessions are unread.
    var unread: Int {
        var count: Int32 = 0
        return count_unread(watch.rawValue, &count) == 0 ? Int(count) : .max
    }

    /// What was known when the login manager was this process; nil unless that is all there is.
    func recall(of manager: LoginHistory.Program) -> LoginHistory? {
        guard unread == 0, lseek(memory.rawValue, 0, SEEK_SET) == 0,
            let content = memory.content(limit: Self.limit)
        else { return nil }
        var lines = String(decoding: content, as: UTF8.self).split(separator: "\n")
        // The last line says that all of it was written.
        guard lines.popLast() == "end", !lines.isEmpty,
            lines.removeFirst() == Self.line(of: manager)
        else { return nil }
        return LoginHistory(text: lines.joined(separator: "\n"))
    }

    /// Writes down what is known, and that so many bytes were about that.
    func save(_ history: LoginHistory, of manager: LoginHistory.Program, read count: Int) {
        forget()
        let text = [Self.line(of: manager), history.text, "end"].joined(separator: "\n")
        guard memory.write(Array(text.utf8)) else { return forget() }
        // Whole events are read, and no more than those.
        var events = [UInt8](repeating: 0, count: min(count, 1 << 20))
        if !events.isEmpty { _ = read(watch.rawValue, &events, events.count) }
    }

    /// Whatever comes, nothing is known of before.
    func forget() {
        ftruncate(memory.rawValue, 0)
        lseek(memory.rawValue, 0, SEEK_SET)
    }

    /// Calls `body` once, soon after something is unread.
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
