import DBus
import Linux

/// Reports changes of the shadow file, where a password may have been set or removed.
@BusActor final class ShadowWatch {
    private nonisolated static let folder = "/etc"
    private nonisolated static let file = "/etc/shadow"

    private var last: FileStamp?
    private var watch: FolderWatch?
    private let changed: @BusActor () -> Void

    /// Watches the folder for a file renamed to `shadow`.
    ///
    /// Also watches the file itself, which is written in place where a container bind-mounts it.
    init(_ changed: @escaping @BusActor () -> Void) {
        self.changed = changed
        watch = FolderWatch([Self.folder, Self.file]) { [weak self] in self?.look() }
        // Stamp after the watch starts, so that a change in between is reported.
        last = FileStamp(of: Self.file)
    }

    private func look() {
        let now = FileStamp(of: Self.file)
        guard now != last else { return }
        last = now
        changed()
    }
}
