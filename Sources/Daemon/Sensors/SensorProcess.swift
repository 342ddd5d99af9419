import AuthEngine
import AuthStore
import BusGuard
import DBus
import LocalAuthBus

/// The process behind a sensor: its properties, its health, and the obstacles to its use.
@BusActor
final class SensorProcess {
    static let versions: Set<UInt32> = [1]
    /// Timeout of a query that needs no person.
    static let patience = Duration.seconds(2)
    /// How long a call waits for a start, counted from the start's beginning.
    static let startPatience = Duration.seconds(5)

    let name: String
    let service: SupervisedService
    weak var events: (any SensorProcessEvents)?
    private(set) var facts = SensorProperties()
    /// The state of the machine; an obstacle in it cancels running operations.
    var surroundings = Surroundings() {
        didSet {
            let reason = surroundings.unavailability(of: facts)
            guard reason != oldValue.unavailability(of: facts) else { return }
            if reason != nil { events?.impeded() }
            if state == .ready || isAsleep { announcer.announce() }
        }
    }
    let devices: DeviceRecords?
    /// The number of device changes before the sensor last described itself.
    private(set) var devicesSeen: Int?
    /// The sensor's last protocol violation, for people; nil after a success.
    var fault: String?
    /// Why each user's last operation was refused; removed after a success.
    ///
    /// The daemon keeps the reason because the sensor exits when idle and forgets it.
    var complaints: [UInt32: String] = [:]
    private let neighbours: NeighbourGuard
    private let findTrust: @BusActor () -> SensorTrust
    private var trust = SensorTrust.refused("")
    /// Tracks whether the properties of a connection are fresh.
    private lazy var propertyCache = Mirror<String, Bool> { [weak self] in
        await self?.look(at: $0) ?? nil
    }
    let healths = SharedLookUps<String, Result<Health, DBusError>>()
    private lazy var announcer = SensorAnnouncer { [weak self] in self?.events?.changed() }
    private static var count: UInt32 = 0
    private let number: UInt32

    init(
        name: String,
        connection: Connection,
        neighbours: NeighbourGuard,
        devices: DeviceRecords?,
        findTrust: @escaping @BusActor () -> SensorTrust
    ) {
        self.name = name
        self.neighbours = neighbours
        self.devices = devices
        self.findTrust = findTrust
        Self.count &+= 1
        number = Self.count
        service = SupervisedService(
            Sensor1.namespace + "." + name,
            on: connection,
            starts: .always,
            patience: Self.startPatience
        )
        service.user = self
    }

    /// The quotas of calls to sensors.
    var lanes: CallBudget { neighbours.lanes }

    /// Applies a changed description of this sensor.
    func reviewTrust() {
        guard findTrust() != trust else { return }
        events?.lost(.untrusted)
        service.startAnew()
    }

    /// Handles the removal of the name from the bus.
    func remove() {
        events?.lost(.noHardware)
        service.remove()
    }

    // MARK: - Properties

    /// Queries the bus for the owner and the sensor for its properties before a decision, because
    /// the signal of a change may be lost.
    ///
    /// - Returns: Whether the sensor answered, and is still owned by its process.
    func revalidate(_ proxy: Sensor1Proxy) async -> Bool {
        await propertyCache.revalidate(proxy.destination) == true && isReady(proxy)
    }

    private func isReady(_ proxy: Sensor1Proxy) -> Bool {
        owner == proxy.destination && state == .ready
    }

    /// Queries the sensor's properties; concurrent callers share a query.
    private func lookAgain(_ proxy: Sensor1Proxy) async -> Bool {
        await propertyCache.revalidate(proxy.destination) != nil && isReady(proxy)
    }

    /// Queries a sensor that reported an obstacle, because a sleeping sensor can't announce that
    /// the obstacle is gone.
    func reconsider() async {
        guard reportsObstacle, let proxy = isAsleep ? await awake() : proxy, state == .ready else {
            return
        }
        _ = await lookAgain(proxy)
    }

    /// Whether the sensor announced a change that the facts may not contain yet.
    var hasPendingChange: Bool { state == .ready && owner.map(propertyCache.isFresh) == false }

    /// Waits until the facts contain the announced change, or the sensor can't be queried.
    func awaitPendingChange() async {
        guard hasPendingChange, let proxy else { return }
        _ = await lookAgain(proxy)
    }

    /// Queries the properties of a connection.
    ///
    /// - Returns: Whether the bus says that the connection owns the name; nil if the query failed.
    private func look(at destination: String) async -> Bool? {
        var isOwner = false
        let question = onLoop { isOwner = await self.service.isOwner(destination) }
        let proxy = Sensor1Proxy(service.connection, destination: destination, path: Sensor1.path)
        let devicesBefore = devices?.changes
        do throws(DBusError) {
            let properties = try await lanes.run(.sensors, for: number) {
                () throws(DBusError) in
                try await asked { () throws(DBusError) in
                    try await proxy.properties(timeout: Self.patience)
                }
            }
            guard service.peer?.name == destination else { return nil }
            take(properties, into: nil)
            devicesSeen = devicesBefore
            await question.value
            return isOwner
        } catch {
            // An exited sensor is not at fault, even if its signal was lost.
            await question.value
            // The sensor never saw a query that exceeded a limit.
            let isFault = error.name != .limitsExceeded || state != .ready
            if owner == destination, isFault { service.fail(.failed) }
            return nil
        }
    }

    /// Updates the known properties, or replaces all if `known` is nil.
    private func take(_ properties: [String: Variant], into known: SensorProperties?) {
        var new = known ?? SensorProperties()
        guard new.updateVersions(properties) else {
            return service.fail(.failed, because: SensorProperties.fault(of: "ProtocolVersions"))
        }
        guard !new.versions.isDisjoint(with: Self.versions) else {
            return service.exclude(.incompatible)
        }
        guard known != nil || SensorProperties.isComplete(properties) else {
            return service.fail(.failed, because: SensorProperties.incompleteness)
        }
        if let property = new.update(properties) {
            return service.fail(.failed, because: SensorProperties.fault(of: property))
        }
        if case .granted(_, let most) = trust { new.strength = min(new.strength, most) }
        guard new != facts || state != .ready else { return }
        facts = new
        if reportsObstacle { events?.stopped(facts.unavailability ?? .noHardware) }
        service.answered()
    }

    private func subscribe(to proxy: Sensor1Proxy, of peer: Peer) -> [EventSource] {
        [
            // Count misses even if the sensor exits before its call is handled.
            neighbours.goesFirst(peer, calling: "NoMatch", of: SensorHost1.interface),
            proxy.onEvent { [weak self] operation, kind, detail in
                self?.events?.received(operation: operation, kind: kind, detail: detail)
            },
            proxy.onTemplatesChanged { [weak self] uid in
                guard let self, state == .ready else { return }
                events?.templatesChanged(uid: uid)
            },
            proxy.onPropertiesChanged { [weak self] changed, invalidated in
                guard let self, let owner, state == .ready else { return }
                if invalidated.isEmpty {
                    take(changed, into: facts)
                } else {
                    propertyCache.changed(owner)
                }
            },
        ]
    }
}

extension SensorProcess: SupervisedServiceUser {
    func distrust(of uid: UInt32?) -> String? {
        trust = findTrust()
        switch trust {
        case .granted(let uids, _):
            guard let uid, !uids.contains(uid) else { return nil }
            let wanted = uids.sorted().map(UserName.of).joined(separator: ", ")
            return "It runs as \(UserName.of(uid)), and may run as \(wanted) alone."
        case .refused(let reason): return reason
        }
    }

    func ownerArrived() { events?.arrived() }

    func ownerLeft() { events?.left() }

    func prepare(_ peer: Peer) async -> ServiceAbsence? {
        guard let proxy else { return .failed }
        service.listen { subscribe(to: proxy, of: peer) }
        return await propertyCache.revalidate(peer.name) == nil ? .failed : nil
    }

    func lost(_ absence: ServiceAbsence, because fault: String?) {
        let reason = Unavailability(absence)
        let isExcluded = [.untrusted, .incompatible].contains(reason)
        if !isExcluded, fault != nil || brokenReason != reason { self.fault = fault }
        events?.lost(reason)
        // An excluded sensor stays visible, but is never called.
        if isExcluded { facts = SensorProperties() }
    }

    func hasRecovered() async -> Bool {
        guard let proxy, let health = try? await health(proxy) else { return false }
        return [.ok, .degraded].contains(HealthState(rawValue: health.state))
    }

    func stateChanged() { announcer.tell(appearance) }
}

extension Unavailability {
    init(_ absence: ServiceAbsence) {
        self =
            switch absence {
            case .untrusted: .untrusted
            case .starting: .starting
            case .failed: .failed
            case .incompatible: .incompatible
            case .notInstalled, .notStarting, .resting, .crashed: .crashed
            }
    }
}
