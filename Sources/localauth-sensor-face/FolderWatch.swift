import CameraDevice
import DBus

/// Calls back when something came into a folder or went.
@BusActor final class FolderWatch {
    private let changes: FolderChanges
    private var source: EventSource?

    /// Watches the folders that are there; `body` is called once for all that came together.
    init(_ folders: [String], _ body: @escaping @BusActor () -> Void) {
        changes = FolderChanges(folders)
        // Without it nothing is told; every operation looks again anyway.
        guard changes.descriptor >= 0 else { return }
        source = EventLoop.shared.watch(descriptor: changes.descriptor) { [changes] in
            changes.drain()
            body()
        }
    }
}
