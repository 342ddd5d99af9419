import AuthEngine
import BusGuard
import DBus
import LocalAuthBus

/// All sensors that the bus knows by their names.
@BusActor
final class SensorDirectory {
    /// The most sensors, which bounds the cost of a flood of names.
    static let limit = 64

    private(set) var sensors: [String: SensorLink] = [:] {
        didSet { sorted = sensors.values.sorted { $0.name < $1.name } }
    }
    private(set) var sorted: [SensorLink] = []
    var disabled: Set<String> = [] {
        didSet { for name in oldValue.symmetricDifference(disabled) { review(name) } }
    }
    /// The state of the machine that contains the sensors.
    var surroundings = Surroundings() {
        didSet { for sensor in sorted { sensor.process.surroundings = surroundings } }
    }
    private var owners: [String: String] = [:]
    private var activatable: Set<String> = []
    /// The number of pending lists at the start: owned names and activatable names.
    private var unlisted = 2
    private let listings = ConditionVariable()
    private let connection: Connection
    private let neighbours: NeighbourGuard
    private let descriptions: SensorDescriptions?
    private var descriptionWatch: FolderWatch?
    private var listing: EventSource?
    private let devices: DeviceRecords?
    private let events: any SensorEvents

    /// Creates the directory.
    ///
    /// Nil `descriptions` allow root and the service's own user.
    ///
    /// A nil `deviceRecords` means that there are no records of udev.
    init(
        connection: Connection,
        neighbours: NeighbourGuard,
        descriptions: SensorDescriptions?,
        deviceRecords: String?,
        events: any SensorEvents
    ) {
        self.connection = connection
        self.neighbours = neighbours
        self.descriptions = descriptions
        devices = deviceRecords.map { DeviceRecords($0) }
        self.events = events
    }

    func start() {
        _ = connection.watchNames(under: Sensor1.namespace) { [weak self] name, owner in
            self?.ownerChanged(name, owner)
        } listed: { [weak self] in
            self?.hasListed()
        }
        _ = connection.onActivatableNamesChanged { [weak self] in
            onLoop { await self?.listActivatable() }
        }
        onLoop {
            await self.listActivatable()
            self.hasListed()
        }
        guard let descriptions else { return }
        descriptionWatch = FolderWatch(descriptions.watched) { [weak self] in
            self?.reviewTrust()
            self?.listActivatable(after: .milliseconds(250))
        }
    }

    private func hasListed() {
        unlisted -= 1
        listings.notifyAll()
    }

    /// Waits until each listed sensor has described itself or failed, at most for the patience of a
    /// start.
    func settled() async {
        _ = await listings.wait(atMost: SensorProcess.startPatience) { unlisted <= 0 }
        for sensor in sorted { await sensor.process.service.settled() }
    }

    func reviewTrust() {
        for sensor in sorted { sensor.process.reviewTrust() }
    }

    /// The known types, strongest sensor first, then by number.
    var types: [BiometryType] {
        let known = sensors.values.filter { $0.isKnown && $0.facts.type != .none }
        let ranked = known.sorted {
            ($1.facts.strength, $0.facts.type.rawValue) < (
                $0.facts.strength, $1.facts.type.rawValue
            )
        }
        var result: [BiometryType] = []
        for sensor in ranked where !result.contains(sensor.facts.type) {
            result.append(sensor.facts.type)
        }
        return result
    }

    /// Waits for sensors that announced a change, before an answer about sensors; nil if no sensor
    /// did.
    var answers: (@BusActor @Sendable () async -> Void)? {
        guard sensors.values.contains(where: { $0.process.hasPendingChange }) else { return nil }
        return {
            let answers = self.sorted.map { sensor in
                onLoop { await sensor.process.awaitPendingChange() }
            }
            for answer in answers { await answer.value }
        }
    }

    func idle() async {
        for sensor in sorted { await sensor.operations.idle() }
    }

    /// Ends the back-off of failed sensors after the machine slept.
    func recover() {
        for sensor in sorted { sensor.process.service.recoverSoon() }
    }

    // MARK: - Names

    private func ownerChanged(_ busName: String, _ owner: String?) {
        guard let name = Self.element(of: busName) else { return }
        owners[name] = owner
        review(name)
    }

    private func listActivatable() async {
        guard let names = try? await connection.listActivatableNames() else { return }
        let before = activatable
        activatable = Set(names.compactMap(Self.element(of:)))
        for name in activatable.union(before).sorted() { review(name) }
    }

    /// Lists the activatable names several times, with doubled delays up to 8 s.
    ///
    /// Unlike dbus-daemon, dbus-broker sends no signal after reading the files of a new sensor.
    private func listActivatable(after delay: Duration) {
        listing?.cancel()
        guard delay <= .seconds(8) else { return }
        listing = EventLoop.shared.schedule(after: delay) { [weak self] in
            onLoop { await self?.listActivatable() }
            self?.listActivatable(after: delay * 2)
        }
    }

    /// Updates a sensor's link from the state of its bus name.
    private func review(_ name: String) {
        let isKnown =
            (owners[name] != nil || activatable.contains(name)) && !disabled.contains(name)
        guard isKnown else { return remove(name) }
        let before = sensors[name]
        guard let sensor = before ?? add(name) else { return }
        if owners[name] == nil, before == nil {
            sensor.process.service.startAnew()
        } else {
            sensor.process.service.ownerChanged(to: owners[name])
        }
    }

    private func add(_ name: String) -> SensorLink? {
        guard sensors.count < Self.limit else { return nil }
        let sensor = SensorLink(
            name: name,
            connection: connection,
            neighbours: neighbours,
            devices: devices,
            events: events
        ) {
            [descriptions] in
            descriptions?.trust(in: name)
                ?? .granted(uids: [0, ProcessIdentity.uid], strength: .strong)
        }
        sensor.process.surroundings = surroundings
        sensors[name] = sensor
        return sensor
    }

    private func remove(_ name: String) {
        guard let sensor = sensors.removeValue(forKey: name) else { return }
        sensor.remove()
        events.sensorRemoved(sensor)
        // A sensor that exceeded the limit can be added now.
        let waiting = activatable.union(owners.keys).subtracting(disabled)
        if let next = waiting.filter({ sensors[$0] == nil }).min() { review(next) }
    }

    /// Returns `Face` for `org.localauth.Sensor1.Face`; nil for a name of any other form.
    private static func element(of busName: String) -> String? {
        let prefix = Sensor1.namespace + "."
        guard busName.hasPrefix(prefix) else { return nil }
        let element = String(busName.dropFirst(prefix.utf8.count))
        return SensorName.isValid(element) ? element : nil
    }
}
