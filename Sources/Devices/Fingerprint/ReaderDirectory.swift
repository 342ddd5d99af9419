package import DBus

/// Tracks the readers of fprintd, and when they are plugged in or out.
///
/// fprintd may exit when idle, because this type makes no call that counts as a client's. The list
/// stays valid meanwhile. A query would start fprintd, so it is made only when the answer may
/// change: udev has recorded a device, or fprintd has started.
@BusActor package final class ReaderDirectory {
    package private(set) var readers: [FprintReader] = []
    /// The error of the last query; nil after a success.
    package private(set) var fault: FprintFault?
    /// The process that owns fprintd's name, or owned it last.
    package private(set) var process: Int32?

    private let connection: Connection
    private let changed: @BusActor () -> Void
    private var owner: String?
    private var sources: [EventSource] = []
    /// The number of leading ``sources`` that stay when fprintd exits.
    private var lasting = 0
    private var running: Task<Void, Never>?
    private var isAskedAgain = false
    private var retry: EventSource?
    private var devices: DeviceRecords?
    private var failures = 0

    /// The limit on retries after a failed query, with a back-off from 1 to 32 s.
    ///
    /// Later queries wait for a change.
    static let mostRetries = 6
    static let longestName = 256
    static let mostReaders = 16

    /// Starts to follow fprintd on the system bus, and the devices that udev records.
    ///
    /// Calls `changed` after every query.
    package init(
        _ connection: Connection,
        deviceRecords: String = DeviceRecords.folder,
        changed: @escaping @BusActor () -> Void
    ) {
        self.connection = connection
        self.changed = changed
        devices = DeviceRecords(deviceRecords) { [weak self] in self?.recordsChanged() }
        sources += [
            connection.watchName(Fprint.busName) { [weak self] in self?.ownerChanged($0) },
            // fprintd was installed or removed.
            connection.onActivatableNamesChanged { [weak self] in
                guard let self, fault != nil else { return }
                onLoop { await self.refresh() }
            },
        ]
        lasting = sources.count
    }

    /// Queries after a change of udev's records, unless a running fprintd reports the change
    /// itself.
    private func recordsChanged() {
        guard owner == nil || readers.isEmpty || fault != nil else { return }
        onLoop { await self.refresh() }
    }

    /// Returns the reader at the running fprintd; starts fprintd if necessary.
    ///
    /// - Throws: `gone` if the reader is missing, or the error of the query.
    package func locate(
        _ key: FprintReader.Key
    ) async throws(FprintFault) -> (owner: String, reader: FprintReader) {
        if owner == nil || fault != nil { await refresh() }
        if let fault { throw fault }
        guard let owner else { throw .lost }
        guard let reader = readers.first(where: { $0.key == key }) else { throw .gone }
        return (owner, reader)
    }

    /// Queries at once; starts fprintd if necessary.
    package func refresh() async {
        isAskedAgain = true
        if running == nil {
            running = onLoop {
                while self.isAskedAgain {
                    self.isAskedAgain = false
                    await self.look()
                }
                self.running = nil
            }
        }
        await running?.value
    }

    private func ownerChanged(_ owner: String?) {
        guard owner != self.owner else { return }
        self.owner = owner
        for source in sources.dropFirst(lasting) { source.cancel() }
        sources = Array(sources.prefix(lasting))
        guard let owner else { return }
        sources.append(
            connection.subscribe(
                sender: owner,
                path: Fprint.root,
                interface: "org.freedesktop.DBus.ObjectManager",
                member: nil,
                broadcast: true
            ) { [weak self] _ in onLoop { await self?.refresh() } }
        )
        onLoop { await self.refresh() }
    }

    private func look() async {
        do throws(DBusError) {
            let reply = try await connection.call(
                to: Fprint.busName,
                path: Fprint.managerPath,
                interface: Fprint.manager,
                member: "GetDevices",
                timeout: Fprint.patience
            )
            let paths = try reply.read("ao") { (reader) throws(DBusError) in
                try reader.read([ObjectPath].self)
            }
            guard let sender = reply.sender else { return }
            ownerChanged(sender)
            process = try? await connection.peer(named: sender).pid
            readers = await describe(paths.prefix(Self.mostReaders), on: sender)
            fault = nil
        } catch {
            fault = FprintFault(error)
            if fault == .lost { owner = nil }
        }
        changed()
        retry?.cancel()
        failures = fault == nil ? 0 : failures + 1
        guard (1...Self.mostRetries).contains(failures) else { return }
        // fprintd exited or hung during the query; it is usually available again soon.
        retry = EventLoop.shared.schedule(after: .seconds(1 << (failures - 1))) { [weak self] in
            onLoop { await self?.refresh() }
        }
    }

    /// Describes readers, sorted by path so that their order is stable.
    private func describe(
        _ paths: some Collection<ObjectPath>,
        on owner: String
    ) async
        -> [FprintReader]
    {
        var readers: [FprintReader] = []
        for path in paths.sorted(by: { Self.precedes($0, $1) }) {
            let values = try? await connection.properties(
                of: Fprint.device,
                at: path,
                on: owner,
                timeout: Fprint.patience
            )
            guard let name = values?["name"]?.asString, name.utf8.count <= Self.longestName else {
                continue
            }
            let ordinal = readers.count { $0.key.name == name }
            let stages = values?["num-enroll-stages"]?.asInt32 ?? -1
            readers.append(
                FprintReader(
                    key: .init(name: name, ordinal: ordinal),
                    path: path,
                    enrollStages: (1...100).contains(stages) ? stages : -1
                )
            )
        }
        return readers
    }

    private static func precedes(_ left: ObjectPath, _ right: ObjectPath) -> Bool {
        let (left, right) = (left.rawValue, right.rawValue)
        return (left.utf8.count, left) < (right.utf8.count, right)
    }
}
