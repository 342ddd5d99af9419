import AuthEngine
import AuthStore
import DBus
import LocalAuthBus

/// Who has which templates where, asked anew for each answer that depends on it (L11b, L12).
@BusActor
final class Enrolments {
    private var known: [UInt32: Enrolment]
    /// Users whose templates were asked for since the sensors changed.
    private var current: Set<UInt32> = []
    /// Sensors that announced a change of a user's templates which was not looked at yet.
    private var announced: [UInt32: Set<String>] = [:]
    /// The look-up that has not begun yet, and the last one that has, for each user.
    private var next: [UInt32: Task<Void, Never>] = [:]
    private var last: [UInt32: Task<Void, Never>] = [:]
    private let store: AuthStore
    private unowned let service: AuthService

    init(_ known: [UInt32: Enrolment], store: AuthStore, service: AuthService) {
        self.known = known
        self.store = store
        self.service = service
    }

    /// The user's domain state; empty when nothing is enrolled.
    func domainState(of uid: UInt32) -> [UInt8] {
        known[uid].flatMap { store.domainState(of: $0, uid: uid) } ?? []
    }

    /// Whether the last look-up still stands.
    func isCurrent(_ uid: UInt32) -> Bool { current.contains(uid) }

    /// The sensors came, went or changed: what was listed may not stand any more.
    func sensorsChanged() {
        current = []
    }

    /// A sensor says that a user's templates changed, by us or behind our back.
    func templatesChanged(at sensor: String, uid: UInt32) {
        announced[uid, default: []].insert(sensor)
        current.remove(uid)
        onLoop { await self.refresh(uid) }
    }

    /// What the sensors are for this user, as last listed.
    func facts(of uid: UInt32) -> [SensorFact] {
        let recorded = known[uid]?.templates ?? [:]
        var result = service.directory.sorted.map { sensor in
            let listed = sensor.templates[uid] ?? recorded[sensor.name] ?? []
            return SensorFact(
                name: sensor.name,
                type: sensor.facts.type,
                strength: sensor.facts.strength,
                availability: sensor.isUsable
                    ? .usable : (sensor.isAway && !listed.isEmpty ? .away : .unavailable),
                templates: listed.count
            )
        }
        for (name, templates) in recorded
        where service.directory.sensors[name] == nil && !templates.isEmpty {
            result.append(
                SensorFact(
                    name: name,
                    type: .fingerprint,
                    strength: .convenience,
                    availability: .away,
                    templates: templates.count
                )
            )
        }
        return result
    }

    /// Asks all sensors.
    ///
    /// Calls that come while one look-up runs share the one behind it, so that every answer is
    /// younger than its question and a flood of questions is two look-ups.
    func refresh(_ uid: UInt32) async {
        if let waiting = next[uid] { return await waiting.value }
        let before = last[uid]
        let task = onLoop {
            await before?.value
            self.last[uid] = self.next.removeValue(forKey: uid)
            await self.ask(uid)
            if self.next[uid] == nil { self.last[uid] = nil }
        }
        next[uid] = task
        await task.value
    }

    private func ask(_ uid: UInt32) async {
        let sensors = service.directory.sorted.filter(\.isUsable)
        current.insert(uid)
        var lists: [(sensor: SensorLink, task: Task<Void, Never>)] = []
        for sensor in sensors {
            lists.append((sensor, onLoop { _ = await sensor.listTemplates(of: uid) }))
        }
        for list in lists { await list.task.value }
        await record(uid, from: sensors)
    }

    /// Writes down what changed before anybody is answered from it.
    private func record(_ uid: UInt32, from sensors: [SensorLink]) async {
        var enrolment = known[uid] ?? Enrolment()
        var hasChanged = false
        for sensor in sensors {
            guard let ids = sensor.templates[uid] else { continue }
            let isAnnounced = announced[uid]?.remove(sensor.name) != nil
            if enrolment.update(sensor: sensor.name, ids: ids) {
                hasChanged = true
            } else if isAnnounced {
                enrolment.generation += 1
                hasChanged = true
            }
        }
        if announced[uid]?.isEmpty == true { announced[uid] = nil }
        guard hasChanged else { return }
        known[uid] = enrolment
        service.handle(.enrolmentChanged(uid: uid))
        let saved = enrolment
        await withCheckedContinuation { continuation in
            store.save(saved, uid: uid) { _ in continuation.resume() }
        }
        service.enrolmentChanged(uid)
    }
}
