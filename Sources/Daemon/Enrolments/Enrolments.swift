import AuthEngine
import AuthStore
import DBus
import KeychainStore
import LocalAuthBus
import ServiceProgram

/// Caches each user's templates on each sensor, and revalidates them for each decision (L11b, L12).
@BusActor
final class Enrolments {
    /// The prefix of companions in the record, because names of sensors can't contain a slash.
    private static let companionPrefix = "companion/"

    private var known: [UInt32: Enrolment]
    /// Cached domain states of biometry without companions, each with the enrolment it was computed
    /// from.
    private var states: [UInt32: (enrolment: Enrolment, state: [UInt8])] = [:]
    /// Users whose record in memory differs from the record on the disk.
    private var changed: Set<UInt32> = []
    /// Users whose changed record could not be written; each look-up tries again.
    private var unwritten: Set<UInt32> = []
    /// Users without a domain state, because a sensor did not answer or the record was not written.
    private var usersWithoutDomainState: Set<UInt32> = []
    /// Tracks whether the sensors' lists of a user are fresh.
    private lazy var lists = Mirror<UInt32, Void> { [unowned self] uid in
        for sensor in sensors.sensors.values { sensor.templates.forget(uid) }
        usersWithoutDomainState.remove(uid)
    } ask: { [unowned self] uid in
        await ask(uid)
    }
    /// Sensors that announced a change of a user's templates and have not been queried since.
    private var announced: [UInt32: Set<String>] = [:]
    private var announcements = Allowance(limit: 20)
    /// Users to refresh when a flood of announcements is over.
    private var postponed: Set<UInt32> = []
    private let store: AuthStore
    private let sensors: SensorDirectory
    private let events: any EnrolmentEvents

    init(
        _ known: [UInt32: Enrolment],
        store: AuthStore,
        sensors: SensorDirectory,
        events: any EnrolmentEvents
    ) {
        self.known = known
        self.store = store
        self.sensors = sensors
        self.events = events
    }

    /// Returns the user's domain state, of biometry alone or with companions.
    ///
    /// The state is empty without enrolled templates. It is also empty while the enrolment is
    /// unknown or unwritten, because a crash would lose an unwritten change.
    func domainState(of uid: UInt32, withCompanions: Bool = false) -> [UInt8] {
        unwritten.contains(uid) || !isKnown(uid)
            ? [] : knownState(of: uid, withCompanions: withCompanions)
    }

    /// Whether every sensor on the bus answered the last query for the user's templates.
    ///
    /// A sensor that refuses, does not answer or is in back-off may have a different list by now.
    /// The daemon treats this neither as a change nor as an empty list (L11b).
    func isKnown(_ uid: UInt32) -> Bool {
        !sensors.sensors.values.contains { $0.templates.isUnknown(of: uid) && !$0.process.isAway }
    }

    private func knownState(of uid: UInt32, withCompanions: Bool = false) -> [UInt8] {
        guard let enrolment = known[uid] else { return [] }
        guard !withCompanions else { return store.domainState(of: enrolment, uid: uid) ?? [] }
        if let made = states[uid], made.enrolment == enrolment { return made.state }
        var biometry = enrolment
        biometry.templates = biometry.templates.filter { !Self.isCompanion($0.key) }
        biometry.generation = biometry.biometricGeneration
        let state = store.domainState(of: biometry, uid: uid) ?? []
        states[uid] = (enrolment, state)
        return state
    }

    /// Returns the biometric enrolment that keychain items are bound to; nil without enrolled
    /// templates.
    func mark(of uid: UInt32) -> EnrolmentMark? {
        let state = knownState(of: uid)
        guard let generation = known[uid]?.biometricGeneration, !state.isEmpty else { return nil }
        return EnrolmentMark(generation: generation, state: state)
    }

    /// Whether the current enrolment is on the disk, as every decision requires.
    func isWritten(_ uid: UInt32) -> Bool { !unwritten.contains(uid) }

    /// Whether the cache can answer: every sensor has listed the user's templates and reported no
    /// change since.
    ///
    /// A sensor that does not answer counts as unusable, and is queried at most once a second.
    func isCached(of uid: UInt32, at now: Instant) -> Bool {
        guard lists.isFresh(uid), !changed.contains(uid) else { return false }
        for sensor in sensors.sorted {
            if sensor.process.isLeaving || sensor.process.hasPendingChange { return false }
            if sensor.process.isStarting || sensor.process.mayHaveRecovered {
                guard lists.isRecent(uid, at: now) else { return false }
            } else if sensor.isUsable, sensor.templates[uid] == nil {
                guard sensor.templates.isUnknown(of: uid), lists.isRecent(uid, at: now)
                else { return false }
            }
        }
        return true
    }

    /// Whether a sensor listed the user's templates before it fell asleep, and not since.
    ///
    /// This list is good for any answer except a value that must change with every template (L12).
    func predatesSleep(of uid: UInt32) -> Bool {
        sensors.sorted.contains { $0.templates.predatesSleep(of: uid) }
    }

    /// Waits until the cache can answer, or the sensors fail to; concurrent callers share a query.
    func waitUntilCached(_ uid: UInt32) async {
        guard !isCached(of: uid, at: Instant.now()) else { return }
        await lists.join(uid)
        if !isCached(of: uid, at: Instant.now()) { await refresh(uid) }
    }

    /// Queries the sensors in the background, at most once a second, and announces a difference.
    ///
    /// Announcements can be lost, and a sensor does not notice every change. Reading a property
    /// must not start a sensor that exited when idle, so its caller passes `isWaking: false`.
    func refreshInBackground(_ uid: UInt32, at now: Instant, isWaking: Bool = true) {
        guard isWaking || !sensors.sorted.contains(where: { $0.process.isAsleep }) else { return }
        lists.refreshInBackground(uid, at: now)
    }

    func sensorsChanged() {
        lists.sourceChanged()
    }

    /// Handles a sensor's announcement that a user's templates changed, through this service or
    /// elsewhere.
    ///
    /// Ignores users without a record and without contexts.
    func templatesChanged(at sensor: String, uid: UInt32) {
        lists.markStale(uid)
        guard known[uid] != nil || events.isAskedFor(uid) else { return }
        announced[uid, default: []].insert(sensor)
        if postponed.isEmpty, announcements.take(at: Instant.now()) {
            onLoop { await self.refresh(uid) }
            return
        }
        if postponed.isEmpty {
            _ = EventLoop.shared.schedule(after: .seconds(1)) { [weak self] in
                self?.askPostponed()
            }
        }
        postponed.insert(uid)
    }

    private func askPostponed() {
        for uid in postponed { onLoop { await self.refresh(uid) } }
        postponed = []
    }

    /// Reports that the sensor added or removed a learned entry of a user.
    ///
    /// Learned entries are no templates, so the domain state and keychain items stay valid. With a
    /// `lostReply`, the error that lost the sensor's reply, it is unknown whether the change
    /// happened.
    func learned(
        of uid: UInt32,
        at sensor: String,
        _ change: LearnedChange,
        lostReply: DBusError? = nil
    ) {
        events.learned(of: uid, at: sensor, change, lostReply: lostReply)
    }

    // MARK: - Facts for the engine

    /// Returns the facts about all sensors for a user, as last listed.
    ///
    /// A sensor is usable only after it has listed the user's templates, and while the enrolment is
    /// written.
    func facts(of uid: UInt32) -> [SensorFact] {
        let recorded = known[uid]?.templates ?? [:]
        var result: [SensorFact] = []
        for sensor in sensors.sorted {
            let key = Self.key(of: sensor, in: recorded)
            var count = sensor.templates[uid]?.count
            if count == nil, let key { count = recorded[key]?.count }
            var fact = SensorFact(
                name: sensor.name,
                type: sensor.isKnown ? sensor.facts.type : Self.type(behind: key),
                strength: sensor.facts.strength,
                availability: availability(of: sensor, uid, count ?? 0),
                templates: count ?? 0
            )
            // A sensor that never described itself may be biometric, so report its obstacle.
            if fact.type != .none || !sensor.isKnown, let reason = sensor.unavailability {
                fact.obstacle = reason
            }
            result.append(fact)
        }
        for (key, templates) in recorded where !templates.isEmpty {
            let name = Self.isCompanion(key) ? key.dropFirst(Self.companionPrefix.count) : key[...]
            guard sensors.sensors[String(name)] == nil else { continue }
            result.append(
                SensorFact(
                    name: String(name),
                    type: Self.type(behind: key),
                    strength: .convenience,
                    availability: .away,
                    templates: templates.count
                )
            )
        }
        return result
    }

    private func availability(
        of sensor: SensorLink,
        _ uid: UInt32,
        _ count: Int
    ) -> SensorFact.Availability {
        if sensor.isUsable, listed(uid, sensor) != nil, isWritten(uid) { return .usable }
        if sensor.process.isStarting { return .starting }
        return sensor.process.isAway && count > 0 ? .away : .unavailable
    }

    /// Returns the number of a user's templates on a sensor, from its list or, while it is busy,
    /// from the record.
    ///
    /// A busy sensor may verify nevertheless, because a match is compared with a new list.
    private func listed(_ uid: UInt32, _ sensor: SensorLink) -> Int? {
        if let list = sensor.templates[uid] { return list.count }
        guard sensor.templates.isBusy(of: uid) else { return nil }
        return known[uid]?.templates[Self.key(of: sensor)]?.count
    }

    /// The record of a missing sensor only tells companions from biometry, so `.fingerprint` stands
    /// for all biometry.
    private static func type(behind key: String?) -> BiometryType {
        key.map { isCompanion($0) ? .none : .fingerprint } ?? .none
    }

    private static func isCompanion(_ key: String) -> Bool { key.hasPrefix(companionPrefix) }

    /// Returns the key of a sensor in the record, even if the sensor has not described itself yet.
    private static func key(of sensor: SensorLink, in recorded: [String: [String]]) -> String? {
        if sensor.isKnown { return key(of: sensor) }
        let companion = companionPrefix + sensor.name
        if recorded[sensor.name] != nil { return sensor.name }
        return recorded[companion] == nil ? nil : companion
    }

    private static func key(of sensor: SensorLink) -> String {
        sensor.facts.type == .none ? companionPrefix + sensor.name : sensor.name
    }

    // MARK: - Queries

    /// Queries all sensors for a user's templates.
    ///
    /// Calls that arrive during a look-up share the next look-up. Thus every answer is newer than
    /// its request, and a flood of requests causes two look-ups.
    func refresh(_ uid: UInt32) async {
        await lists.revalidate(uid)
    }

    /// How long a decision waits for a sensor that is too busy to list templates, such as a reader
    /// that another program uses.
    struct Patience {
        let duration: Duration
        /// Whether to wait even if another sensor is usable, and for sensors that the request
        /// excludes.
        let isForAll: Bool
        private let request: Request

        /// Returns nil if every stage of the request accepts a password, which is then possible at
        /// once.
        init?(_ request: Request) {
            guard request.stages.contains(where: { !$0.contains(.passcode) }) else { return nil }
            duration = min(.seconds(5), request.timeout)
            // A keychain item may depend on the complete enrolment.
            isForAll = request.operation != nil
            self.request = request
        }

        /// Whether the decision may depend on this sensor.
        @BusActor func concerns(_ sensor: SensorLink) -> Bool {
            let factor: Factor = sensor.facts.type == .none ? .companion : .biometry
            let isAskedFor = request.stages.contains { $0.contains(factor) }
            let isStrong = request.minimumStrength.map { sensor.facts.strength >= $0 } ?? true
            let isNamed = request.sensors?.contains(sensor.name) ?? true
            return isForAll || (isAskedFor && isStrong && isNamed)
        }
    }

    /// Queries all sensors, and repeats the query while a sensor is busy.
    func refresh(_ uid: UInt32, waiting patience: Patience?) async {
        let begin = Instant.now()
        await refresh(uid)
        guard let patience else { return }
        func has(_ property: (SensorLink) -> Bool) -> Bool {
            sensors.sorted.contains { patience.concerns($0) && property($0) }
        }
        while Instant.now() - begin < patience.duration, has({ $0.templates.isBusy(of: uid) }),
            patience.isForAll || !has({ $0.isUsable && listed(uid, $0) ?? 0 > 0 })
        {
            await pause(SensorOperations.busyPause)
            await refresh(uid)
        }
    }

    /// Whether every usable sensor was queried for this user's templates.
    func isComplete(for uid: UInt32) -> Bool {
        sensors.sorted.allSatisfy { sensor in
            !sensor.isUsable || sensor.templates[uid] != nil
                || sensor.templates.isUnknown(of: uid)
        }
    }

    private func ask(_ uid: UInt32) async {
        let doubtful = sensors.sorted.filter { $0.process.reportsObstacle }
        let doubts = doubtful.map { sensor in onLoop { await sensor.process.reconsider() } }
        for doubt in doubts { await doubt.value }
        let asked = sensors.sorted.filter { $0.process.canList || $0.process.isStarting }
        for sensor in sensors.sorted where !asked.contains(where: { $0 === sensor }) {
            sensor.templates.forget(uid)
            // A sensor in back-off may have a different list by now.
            if sensor.process.isInBackOff { sensor.templates.markStale(uid) }
        }
        let questions =
            asked.map { sensor in
                onLoop {
                    guard let list = await sensor.templates.list(of: uid) else { return }
                    self.take(list, of: uid, from: sensor)
                }
            }
        for question in questions { await question.value }
        let isNew = await write(uid)
        let isStated = isWritten(uid) && isKnown(uid)
        let wasStated = !usersWithoutDomainState.contains(uid)
        if isStated {
            usersWithoutDomainState.remove(uid)
        } else {
            usersWithoutDomainState.insert(uid)
        }
        if isNew || (isStated != wasStated && known[uid] != nil) { events.domainStateChanged(uid) }
    }

    /// Updates the record from a sensor's list.
    ///
    /// The list answers earlier announcements; later announcements cause another query. A sensor
    /// that reports itself broken can't remove templates (R67): its list counts only if it equals
    /// the record.
    private func take(_ list: [Template], of uid: UInt32, from sensor: SensorLink) {
        var enrolment = known[uid] ?? Enrolment()
        let key = Self.key(of: sensor)
        let other = Self.isCompanion(key) ? sensor.name : Self.companionPrefix + sensor.name
        var changes: Set<String> = []
        if enrolment.update(sensor: key, ids: list.map(\.id)) { changes.insert(key) }
        if enrolment.update(sensor: other, ids: []) { changes.insert(other) }
        let isAnnounced = announced[uid]?.contains(sensor.name) == true
        let isAsItWas = changes.isEmpty && !isAnnounced
        let isBroken = sensor.process.reportsObstacle && !sensor.process.isAway
        guard isAsItWas || !isBroken else { return sensor.templates.markStale(uid) }
        announced[uid]?.remove(sensor.name)
        if announced[uid]?.isEmpty == true { announced[uid] = nil }
        if changes.isEmpty, isAnnounced, known[uid] != nil {
            // A template was added and removed again: the list is equal, but the enrolment changed.
            enrolment.generation += 1
            changes.insert(key)
        }
        guard !changes.isEmpty else { return }
        if changes.contains(where: { !Self.isCompanion($0) }) {
            enrolment.biometricGeneration = enrolment.generation
        }
        known[uid] = enrolment
        changed.insert(uid)
    }

    /// Writes a changed record before any answer uses it.
    ///
    /// - Returns: Whether there was a change, and it is on the disk.
    private func write(_ uid: UInt32) async -> Bool {
        guard changed.contains(uid), let enrolment = known[uid] else { return false }
        events.enrolmentWillChange(uid)
        let isWritten = await withCheckedContinuation { continuation in
            store.save(enrolment, uid: uid) { error in
                if let error { log(.error, "an enrolment could not be saved: \(error)") }
                continuation.resume(returning: error == nil)
            }
        }
        guard isWritten else {
            unwritten.insert(uid)
            lists.markStale(uid)
            return false
        }
        changed.remove(uid)
        unwritten.remove(uid)
        events.enrolmentChanged(uid)
        return true
    }
}

/// A change of a learned entry; raw values appear in the audit.
enum LearnedChange: String {
    case added = "add"
    case removed = "delete"
}

/// Receives changes of enrolments, and tells which users have contexts.
@BusActor
protocol EnrolmentEvents: AnyObject {
    /// Whether any context of the user waits for changes of its templates.
    func isAskedFor(_ uid: UInt32) -> Bool
    /// Called after a user's templates changed, before the change is written.
    func enrolmentWillChange(_ uid: UInt32)
    /// Called after a change of a user's templates was written.
    func enrolmentChanged(_ uid: UInt32)
    /// Called when a user's domain state changes, including when it becomes unknown or known again.
    func domainStateChanged(_ uid: UInt32)
    /// Called when a learned entry of a user was added or removed, or may have been.
    func learned(of uid: UInt32, at sensor: String, _ change: LearnedChange, lostReply: DBusError?)
}
