package import DBus

/// Which readers exist: asks fprintd, and follows its signals about plugged and unplugged readers.
///
/// It makes no call that fprintd counts as a client's, so fprintd may exit when it is idle; the
/// readers stay known meanwhile. Asking starts fprintd, so it asks only when the answer may be
/// another: udev has recorded a device, or fprintd has come.
@BusActor package final class ReaderDirectory {
    package private(set) var readers: [FprintReader] = []
    /// Why fprintd could not be asked; nil when it answered.
    package private(set) var fault: FprintFault?
    /// The process that owns fprintd's name, or owned it last.
    package private(set) var process: Int32?

    private let connection: Connection
    private let changed: @BusActor () -> Void
    private var owner: String?
    private var sources: [EventSource] = []
    /// How many of these don't go with fprintd.
    private var lasting = 0
    private var running: Task<Void, Never>?
    private var isAskedAgain = false
    private var retry: EventSource?
    private var devices: DeviceRecords?
    /// How often in a row fprintd could not be asked.
    private var failures = 0

    /// How often fprintd is asked again after a fault, each time after a longer while: 1 to 32 s.
    ///
    /// After that only when something has changed.
    static let mostRetries = 6
    static let longestName = 256
    static let mostReaders = 16

    /// Begins to follow fprintd on the system bus, and the devices that udev records; `changed` is
    /// called after every look.
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
            // fprintd was installed, or removed.
            connection.onActivatableNamesChanged { [weak self] in
                guard let self, fault != nil else { return }
                onLoop { await self.refresh() }
            },
        ]
        lasting = sources.count
    }

    /// A reader may have come or gone; while it runs, and has readers, fprintd says so itself.
    private func recordsChanged() {
        guard owner == nil || readers.isEmpty || fault != nil else { return }
        onLoop { await self.refresh() }
    }

    /// The reader as the running fprintd shows it; fprintd is started if it isn't running.
    ///
    /// - Throws: `gone`, or why fprintd can't be asked.
    package func locate(
        _ key: FprintReader.Key
    ) async throws(FprintFault) -> (owner: String, reader: FprintReader) {
        if owner == nil || fault != nil { await refresh() }
        if let fault { throw fault }
        guard let owner else { throw .lost }
        guard let reader = readers.first(where: { $0.key == key }) else { throw .gone }
        return (owner, reader)
    }

    /// Asks now, starting fprintd if it isn't running.
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
        // fprintd exited or hung while it was asked; it will soon be back.
        retry = EventLoop.shared.schedule(after: .seconds(1 << (failures - 1))) { [weak self] in
            onLoop { await self?.refresh() }
        }
    }

    /// Sorted by path, so that the first reader is the first one again next time.
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
