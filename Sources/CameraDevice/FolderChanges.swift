import CV4L2
import Glibc

/// Tells that something came into a folder or went: a camera, or the models.
public final class FolderChanges: Sendable {
    /// Readable when something has changed; -1 where the kernel refuses to tell.
    public let descriptor: Int32
    private let folders: [String]

    /// Watches the folders that are there, and others as soon as something else has changed.
    public init(_ folders: [String]) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        self.folders = folders
        watch()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Takes what has been told.
    public func drain() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &bytes, bytes.count) > 0 {}
        // A folder that was made, or made anew; the others are watched already.
        watch()
    }

    private func watch() {
        let events =
            IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_ATTRIB | IN_CLOSE_WRITE
        for folder in folders { inotify_add_watch(descriptor, folder, UInt32(events)) }
    }
}
