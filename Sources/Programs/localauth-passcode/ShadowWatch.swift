import DBus
import Linux

/// Tells that the shadow file is another than it was: somebody's passcode may have come or gone.
@BusActor final class ShadowWatch {
    private nonisolated static let folder = "/etc"
    private nonisolated static let file = "/etc/shadow"

    private var last: FileStamp?
    private var watch: FolderWatch?
    private let changed: @BusActor () -> Void

    /// The folder tells of a file that is renamed to it, and the file of what is written to it
    /// where it is bound over that name, as in a container.
    init(_ changed: @escaping @BusActor () -> Void) {
        self.changed = changed
        watch = FolderWatch([Self.folder, Self.file]) { [weak self] in self?.look() }
        // Later than the watch: what is written in between is told.
        last = FileStamp(of: Self.file)
    }

    private func look() {
        let now = FileStamp(of: Self.file)
        guard now != last else { return }
        last = now
        changed()
    }
}
