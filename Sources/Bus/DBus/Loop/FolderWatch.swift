import Linux

/// Tells when something is made, written, renamed or removed in folders, or a file is written.
///
/// Where the kernel has no more watches, it says once a second that something may have changed.
@BusActor
public final class FolderWatch {
    private var changes: FolderChanges?
    private(set) var source: EventSource?
    private var timer: EventSource?
    private var blindTimer: EventSource?
    private let changed: @BusActor () -> Void

    /// Changes come in bursts: they are told once, so long after the first.
    private static let debounce = Duration.milliseconds(30)
    private static let blindInterval = Duration.seconds(1)

    /// Whether the kernel has no more watches.
    public var isBlind: Bool { changes?.isBlind ?? true }

    /// Calls `changed` after something happened, or may have.
    ///
    /// Of folders with devices it is told only what comes, goes, or gets another owner.
    public init(
        _ folders: [String] = [],
        devices: [String] = [],
        _ changed: @escaping @BusActor () -> Void
    ) {
        self.changed = changed
        changes = FolderChanges()
        for folder in folders { changes?.add(folder) }
        for folder in devices { changes?.add(folder, ofDevices: true) }
        lookLaterIfBlind()
        guard let changes else { return }
        source = EventLoop.shared.watch(descriptor: changes.descriptor.rawValue) { [weak self] in
            guard let self else { return }
            takeChanges()
            guard timer == nil else { return }
            timer = EventLoop.shared.schedule(after: Self.debounce) {
                self.timer = nil
                self.changed()
            }
        }
    }

    isolated deinit {
        for source in [source, timer, blindTimer] { source?.cancel() }
    }

    /// Looks at a folder or a file from now on; one that is looked at already, or isn't there, is
    /// no fault.
    public func add(_ folder: String) {
        changes?.add(folder)
        lookLaterIfBlind()
    }

    private func takeChanges() {
        changes?.clear()
        lookLaterIfBlind()
    }

    private func lookLaterIfBlind() {
        guard isBlind, blindTimer == nil else { return }
        blindTimer = EventLoop.shared.schedule(after: Self.blindInterval) { [weak self] in
            guard let self else { return }
            blindTimer = nil
            takeChanges()
            changed()
        }
    }
}
