import AuthEngine
import AuthStore
import DBus
import KeychainStore
import LocalAuthBus
import ServiceProgram

/// Who has which templates where, as it was told, and asked anew for each decision (L11b, L12).
@BusActor
final class Enrolments {
    /// What the record calls a companion; no name of a sensor has such a sign in it.
    private static let companionPrefix = "companion/"

    private var known: [UInt32: Enrolment]
    /// The domain states of biometry alone that were asked for, and what each was made of.
    private var states: [UInt32: (enrolment: Enrolment, state: [UInt8])] = [:]
    /// Users whose record is another than the one on the disk.
    private var changed: Set<UInt32> = []
    /// Those of them whose record could not be written: each look-up tries again.
    private var unwritten: Set<UInt32> = []
    /// Users who have no domain state because what they have could not be asked for, or written.
    private var unstated: Set<UInt32> = []
    /// Whether the sensors' lists of a user are fresh.
    private lazy var lists = Mirror<UInt32, Void> { [unowned self] uid in
        for sensor in sensors.sensors.values { sensor.templates.forget(uid) }
        unstated.remove(uid)
    } ask: { [unowned self] uid in
        await ask(uid)
    }
    /// Sensors that announced a change of a user's templates which was not looked at yet.
    private var announced: [UInt32: Set<String>] = [:]
    private var announcements = Allowance(limit: 20)
    /// Users to ask for when a flood of announcements is over.
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

    /// The user's domain state, of biometry alone or with companions; empty when nothing is
    /// enrolled, or when what is could not be written or asked for.
    ///
    /// A crash would take back what isn't on the disk, and with it that there was a change.
    func domainState(of uid: UInt32, withCompanions: Bool = false) -> [UInt8] {
        unwritten.contains(uid) || !isKnown(uid)
            ? [] : knownState(of: uid, withCompanions: withCompanions)
    }

    /// Whether every sensor that is there said what the user has when it was to be asked last.
    ///
    /// One that refuses, is silent or is left alone after a fault may have another list by now:
    /// that is no change, and it is not none either (L11b).
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

    /// The biometric enrolment as keychain items hold on to it; nil: nothing is enrolled.
    func mark(of uid: UInt32) -> EnrolmentMark? {
        let state = knownState(of: uid)
        guard let generation = known[uid]?.biometricGeneration, !state.isEmpty else { return nil }
        return EnrolmentMark(generation: generation, state: state)
    }

    /// Whether the enrolment as it is known is on the disk; nothing is to rest on it before.
    func isWritten(_ uid: UInt32) -> Bool { !unwritten.contains(uid) }

    /// Whether what is known may be answered without asking: every sensor has said what the user
    /// has, and that nothing of it changed since.
    ///
    /// One that doesn't say it counts as unusable, and is asked no more than once a second.
    func isTold(of uid: UInt32, at now: Instant) -> Bool {
        guard lists.isFresh(uid), !changed.contains(uid) else { return false }
        for sensor in sensors.sorted {
            if sensor.process.isLeaving || sensor.process.isInDoubt { return false }
            if sensor.process.isStarting || sensor.process.mayHaveRecovered {
                guard lists.isRecent(uid, at: now) else { return false }
            } else if sensor.isUsable, sensor.templates[uid] == nil {
                guard sensor.templates.isUnknown(of: uid), lists.isRecent(uid, at: now)
                else { return false }
            }
        }
        return true
    }

    /// Whether a sensor said what the user has before it fell asleep, and nothing since.
    ///
    /// That may be answered, but for what has to change with every template (L12).
    func isFromBefore(of uid: UInt32) -> Bool {
        sensors.sorted.contains { $0.templates.isFromBefore(of: uid) }
    }

    /// Returns when it is told, or nobody says it; those who wait share one question.
    func findOut(_ uid: UInt32) async {
        guard !isTold(of: uid, at: Instant.now()) else { return }
        await lists.join(uid)
        if !isTold(of: uid, at: Instant.now()) { await refresh(uid) }
    }

    /// Asks behind an answer, at most once a second; a difference is announced.
    ///
    /// What was told may have got lost, and a sensor doesn't notice everything. Who only reads a
    /// property starts no sensor that ended because it was idle: `isWaking` is false.
    func askBehind(_ uid: UInt32, at now: Instant, isWaking: Bool = true) {
        guard isWaking || !sensors.sorted.contains(where: { $0.process.isAsleep }) else { return }
        lists.refreshInBackground(uid, at: now)
    }

    /// The sensors came, went or changed: what was listed may not stand any more.
    func sensorsChanged() {
        lists.sourceChanged()
    }

    /// A sensor says that a user's templates changed, by us or behind our back.
    ///
    /// Of users that nothing is kept of and nobody asks for there is nothing to change.
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

    /// Something that was learned of a user came or went: no template is another one by that, so
    /// neither the domain state nor what rests on it changes.
    ///
    /// With a `doubt`, the error by which the sensor's answer was lost, it may have or not.
    func learned(
        of uid: UInt32,
        at sensor: String,
        _ change: LearnedChange,
        doubt: DBusError? = nil
    ) {
        events.learned(of: uid, at: sensor, change, doubt: doubt)
    }

    // MARK: - For the engine

    /// What the sensors are for this user, as last listed; none is of use before it has listed, or
    /// while the enrolment can't be written.
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
            // Of one that never said what it is somebody may have expected biometry.
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

    /// How many templates a user has on a sensor, as it says, or as it said before it was too busy:
    /// it may look nevertheless, as a match is compared with a new list.
    private func listed(_ uid: UInt32, _ sensor: SensorLink) -> Int? {
        if let list = sensor.templates[uid] { return list.count }
        guard sensor.templates.isBusy(of: uid) else { return nil }
        return known[uid]?.templates[Self.key(of: sensor)]?.count
    }

    /// Of a sensor that is gone only this much is known.
    private static func type(behind key: String?) -> BiometryType {
        key.map { isCompanion($0) ? .none : .fingerprint } ?? .none
    }

    private static func isCompanion(_ key: String) -> Bool { key.hasPrefix(companionPrefix) }

    /// Under what a sensor is recorded, which may not have said yet what it looks at.
    private static func key(of sensor: SensorLink, in recorded: [String: [String]]) -> String? {
        if sensor.isKnown { return key(of: sensor) }
        let companion = companionPrefix + sensor.name
        if recorded[sensor.name] != nil { return sensor.name }
        return recorded[companion] == nil ? nil : companion
    }

    private static func key(of sensor: SensorLink) -> String {
        sensor.facts.type == .none ? companionPrefix + sensor.name : sensor.name
    }

    // MARK: - Asking

    /// Asks all sensors.
    ///
    /// Calls that come while one look-up runs share the one behind it, so that every answer is
    /// younger than its question and a flood of questions is two look-ups.
    func refresh(_ uid: UInt32) async {
        await lists.revalidate(uid)
    }

    /// How long a decision waits for a sensor that is too busy to say whom it knows, as a reader is
    /// that matches for another program.
    struct Patience {
        let duration: Duration
        /// Whether it also waits while another sensor could do, and for sensors that it can't use.
        let isForAll: Bool
        private let request: Request

        /// Nil where the passcode will do meanwhile.
        init?(_ request: Request) {
            guard request.stages.contains(where: { !$0.contains(.passcode) }) else { return nil }
            duration = min(.seconds(5), request.timeout)
            // An item may depend on what the whole enrolment is.
            isForAll = request.operation != nil
            self.request = request
        }

        /// Whether the decision can be about this sensor.
        @BusActor func concerns(_ sensor: SensorLink) -> Bool {
            let factor: Factor = sensor.facts.type == .none ? .companion : .biometry
            let isAskedFor = request.stages.contains { $0.contains(factor) }
            let isStrong = request.minimumStrength.map { sensor.facts.strength >= $0 } ?? true
            let isNamed = request.sensors?.contains(sensor.name) ?? true
            return isForAll || (isAskedFor && isStrong && isNamed)
        }
    }

    /// Asks all sensors, and again while one is busy.
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

    /// Whether every sensor that can be used was asked for this user's templates.
    func isComplete(for uid: UInt32) -> Bool {
        sensors.sorted.allSatisfy { sensor in
            !sensor.isUsable || sensor.templates[uid] != nil
                || sensor.templates.isUnknown(of: uid)
        }
    }

    private func ask(_ uid: UInt32) async {
        let doubtful = sensors.sorted.filter { $0.process.saidNo }
        let doubts = doubtful.map { sensor in onLoop { await sensor.process.reconsider() } }
        for doubt in doubts { await doubt.value }
        let asked = sensors.sorted.filter { $0.process.canList || $0.process.isStarting }
        for sensor in sensors.sorted where !asked.contains(where: { $0 === sensor }) {
            sensor.templates.forget(uid)
            // What is left alone after a fault may have another list by now.
            if sensor.process.isLeftAlone { sensor.templates.doubt(uid) }
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
        let wasStated = !unstated.contains(uid)
        if isStated { unstated.remove(uid) } else { unstated.insert(uid) }
        if isNew || (isStated != wasStated && known[uid] != nil) { events.domainStateChanged(uid) }
    }

    /// An announcement from before the list is answered by it; one that comes later is looked at
    /// later.
    ///
    /// One that says that it can't be used takes nothing away (R67): its list says that all is as
    /// it was, or nothing.
    private func take(_ list: [Template], of uid: UInt32, from sensor: SensorLink) {
        var enrolment = known[uid] ?? Enrolment()
        let key = Self.key(of: sensor)
        let other = Self.isCompanion(key) ? sensor.name : Self.companionPrefix + sensor.name
        var changes: Set<String> = []
        if enrolment.update(sensor: key, ids: list.map(\.id)) { changes.insert(key) }
        if enrolment.update(sensor: other, ids: []) { changes.insert(other) }
        let isAnnounced = announced[uid]?.contains(sensor.name) == true
        let isAsItWas = changes.isEmpty && !isAnnounced
        let isBroken = sensor.process.saidNo && !sensor.process.isAway
        guard isAsItWas || !isBroken else { return sensor.templates.doubt(uid) }
        announced[uid]?.remove(sensor.name)
        if announced[uid]?.isEmpty == true { announced[uid] = nil }
        if changes.isEmpty, isAnnounced, known[uid] != nil {
            // Added and removed again: what is there is the same, and yet it changed.
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

    /// Writes down what changed before anybody is answered from it.
    ///
    /// - Returns: Whether something did, and is on the disk.
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

/// What became of something that was learned; raw values are what the audit says.
enum LearnedChange: String {
    case added = "add"
    case removed = "delete"
}

/// What the service hears of enrolments, and says of their users.
@BusActor
protocol EnrolmentEvents: AnyObject {
    /// Whether anybody waits to hear of a change of a user's templates.
    func isAskedFor(_ uid: UInt32) -> Bool
    /// A user's templates have changed, which is not written down yet.
    func enrolmentWillChange(_ uid: UInt32)
    /// A user's templates have changed, and that is on the disk.
    func enrolmentChanged(_ uid: UInt32)
    /// A user's domain state is another: by such a change, or as it can't, or can again, be told.
    func domainStateChanged(_ uid: UInt32)
    /// Something that was learned of a user came or went, or may have.
    func learned(of uid: UInt32, at sensor: String, _ change: LearnedChange, doubt: DBusError?)
}
