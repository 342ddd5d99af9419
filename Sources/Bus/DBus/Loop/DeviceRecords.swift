import Glibc

/// The device nodes that udev has recorded, such as `c189:3` for one of USB.
///
/// A device that comes has one more, and nobody has to be asked.
@BusActor
public final class DeviceRecords {
    /// Where udev writes them; everybody may read it, also in a sandbox without devices.
    public nonisolated static let folder = "/run/udev/data"

    /// How often devices have come or gone; nil: nobody records that here.
    public var changes: Int? { names == nil || watch?.isBlind != false ? nil : count }
    private var count = 0
    private var names: Set<String>?
    private var watch: FolderWatch?
    private let folder: String
    private let changed: @BusActor () -> Void

    /// Calls `changed` after a device came or went.
    public init(
        _ folder: String = DeviceRecords.folder,
        changed: @escaping @BusActor () -> Void = {}
    ) {
        self.folder = folder
        self.changed = changed
        watch = FolderWatch([folder]) { [weak self] in self?.look() }
        // Later than the watch: what is written in between is told.
        names = recorded
    }

    private func look() {
        let now = recorded
        guard now != names else { return }
        names = now
        count += 1
        changed()
    }

    /// Those of other things, such as batteries, are written all the time.
    private var recorded: Set<String>? {
        guard let folder = opendir(folder) else { return nil }
        defer { closedir(folder) }
        var names: Set<String> = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix("c") { names.insert(name) }
        }
        return names
    }
}
