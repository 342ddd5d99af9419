import CV4L2
import Glibc

/// Reports that something was added to a folder or removed from it: a camera, or the models.
public final class FolderChanges: Sendable {
    /// Readable when something has changed; -1 when the kernel refuses to watch.
    public let descriptor: Int32
    private let folders: [String]

    /// Watches the folders that exist; missing ones are tried again after every change.
    public init(_ folders: [String]) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        self.folders = folders
        watch()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Consumes the pending notifications.
    public func drain() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &bytes, bytes.count) > 0 {}
        // Adds a folder that was created or recreated; the others are already watched.
        watch()
    }

    private func watch() {
        let events =
            IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_ATTRIB | IN_CLOSE_WRITE
        for folder in folders { inotify_add_watch(descriptor, folder, UInt32(events)) }
    }
}
