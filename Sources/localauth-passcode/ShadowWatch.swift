import DBus
import Glibc

/// Tells that the shadow file is another than it was: somebody's passcode may have come or gone.
@BusActor final class ShadowWatch {
    private nonisolated static let folder = "/etc"
    private nonisolated static let file = "/etc/shadow"

    /// What changes with the file, however it is written: in place, or as another file that is
    /// renamed to it.
    private struct State: Equatable {
        let device: dev_t
        let number: ino_t
        let size: off_t
        let written: [Int]

        /// Nil: there is no such file.
        init?() {
            var info = stat()
            guard stat(ShadowWatch.file, &info) == 0 else { return nil }
            (device, number, size) = (info.st_dev, info.st_ino, info.st_size)
            written = [
                info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec,
                info.st_ctim.tv_nsec,
            ]
        }
    }

    private var last: State?
    private var watch: FolderWatch?
    private let changed: @BusActor () -> Void

    /// How often the file is looked at where the kernel has no more watches.
    private static let pause = Duration.seconds(1)

    /// The folder tells of a file that is renamed to it, and the file of what is written to it
    /// where it is bound over that name, as in a container.
    init(_ changed: @escaping @BusActor () -> Void) {
        self.changed = changed
        let watch = FolderWatch([Self.folder, Self.file]) { [weak self] in self?.look() }
        self.watch = watch
        // Later than the watch: what is written in between is told.
        last = State()
        if watch.isBlind { lookLater() }
    }

    private func look() {
        let now = State()
        guard now != last else { return }
        last = now
        changed()
    }

    private func lookLater() {
        _ = EventLoop.shared.schedule(after: Self.pause) { [weak self] in
            self?.look()
            self?.lookLater()
        }
    }
}
