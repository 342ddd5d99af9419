import CLinux
import Glibc

/// Tells that something was made, written, renamed or removed in folders, or that a file was
/// written (`inotify`).
package struct FolderChanges {
    /// Readable when something has changed.
    package let descriptor: OwnedDescriptor
    /// Whether the kernel had no watch left for one of the folders.
    package private(set) var isBlind = false
    /// What is looked at, with the events of each.
    private var folders: [String: Int32] = [:]

    private static let comesAndGoes =
        IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_ATTRIB

    private static let mostFolders = 1024

    /// Nil when the kernel lets nobody watch any more.
    package init?() {
        let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard number >= 0 else { return nil }
        descriptor = OwnedDescriptor(adopting: number)
    }

    /// Looks at a folder or a file from now on; one that is missing, or is another by then, as soon
    /// as something else has changed.
    ///
    /// Of devices only what comes, goes, or gets another owner is told: every program that closes
    /// `/dev/null` has written to it, and so has whoever only looked what a device is.
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
        // Folders that were made, or made anew; the others keep the watch that they have.
        for (folder, events) in folders { watch(folder, events) }
    }

    private mutating func watch(_ folder: String, _ events: Int32) {
        let watch = inotify_add_watch(descriptor.rawValue, folder, UInt32(events))
        if watch < 0, [ENOSPC, ENOMEM].contains(errno) { isBlind = true }
    }
}
