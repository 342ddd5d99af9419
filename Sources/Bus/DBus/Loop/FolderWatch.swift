import Linux

/// Reports files that are made, written, renamed or removed in folders.
///
/// When the kernel has no more watches, the watch reports a possible change once a second.
@BusActor
public final class FolderWatch {
    private var changes: FolderChanges?
    private(set) var source: EventSource?
    private var timer: EventSource?
    private var blindTimer: EventSource?
    private let changed: @BusActor () -> Void

    /// Delay from the first change of a burst to its single report.
    private static let debounce = Duration.milliseconds(30)
    private static let blindInterval = Duration.seconds(1)

    /// Whether the kernel has no more watches.
    public var isBlind: Bool { changes?.isBlind ?? true }

    /// Calls `changed` after a change, or a possible one.
    ///
    /// Writes in folders of devices are ignored.
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

    /// Watches a further folder or file.
    ///
    /// A repeated or missing path is no error.
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
