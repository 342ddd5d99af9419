import AuthEngine
import AuthStore
import DBus
import Linux
import LocalAuthBus

/// One sensor: its name, who owns it on the bus, what it says of itself, what runs on it.
@BusActor
final class SensorLink {
    /// The protocol versions that this daemon speaks.
    static let versions: Set<UInt32> = [1]
    /// How long a sensor may take to answer a question that needs no person.
    static let patience = Duration.seconds(2)
    /// How long a sensor may take to end an operation, or to change its templates.
    static let longPatience = Duration.seconds(5)
    /// How long the bus may take to start a sensor.
    static let startPatience = Duration.seconds(3)
    /// How long a sensor must have worked for its earlier faults to be forgotten.
    static let probation = Duration.seconds(60)
    /// How often a sensor that runs an operation is asked how it is.
    static let checkInterval = Duration.seconds(3)
    /// Where every sensor has its object.
    static let path = ObjectPath(trusted: "/org/localauth/Sensor1")

    /// What became of a sensor's process.
    enum State: Equatable {
        /// Being asked who it is, or how it ended.
        case probing
        /// It answers.
        case ready
        /// It ended in good order, and the bus starts it when it is needed.
        case asleep
        /// It can't be used, for this reason.
        case broken(String)
    }

    /// The last element of its bus name.
    let name: String
    private(set) var owner: String?
    private(set) var state = State.probing
    private(set) var facts = SensorProperties()
    /// Whether `facts` are what a trusted sensor of a common version said, now or before.
    private(set) var isKnown = false
    /// Each user's templates, as last listed by this owner.
    private(set) var lists: [UInt32: [Template]] = [:]
    /// What it is part of; what keeps it from being used ends what runs.
    var surroundings = Surroundings() {
        didSet { surroundingsChanged(from: oldValue) }
    }
    /// What it runs, by the number that it was told.
    var operations: [UInt64: Operation] = [:]
    /// Operations that wait for another one to end.
    var queue: [CheckedContinuation<Void, Never>] = []
    var healthCheck: EventSource?
    private var process: OwnedDescriptor?
    private var sources: [EventSource] = []
    private var waking: Task<Void, Never>?
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var retry: EventSource?
    private var faults = 0
    private var readySince = Instant(nanoseconds: 0)
    private var announcements = Allowance(limit: 20)
    private var announcement: EventSource?
    private var isRemoved = false
    let connection: Connection
    private let events: any SensorEvents

    init(name: String, connection: Connection, events: any SensorEvents) {
        self.name = name
        self.connection = connection
        self.events = events
    }

    /// The reason why it can't be used; empty when it can.
    var unavailability: String {
        switch state {
        case .probing: "no-hardware"
        case .broken(let reason): reason
        case .ready, .asleep:
            if !facts.unavailability.isEmpty {
                facts.unavailability
            } else {
                facts.isPresent ? surroundings.unavailability(of: facts) : "no-hardware"
            }
        }
    }

    /// Whether it is there at all.
    var isAway: Bool {
        switch state {
        case .asleep, .ready: !facts.isPresent
        case .probing, .broken: owner == nil
        }
    }

    var isUsable: Bool { unavailability.isEmpty }

    /// Whether the bus is starting it.
    var isStarting: Bool { waking != nil }

    var proxy: Sensor1Proxy? {
        owner.map { Sensor1Proxy(connection, destination: $0, path: Self.path) }
    }

    // MARK: - Coming and going

    /// Another process owns the name now.
    func ownerChanged(_ owner: String) {
        guard owner != self.owner else { return }
        detach()
        self.owner = owner
        state = .probing
        onLoop { await self.probe(owner) }
    }

    /// Nobody owns the name any more, but the bus can start the sensor again.
    func ownerLeft() {
        guard let owner else { return }
        let process = process
        detach()
        state = .probing
        onLoop {
            let isClean = await self.hasEndedWell(owner, process)
            guard self.owner == nil, !self.isRemoved else { return }
            if isClean, self.isKnown {
                self.settle(.asleep)
            } else {
                self.fail("crashed")
            }
        }
    }

    /// The sensor is none any more; what ran on it ended.
    func remove() {
        isRemoved = true
        detach()
        announcement?.cancel()
        release()
    }

    private func detach() {
        endOperations()
        for source in sources { source.cancel() }
        sources = []
        retry?.cancel()
        retry = nil
        owner = nil
        process = nil
        lists = [:]
    }

    /// One that let go of its name before it left the bus ended in good order; of one that left at
    /// once the kernel may tell.
    private func hasEndedWell(_ owner: String, _ process: OwnedDescriptor?) async -> Bool {
        if let holder = try? await connection.nameOwner(owner), holder == owner { return true }
        guard let process else { return false }
        return await ProcessEnd.isClean(process)
    }

    // MARK: - Starting

    /// Has the bus start the sensor; several that want it share one start.
    func start() {
        guard waking == nil, owner == nil, !isRemoved else { return }
        waking = onLoop {
            await self.activate()
            self.waking = nil
        }
    }

    /// Whether it can be asked now; one that sleeps is woken first.
    func isAwake() async -> Bool {
        if state == .asleep { start() }
        await waking?.value
        return state == .ready && isUsable
    }

    private func activate() async {
        let name = SensorDirectory.prefix + "." + name
        let isStarted = (try? await connection.startService(name, Self.startPatience)) != nil
        if isStarted, owner == nil || state == .probing {
            let limit = EventLoop.shared.schedule(after: Self.startPatience) { self.release() }
            await withCheckedContinuation { waiters.append($0) }
            limit.cancel()
        }
        if owner == nil, !isRemoved { fail("crashed") }
    }

    private func release() {
        let released = waiters
        waiters = []
        for waiter in released { waiter.resume() }
    }

    // MARK: - Who it is

    private func probe(_ owner: String) async {
        do throws(DBusError) {
            let peer = try await connection.peer(named: owner)
            guard self.owner == owner else { return }
            guard events.isTrusted(uid: peer.uid) else { return exclude("untrusted") }
            process = try? ProcessDescriptor.open(peer.pid)
            let proxy = Sensor1Proxy(connection, destination: owner, path: Self.path)
            if sources.isEmpty { subscribe(to: proxy) }
            let properties = try await proxy.properties(timeout: Self.patience)
            guard self.owner == owner else { return }
            guard SensorProperties.isComplete(properties) || !speaksVersion(properties) else {
                return fail("failed")
            }
            take(properties, into: SensorProperties())
        } catch {
            guard self.owner == owner else { return }
            fail("failed")
        }
    }

    private func speaksVersion(_ properties: [String: Variant]) -> Bool {
        var said = SensorProperties()
        return said.updateVersions(properties) && !said.versions.isDisjoint(with: Self.versions)
    }

    private func take(_ properties: [String: Variant], into known: SensorProperties) {
        var new = known
        guard new.updateVersions(properties) else { return fail("failed") }
        guard !new.versions.isDisjoint(with: Self.versions) else { return exclude("incompatible") }
        guard new.update(properties) else { return fail("failed") }
        guard new != facts || state != .ready else { return }
        if state != .ready { readySince = Instant.now() }
        facts = new
        isKnown = true
        if !isPresentAndWell { endOperations() }
        settle(.ready)
    }

    private var isPresentAndWell: Bool { facts.isPresent && facts.unavailability.isEmpty }

    /// It is listed, and never called.
    private func exclude(_ reason: String) {
        endOperations()
        facts = SensorProperties()
        isKnown = false
        settle(.broken(reason))
    }

    private func settle(_ state: State) {
        self.state = state
        release()
        announce()
    }

    /// A sensor that changes all the time is told of no more often than its allowance.
    private func announce() {
        guard announcement == nil else { return }
        guard !announcements.take(at: Instant.now()) else { return events.sensorChanged(self) }
        announcement = EventLoop.shared.schedule(after: .seconds(1)) { [weak self] in
            guard let self else { return }
            announcement = nil
            events.sensorChanged(self)
        }
    }

    private func subscribe(to proxy: Sensor1Proxy) {
        sources = [
            proxy.onEvent { [weak self] operation, kind, detail in
                self?.received(operation: operation, kind: kind, detail: detail)
            },
            proxy.onTemplatesChanged { [weak self] uid in
                guard let self, state == .ready else { return }
                events.templatesChanged(self, uid: uid)
            },
            proxy.onPropertiesChanged { [weak self] changed, invalidated in
                guard let self, let owner else { return }
                switch state {
                case .ready where invalidated.isEmpty: take(changed, into: facts)
                case .ready: onLoop { await self.probe(owner) }
                case .probing, .asleep, .broken: break
                }
            },
        ]
    }

    // MARK: - Faults

    /// It can't be used until it has recovered; it is looked at again after 1, 2, 4 … 60 s.
    func fail(_ reason: String) {
        if state == .ready, Instant.now() - readySince >= Self.probation { faults = 0 }
        endOperations()
        lists = [:]
        if state != .broken(reason) { settle(.broken(reason)) }
        retry?.cancel()
        retry = EventLoop.shared.schedule(after: .seconds(min(1 << min(faults, 6), 60))) {
            [weak self] in
            guard let self else { return }
            retry = nil
            onLoop { await self.recover() }
        }
        faults += 1
    }

    private func recover() async {
        guard let owner, let proxy else { return start() }
        let health = try? await proxy.health(timeout: Self.patience)
        guard self.owner == owner, case .broken = state else { return }
        if let health, health.state == "ok" || health.state == "degraded" {
            await probe(owner)
        } else {
            fail("failed")
        }
    }

    /// What a sensor failed at before sleep is not held against it.
    func recoverSoon() {
        guard let retry else { return }
        retry.cancel()
        self.retry = nil
        faults = 0
        onLoop { await self.recover() }
    }

    private func surroundingsChanged(from old: Surroundings) {
        let reason = surroundings.unavailability(of: facts)
        guard reason != old.unavailability(of: facts) else { return }
        if !reason.isEmpty { cancelOperations() }
        if state == .ready || state == .asleep { announce() }
    }

    // MARK: - Templates

    /// Asks for a user's templates; nil when it can't say.
    func listTemplates(of uid: UInt32) async -> [Template]? {
        guard await isAwake(), let proxy, let asked = owner else { return nil }
        do throws(DBusError) {
            let list = try await proxy.listTemplates(uid: uid, timeout: Self.patience)
            guard owner == asked else { return nil }
            guard let checked = Self.checked(list) else {
                fail("failed")
                return nil
            }
            if lists.count > 1024 { lists = [:] }
            lists[uid] = checked
            return checked
        } catch {
            guard owner == asked else { return nil }
            lists[uid] = nil
            switch error.name {
            // It does not know this daemon yet, does something else, or never got the question: no
            // fault of its own.
            case .accessDenied, .sensorBusy, .invalidArgs, .limitsExceeded: break
            default: fail("failed")
            }
            return nil
        }
    }

    /// The list with labels fit to be shown; nil when no sound sensor says such a thing.
    private static func checked(_ list: [Template]) -> [Template]? {
        guard list.count <= 256, Set(list.map { Array($0.id.utf8) }).count == list.count,
            list.allSatisfy({ isIdentifier($0.id) && $0.label.utf8.count <= 1024 })
        else { return nil }
        return list.map { template in
            let label = DisplayText.cleaned(template.label, limit: SensorObject.longestLabel)
            return Template(id: template.id, label: label, created: template.created)
        }
    }

    /// Whether a template could have this id.
    static func isIdentifier(_ id: String) -> Bool { (1...256).contains(id.utf8.count) }

    /// Has the sensor change something about its templates.
    ///
    /// - Throws: BiometryNotAvailable, or an error of Sensor1.
    func change<Value: Sendable>(
        _ body: @BusActor (Sensor1Proxy) async throws(DBusError) -> Value
    ) async throws(DBusError) -> Value {
        guard await isAwake(), let proxy, let asked = owner else { throw unavailable }
        do throws(DBusError) {
            return try await body(proxy)
        } catch {
            if owner == asked, error.name == .noReply { fail("failed") }
            throw Self.cleaned(error)
        }
    }

    /// Why nothing can be asked of it now.
    var unavailable: DBusError {
        DBusError(
            .biometryNotAvailable,
            "The sensor \(name) can't be used now (\(unavailability))."
        )
    }
}

extension Connection {
    /// Has the bus start the program behind a name, unless somebody owns it already.
    ///
    /// - Throws: what the bus answers; NoReply after `timeout`.
    func startService(_ name: String, _ timeout: Duration) async throws(DBusError) {
        _ = try await call(
            to: "org.freedesktop.DBus",
            path: ObjectPath(trusted: "/org/freedesktop/DBus"),
            interface: "org.freedesktop.DBus",
            member: "StartServiceByName",
            signature: "su",
            timeout: timeout
        ) { writer throws(DBusError) in
            try writer.write(name)
            try writer.write(UInt32(0))
        }
    }
}

/// What the service wants to hear of its sensors.
@BusActor
protocol SensorEvents: AnyObject {
    /// Whether a process of this user may be a sensor.
    func isTrusted(uid: UInt32) -> Bool
    /// What a sensor says of itself, or its state, is another now.
    func sensorChanged(_ sensor: SensorLink)
    /// A sensor says that a user's templates changed.
    func templatesChanged(_ sensor: SensorLink, uid: UInt32)
}
