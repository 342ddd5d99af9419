public import DBus
import Glibc

/// Tells when something is made, written, renamed or removed in folders.
@BusActor public final class FolderWatch {
    private let descriptor: OwnedDescriptor
    private var source: EventSource?
    private var timer: EventSource?
    private var watched = 0

    /// Debounce: changes come in bursts and are reported once, this long after the first.
    static let settling = Duration.milliseconds(30)
    static let mostFolders = 1024

    /// Calls `changed` after something happened; nil when the kernel has no more watches.
    public init?(_ changed: @escaping @BusActor () -> Void) {
        let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard number >= 0 else { return nil }
        descriptor = OwnedDescriptor(adopting: number)
        source = EventLoop.shared.watch(descriptor: number) { [weak self] in
            guard let self else { return }
            var events = [UInt8](repeating: 0, count: 4096)
            while read(descriptor.rawValue, &events, events.count) > 0 {}
            guard timer == nil else { return }
            timer = EventLoop.shared.schedule(after: Self.settling) {
                self.timer = nil
                changed()
            }
        }
    }

    /// Watches a folder from now on; it is no error if it is already watched or doesn't exist.
    public func add(_ folder: String) {
        guard watched < Self.mostFolders else { return }
        let events =
            IN_CREATE | IN_DELETE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR
        // For a folder that is already watched the kernel returns the same number.
        watched = max(watched, Int(inotify_add_watch(descriptor.rawValue, folder, UInt32(events))))
    }
}
