import CLinux
import Glibc

/// Reports files that are made, written, renamed or removed in folders (`inotify`).
package struct FolderChanges {
    /// Readable when a watched folder or file has changed.
    package let descriptor: OwnedDescriptor
    /// Whether the kernel had no watch left for a folder.
    package private(set) var isBlind = false
    /// The events to watch, by folder or file.
    private var folders: [String: Int32] = [:]

    private static let comesAndGoes =
        IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_ATTRIB

    private static let mostFolders = 1024

    /// Returns nil when the kernel has no instance left for this user.
    package init?() {
        let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard number >= 0 else { return nil }
        descriptor = OwnedDescriptor(adopting: number)
    }

    /// Watches a folder or a file.
    ///
    /// A path that is missing or replaced is watched from the next reported change on. For devices,
    /// writes are not reported: every program that closes `/dev/null` has written to it.
    package mutating func add(_ folder: String, ofDevices: Bool = false) {
        guard folders.count < Self.mostFolders else { return }
        let events = ofDevices ? Self.comesAndGoes : Self.comesAndGoes | IN_CLOSE_WRITE
        folders[folder] = events
        watch(folder, events)
    }

    package mutating func clear() {
        var events = [UInt8](repeating: 0, count: 4096)
        while read(descriptor.rawValue, &events, events.count) > 0 {}
        isBlind = false
        // Watch paths that were made or replaced. Other paths keep their watch.
        for (folder, events) in folders { watch(folder, events) }
    }

    private mutating func watch(_ folder: String, _ events: Int32) {
        let watch = inotify_add_watch(descriptor.rawValue, folder, UInt32(events))
        if watch < 0, [ENOSPC, ENOMEM].contains(errno) { isBlind = true }
    }
}
