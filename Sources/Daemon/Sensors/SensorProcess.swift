import AuthEngine
import AuthStore
import BusGuard
import DBus
import Linux
import LocalAuthBus

/// The program behind a sensor: who owns its name on the bus, what it says of itself, how it is
/// started, and how long it is left alone after a fault.
@BusActor
final class SensorProcess {
    /// The protocol versions that this daemon speaks.
    static let versions: Set<UInt32> = [1]
    /// How long a sensor may take to answer a question that needs no person.
    static let patience = Duration.seconds(2)
    /// How long anybody waits for a sensor that is being started, counted from when that began.
    static let startPatience = Duration.seconds(5)
    /// How long the bus may take to start a sensor.
    static let longestStart = Duration.seconds(30)

    /// Where it is in its life.
    enum State: Equatable {
        /// It is being started, or asked who it is, or how it ended.
        case probing
        /// It answers.
        case ready
        /// It gave its name back, and the bus is asked whether it ended in good order.
        case leaving
        /// It ended in good order, and the bus starts it when it is needed.
        case asleep
        /// It can't be used, for this reason.
        case broken(Unavailability)
    }

    /// The unique name of the connection that owns the sensor's name.
    private(set) var owner: String?
    private(set) var state = State.probing
    private(set) var facts = SensorProperties()
    /// Whether `facts` are what a trusted sensor of a common version said, now or before.
    private(set) var isKnown = false
    /// What it is part of; whatever in them keeps it from being used cancels what runs.
    var surroundings = Surroundings() {
        didSet { surroundingsChanged(from: oldValue) }
    }
    weak var events: (any SensorProcessEvents)?

    let name: String
    private let connection: Connection
    private let neighbours: NeighbourGuard
    private let findTrust: @BusActor () -> SensorTrust
    let devices: DeviceRecords?
    /// How often devices had come or gone before it last said what it is.
    private(set) var devicesSeen: Int?
    /// What was last found.
    private var trust = SensorTrust.refused("")
    /// Why it is not trusted, for people; nil when it is.
    private(set) var distrust: String?
    /// What it did wrong last, for people; nil: nothing since it worked.
    private(set) var fault: String?
    /// What it last refused an operation of a user with, for that one, until it works for them.
    ///
    /// It is kept here as well as by the sensor, which ends when it is idle.
    var complaints: [UInt32: String] = [:]
    private var descriptor: OwnedDescriptor?
    private var subscriptions: [EventSource] = []
    private var isActivating = false
    /// Wakes those who wait until it has said who it is, or failed.
    private let arrivals = ConditionVariable()
    /// When it began to be what is waited for.
    private var startedAt = Instant.now()
    /// Finds out how the last owner ended.
    private(set) var departure: Task<Void, Never>?
    /// The last owner that ended in good order.
    private var departed: String?
    private var retry: EventSource?
    var backOff = BackOff()
    /// What was announced last.
    private var told: SensorAppearance?
    private var announcements = Allowance(limit: 20)
    private var announcement: EventSource?
    private var isRemoved = false
    private let looks = SharedLookUps<String, Bool>()
    /// What it announced without saying what.
    var doubt = Doubt.none
    private static var count: UInt32 = 0
    private let number: UInt32
    let healthLookUps = SharedLookUps<String, Result<Health, DBusError>>()

    init(
        name: String,
        connection: Connection,
        neighbours: NeighbourGuard,
        devices: DeviceRecords?,
        findTrust: @escaping @BusActor () -> SensorTrust
    ) {
        self.name = name
        self.connection = connection
        self.neighbours = neighbours
        self.devices = devices
        self.findTrust = findTrust
        Self.count &+= 1
        number = Self.count
    }

    /// The places of calls to sensors.
    var lanes: CallBudget { neighbours.lanes }

    // MARK: - Whether it can be used

    /// Why it can't be used; nil when it can.
    var unavailability: Unavailability? {
        switch state {
        case .probing: .starting
        case .broken(let reason): reason
        case .ready, .leaving, .asleep:
            if let reason = facts.unavailability {
                reason
            } else {
                facts.isPresent ? surroundings.unavailability(of: facts) : .noHardware
            }
        }
    }

    /// Whether it is about to say who it is: neither there yet nor absent.
    var isStarting: Bool {
        !isRemoved && (state == .probing || (isActivating && owner == nil))
    }

    /// Waits for one that is being started, as long as anybody does (L26).
    func settled() async {
        guard isStarting else { return }
        let left = startedAt + Self.startPatience - Instant.now()
        if left > .zero { _ = await arrivals.wait(atMost: left) { !isStarting } }
        // One that takes longer is there all the same.
        if isStarting { tell() }
    }

    var proxy: Sensor1Proxy? {
        owner.map { Sensor1Proxy(connection, destination: $0, path: Sensor1.path) }
    }

    /// Whether the connection was this sensor's, and left in good order: the next one is to be
    /// asked what this one didn't answer.
    func hasDeparted(_ connectionName: String) async -> Bool {
        // That it left may have been said, and lost.
        if owner == connectionName { _ = await isOwner(connectionName) }
        await departure?.value
        guard departed == connectionName else { return false }
        // The next one may be there already, and is asked who it is.
        await settled()
        return true
    }

    private func surroundingsChanged(from old: Surroundings) {
        let reason = surroundings.unavailability(of: facts)
        guard reason != old.unavailability(of: facts) else { return }
        if reason != nil { events?.impeded() }
        if state == .ready || isAsleep { announce() }
    }

    // MARK: - Coming and going

    /// Whether a connection owns the name, as the bus says now; what it says otherwise is taken as
    /// if the signal about it had come.
    func isOwner(_ connectionName: String) async -> Bool {
        let name = Sensor1.namespace + "." + name
        let now: String?
        do throws(DBusError) {
            now = try await connection.nameOwner(name)
        } catch {
            return false
        }
        guard now != connectionName else { return true }
        if owner == connectionName { await connection.catchUpWithNames() }
        return false
    }

    /// Another process owns the name now.
    func ownerChanged(_ owner: String) {
        guard owner != self.owner else { return }
        // That the one before left may have been said, and lost.
        if self.owner != nil { ownerLeft() }
        if !isStarting { startedAt = Instant.now() }
        events?.arrived()
        detach()
        self.owner = owner
        state = .probing
        onLoop { await self.probe(owner) }
    }

    /// Nobody owns the name any more, but the bus can start the sensor again.
    func ownerLeft() {
        guard let owner else { return }
        let (descriptor, wasReady) = (descriptor, state == .ready)
        detach()
        guard canBeTrusted() else {
            events?.lost(.untrusted)
            return
        }
        events?.left()
        state = wasReady ? .leaving : .probing
        departure = onLoop {
            let isClean = await self.connection.hasEndedWell(owner, descriptor)
            self.departure = nil
            if isClean, self.isKnown { self.departed = owner }
            guard self.owner == nil, !self.isRemoved else { return }
            if self.departed == owner {
                self.backOff.ended(at: Instant.now(), wasReady: wasReady)
                self.settle(.asleep)
            } else {
                self.fail(.crashed, wasReady: wasReady)
            }
        }
    }

    /// The bus knows the name no more.
    func remove() {
        isRemoved = true
        events?.lost(.noHardware)
        detach()
        announcement?.cancel()
        arrivals.notifyAll()
    }

    private func detach() {
        for subscription in subscriptions { subscription.cancel() }
        subscriptions = []
        retry?.cancel()
        retry = nil
        owner = nil
        descriptor = nil
    }

    // MARK: - Starting

    /// Has the bus start the sensor; several that want it share one start.
    func start() {
        guard !isActivating, owner == nil, !isRemoved, canBeTrusted() else { return }
        isActivating = true
        startedAt = Instant.now()
        onLoop {
            await self.activate()
            self.isActivating = false
            self.arrivals.notifyAll()
        }
    }

    private func activate() async {
        let name = Sensor1.namespace + "." + name
        do throws(DBusError) {
            try await connection.startService(name, timeout: Self.longestStart)
            // One that was there already is not told of again.
            if owner == nil { await connection.catchUpWithNames() }
        } catch {
            // What has no owner did not come.
        }
        if owner == nil, departure == nil, !isRemoved { fail(.crashed) }
    }

    // MARK: - Who it is

    private func probe(_ owner: String) async {
        do throws(DBusError) {
            let peer = try await connection.peer(named: owner)
            guard self.owner == owner else { return }
            guard canBeTrusted(peer.uid) else { return }
            descriptor = try? ProcessDescriptor.open(peer.pid)
            let proxy = Sensor1Proxy(connection, destination: owner, path: Sensor1.path)
            if subscriptions.isEmpty { subscribe(to: proxy, of: peer) }
            _ = await ask(proxy)
        } catch {
            guard self.owner == owner else { return }
            fail(.failed)
        }
    }

    /// Asks it again what it is, for a decision: what it announced of that may have got lost.
    ///
    /// Those who want to know at the same time share the question.
    ///
    /// - Returns: Whether it said so, and is still the same process.
    func lookAgain(_ proxy: Sensor1Proxy) async -> Bool {
        let isSaid = await looks.share(proxy.destination) { await self.ask(proxy) }
        return isSaid && owner == proxy.destination && state == .ready
    }

    /// Asks one that said that it can't be used whether that is over.
    ///
    /// What it was waiting for may be there: one that sleeps tells nobody.
    func reconsider() async {
        guard saidNo, let proxy = isAsleep ? await awake() : proxy, state == .ready else { return }
        _ = await lookAgain(proxy)
    }

    /// Takes what it says of itself; false: it says nothing that could be taken.
    private func ask(_ proxy: Sensor1Proxy) async -> Bool {
        if doubt == .announced { doubt = .asked }
        let devicesBefore = devices?.changes
        do throws(DBusError) {
            let properties = try await lanes.run(.sensors, for: number) {
                () throws(DBusError) in
                try await asked { () throws(DBusError) in
                    try await proxy.properties(timeout: Self.patience)
                }
            }
            guard owner == proxy.destination else { return false }
            guard SensorProperties.isComplete(properties) || !speaksVersion(properties) else {
                fail(.failed, because: "It does not say its type, its strength and its presence.")
                return false
            }
            take(properties, into: SensorProperties())
            // What it announced meanwhile may be younger.
            if doubt == .asked { doubt = .none }
            devicesSeen = devicesBefore
            return true
        } catch {
            // One that has left is not at fault, even if nobody heard of it.
            _ = await isOwner(proxy.destination)
            // Of a question that never got through the sensor knows nothing.
            let isFault = error.name != .limitsExceeded || state != .ready
            if owner == proxy.destination, isFault { fail(.failed) }
            return false
        }
    }

    private func speaksVersion(_ properties: [String: Variant]) -> Bool {
        var said = SensorProperties()
        return said.updateVersions(properties) && !said.versions.isDisjoint(with: Self.versions)
    }

    private func take(_ properties: [String: Variant], into known: SensorProperties) {
        var new = known
        guard new.updateVersions(properties) else {
            return fail(.failed, because: SensorProperties.fault(of: "ProtocolVersions"))
        }
        guard !new.versions.isDisjoint(with: Self.versions) else { return exclude(.incompatible) }
        if let property = new.update(properties) {
            return fail(.failed, because: SensorProperties.fault(of: property))
        }
        if case .granted(_, let most) = trust { new.strength = min(new.strength, most) }
        guard new != facts || state != .ready else { return }
        if state != .ready { backOff.recovered(at: Instant.now()) }
        facts = new
        isKnown = true
        if saidNo { events?.stopped(facts.unavailability ?? .noHardware) }
        settle(.ready)
    }

    /// It is listed, and never called.
    private func exclude(_ reason: Unavailability) {
        events?.stopped(reason)
        facts = SensorProperties()
        isKnown = false
        settle(.broken(reason))
    }

    // MARK: - Whether it is trusted

    /// The files that say who may be this sensor may have changed.
    func reviewTrust() {
        guard findTrust() != trust, !isRemoved else { return }
        let holder = owner
        events?.lost(.untrusted)
        detach()
        if let holder {
            ownerChanged(holder)
        } else {
            state = .probing
            startedAt = Instant.now()
            start()
        }
    }

    /// Looks anew who may be this sensor, and excludes one that nobody, or not this user, may be.
    private func canBeTrusted(_ uid: UInt32? = nil) -> Bool {
        trust = findTrust()
        switch trust {
        case .granted(let uids, _):
            guard let uid, !uids.contains(uid) else {
                distrust = nil
                return true
            }
            let wanted = uids.sorted().map(UserName.of).joined(separator: ", ")
            distrust = "It runs as \(UserName.of(uid)), and may run as \(wanted) alone."
        case .refused(let reason): distrust = reason
        }
        exclude(.untrusted)
        return false
    }

    private func settle(_ state: State) {
        self.state = state
        arrivals.notifyAll()
        tell()
    }

    /// Announces what others see of it.
    ///
    /// One that falls asleep or wakes up as it was has not changed: whoever asked again because of
    /// it would wake it for ever.
    private func tell() {
        guard told != appearance else { return }
        told = appearance
        announce()
    }

    /// Changes of one sensor are announced no more often than its allowance permits.
    private func announce() {
        guard announcement == nil else { return }
        guard !announcements.take(at: Instant.now()) else {
            events?.changed()
            return
        }
        announcement = EventLoop.shared.schedule(after: .seconds(1)) { [weak self] in
            guard let self else { return }
            announcement = nil
            events?.changed()
        }
    }

    private func subscribe(to proxy: Sensor1Proxy, of peer: Peer) {
        subscriptions = [
            // Its misses are counted even if it is gone by then.
            neighbours.goesFirst(peer, calling: "NoMatch", of: SensorHost1.interface),
            proxy.onEvent { [weak self] operation, kind, detail in
                self?.events?.received(operation: operation, kind: kind, detail: detail)
            },
            proxy.onTemplatesChanged { [weak self] uid in
                guard let self, state == .ready else { return }
                events?.templatesChanged(uid: uid)
            },
            proxy.onPropertiesChanged { [weak self] changed, invalidated in
                guard let self, let owner else { return }
                switch state {
                case .ready where invalidated.isEmpty: take(changed, into: facts)
                case .ready: beginDoubt(owner)
                case .probing, .leaving, .asleep, .broken: break
                }
            },
        ]
    }

    // MARK: - Faults

    /// It can't be used until it has recovered, which is looked at after a growing while.
    ///
    /// - Parameters:
    ///   - reason: How it is now.
    ///   - fault: What it did wrong; nil: nothing but that it ended or said so itself, or that it
    ///     is still as it was.
    ///   - wasReady: Whether it worked until then; nil: as its state says.
    func fail(_ reason: Unavailability, because fault: String? = nil, wasReady: Bool? = nil) {
        if fault != nil || state != .broken(reason) { self.fault = fault }
        let wait = backOff.failed(at: Instant.now(), wasReady: wasReady ?? (state == .ready))
        events?.lost(reason)
        if state != .broken(reason) { settle(.broken(reason)) }
        retry?.cancel()
        retry = EventLoop.shared.schedule(after: wait) { [weak self] in
            guard let self else { return }
            retry = nil
            onLoop { await self.recover() }
        }
    }

    /// It did what it was asked: what was wrong before is over.
    func worked() {
        fault = nil
    }

    private func recover() async {
        if let asked = owner, await !isOwner(asked) {
            // Without an answer of the bus it is tried again.
            if owner == asked { fail(.failed) }
            return
        }
        guard let owner, let proxy else { return start() }
        let answer = try? await health(proxy)
        guard self.owner == owner, case .broken = state else { return }
        switch answer.flatMap({ HealthState(rawValue: $0.state) }) {
        case .ok, .degraded: await probe(owner)
        case .failed, nil: fail(.failed)
        }
    }

    /// Looks again at once: what it failed at before sleep is not held against it.
    func recoverSoon() {
        guard let retry else { return }
        retry.cancel()
        self.retry = nil
        backOff.forgive()
        onLoop { await self.recover() }
    }
}
