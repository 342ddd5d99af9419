import Linux

/// Tells when something is made, written, renamed or removed in folders, or a file is written.
@BusActor
public final class FolderWatch {
    private var changes: FolderChanges?
    private var source: EventSource?
    private var timer: EventSource?

    /// Changes come in bursts: they are told once, so long after the first.
    private static let debounce = Duration.milliseconds(30)

    /// Whether the kernel has no more watches: nothing is told.
    public var isBlind: Bool { changes == nil }

    /// Calls `changed` after something happened; never when the kernel has no more watches.
    ///
    /// Of folders with devices it is told only what comes, goes, or gets another owner.
    public init(
        _ folders: [String] = [],
        devices: [String] = [],
        _ changed: @escaping @BusActor () -> Void
    ) {
        changes = FolderChanges()
        for folder in folders { add(folder) }
        for folder in devices { changes?.add(folder, ofDevices: true) }
        guard let changes else { return }
        source = EventLoop.shared.watch(descriptor: changes.descriptor.rawValue) { [weak self] in
            guard let self else { return }
            self.changes?.clear()
            guard timer == nil else { return }
            timer = EventLoop.shared.schedule(after: Self.debounce) {
                self.timer = nil
                changed()
            }
        }
    }

    /// Looks at a folder or a file from now on; one that is looked at already, or isn't there, is
    /// no fault.
    public func add(_ folder: String) {
        changes?.add(folder)
    }
}
