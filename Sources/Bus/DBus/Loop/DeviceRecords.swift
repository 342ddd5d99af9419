import Glibc

/// The device nodes that udev has recorded, such as `c189:3` for a USB device.
///
/// A new device adds a record, so that drivers need not be polled.
@BusActor
public final class DeviceRecords {
    /// The folder of udev's records.
    ///
    /// All processes may read it, even in a sandbox without devices.
    public nonisolated static let folder = "/run/udev/data"

    /// How often devices have come or gone; nil if udev keeps no records here.
    public var changes: Int? { names == nil || watch?.isBlind != false ? nil : count }
    private var count = 0
    private var names: Set<String>?
    private var watch: FolderWatch?
    private let folder: String
    private let changed: @BusActor () -> Void

    public init(
        _ folder: String = DeviceRecords.folder,
        changed: @escaping @BusActor () -> Void = {}
    ) {
        self.folder = folder
        self.changed = changed
        watch = FolderWatch([folder]) { [weak self] in self?.look() }
        // After the watch starts, so that a record written meanwhile is reported.
        names = recorded
    }

    private func look() {
        let now = recorded
        guard now != names else { return }
        names = now
        count += 1
        changed()
    }

    /// The names of the records of device nodes.
    ///
    /// Records of others, such as batteries, change often.
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
