import BusGuard
import Contract
import DBus
import LocalAuthBus

/// Whom a sensor knows: each user's templates.
@BusActor
final class SensorTemplates {
    /// How long a sensor may take to change its templates.
    static let patience = Duration.seconds(5)
    /// The most users of whom something is kept.
    private static let limit = 1024

    private struct Listing {
        var templates: [Template]
        /// The connection that listed them.
        let lister: String?
    }

    private lazy var lists = Mirror<UInt32, Listing> { [unowned self] uid in await ask(uid) }
    /// Users whose templates it did not list when it was asked last, or could not be asked for.
    private var unanswered: Set<UInt32> = []
    /// Users whose templates it did not list because it was busy.
    private var busy: Set<UInt32> = []
    /// Templates that an enrolment made which was refused nevertheless: until they are removed they
    /// count for nothing.
    private var unwanted: [UInt32: Set<String>] = [:]
    /// Users of whom such templates are being removed, or will be in a moment.
    private var removals: Set<UInt32> = []
    /// How long after a sensor was busy it is asked to remove a user's again.
    private var pauses: [UInt32: Duration] = [:]
    /// Whether the sensor enrols a user: what it makes may have an id that is unwanted.
    var isEnrolling: @BusActor (UInt32) -> Bool = { _ in false }
    private let process: SensorProcess
    /// Has all that depends on a user's templates know them as they are now.
    private let listAnew: @BusActor (UInt32) async -> Void

    init(process: SensorProcess, listAnew: @escaping @BusActor (UInt32) async -> Void) {
        self.process = process
        self.listAnew = listAnew
    }

    /// A user's templates as last listed; nil: the sensor has not said.
    subscript(_ uid: UInt32) -> [Template]? { lists.last(uid)?.templates }

    /// Whether the list is from before the sensor fell asleep: what changed since, it can't tell.
    func isFromBefore(of uid: UInt32) -> Bool {
        lists.last(uid).map { $0.lister != process.owner } ?? false
    }

    /// Whether what a user has could not be found out: it may be anything by now.
    func isUnknown(of uid: UInt32) -> Bool {
        // Of more users than a machine has, none is known.
        unanswered.contains(uid) || unanswered.count > Self.limit
    }

    /// Whether it could not say what a user has for being busy, which ends by itself.
    func isBusy(of uid: UInt32) -> Bool { busy.contains(uid) && process.isUsable }

    func forget() { lists.removeAll() }

    /// Nothing stands that was listed for a user before.
    func forget(_ uid: UInt32) { lists.forget(uid) }

    /// What a user has can't be found out: nothing is known of it until there is an answer (L11b).
    func doubt(_ uid: UInt32) {
        lists.forget(uid)
        if unanswered.count <= Self.limit { unanswered.insert(uid) }
    }

    /// Asks for a user's templates; nil when the sensor can't say.
    func list(of uid: UInt32) async -> [Template]? {
        guard let listing = await lists.revalidate(uid) else {
            doubt(uid)
            return nil
        }
        unanswered.remove(uid)
        busy.remove(uid)
        return listing.templates
    }

    private func ask(_ uid: UInt32) async -> Listing? {
        let asked = unwanted[uid] ?? []
        guard var list = await answer(uid) else { return nil }
        // What it lists no more is gone; another one may have that id later.
        for id in asked where !list.contains(where: { $0.id == id }) { accept(id, of: uid) }
        // It may be from before what was removed meanwhile.
        let unwanted = asked.union(unwanted[uid] ?? [])
        if !unwanted.isEmpty {
            list.removeAll { unwanted.contains($0.id) }
            onLoop { await self.removeUnwanted(of: uid) }
        }
        return Listing(templates: list, lister: process.owner)
    }

    /// One that was leaving when the question came is woken and asked once more.
    private func answer(_ uid: UInt32) async -> [Template]? {
        guard let proxy = await process.awakeToList() else { return nil }
        if let list = await answer(uid, proxy) { return list }
        guard await process.service.hasDeparted(proxy.destination),
            let next = await process.awakeToList()
        else { return nil }
        return await answer(uid, next)
    }

    private func answer(_ uid: UInt32, _ proxy: Sensor1Proxy) async -> [Template]? {
        let isSame = { self.process.owner == proxy.destination }
        // What is known of its strength, and of whether it is there, is to be as young as the list.
        var isSaid = false
        let look = onLoop { isSaid = await self.process.revalidate(proxy) }
        do throws(DBusError) {
            let list = try await process.lanes.run(.questions, for: uid) {
                () throws(DBusError) in
                try await process.asked { () throws(DBusError) in
                    try await proxy.listTemplates(uid: uid, timeout: SensorProcess.patience)
                }
            }
            await look.value
            guard isSaid, isSame() else { return nil }
            guard let checked = Self.checked(list) else {
                process.service.fail(
                    .failed,
                    because: "It lists templates that no sensor can have."
                )
                return nil
            }
            return checked
        } catch {
            await look.value
            // One that has left is not at fault, even if nobody heard of it.
            guard await process.service.isOwner(proxy.destination) || isSame() else { return nil }
            busy.remove(uid)
            // Of others it says what they have: only this user's list is unknown.
            if error.name == .sensorFailed, listsOthers(than: uid) { return nil }
            switch error.name {
            // It does not know this daemon yet, does something else, or never got the question: no
            // fault of its own.
            case .accessDenied, .invalidArgs, .limitsExceeded: break
            case .sensorBusy: if busy.count <= Self.limit { busy.insert(uid) }
            // It said before that it doesn't work.
            case let name where process.saidNo && name != .noReply: break
            default: process.service.fail(.failed)
            }
            return nil
        }
    }

    /// Whether this process of the sensor has said of somebody else what they have.
    private func listsOthers(than uid: UInt32) -> Bool {
        lists.contains { $0 != uid && $1.lister == process.owner }
    }

    /// The sensor says that a user's templates changed: no list is as young as that.
    func changed(of uid: UInt32) { lists.markStale(uid) }

    /// Whether what a user has may be another thing than what was listed last.
    func isStale(of uid: UInt32) -> Bool { lists.last(uid) != nil && !lists.isFresh(uid) }

    /// Whether a user has a template by the last list, and nothing was announced since.
    func lists(_ id: String, of uid: UInt32) -> Bool {
        lists.cached(uid)?.templates.contains { $0.id == id } == true
    }

    /// Whether a user has a template; it is asked for when the last list does not say so, and again
    /// when a change was announced meanwhile.
    func contains(_ id: String, of uid: UInt32) async -> Bool {
        if !lists(id, of: uid) { await listAnew(uid) }
        if isStale(of: uid) { await listAnew(uid) }
        return lists(id, of: uid)
    }

    /// Has the sensor change something about a user's templates, one change after the other.
    ///
    /// - Throws: BiometryNotAvailable, or an error of Sensor1.
    func change<Value: Sendable>(
        of uid: UInt32,
        _ body: @BusActor (Sensor1Proxy) async throws(DBusError) -> Value
    ) async throws(DBusError) -> Value {
        guard let proxy = await process.awake() else { throw process.refusal }
        do throws(DBusError) {
            return try await change(of: uid, proxy, body)
        } catch {
            // What it got to hear before it left, it answered.
            let isUndone = [.noReply, .serviceUnknown].contains(error.name)
            if isUndone, await process.service.hasDeparted(proxy.destination),
                let next = await process.awake()
            {
                return try await change(of: uid, next, body)
            }
            if process.owner == proxy.destination, error.name == .noReply, !Task.isCancelled {
                process.service.fail(.failed)
            }
            throw error.name == .limitsExceeded ? error : DBusError(sensor: error)
        }
    }

    private func change<Value: Sendable>(
        of uid: UInt32,
        _ proxy: Sensor1Proxy,
        _ body: @BusActor (Sensor1Proxy) async throws(DBusError) -> Value
    ) async throws(DBusError) -> Value {
        try await process.lanes.run(.changes, for: uid) { () throws(DBusError) in
            try await body(proxy)
        }
    }

    // MARK: - What nobody wants

    /// Has the sensor remove a template whose enrolment was refused; it counts for nothing from now
    /// on.
    ///
    /// A sensor that is busy is asked again, any other when it lists the template the next time.
    ///
    /// - Returns: What ends when the user's templates were listed anew.
    @discardableResult
    func discard(_ id: String, of uid: UInt32) -> Task<Void, Never> {
        unwanted[uid, default: []].insert(id)
        pauses[uid] = nil
        lists.change(uid) { $0.templates.removeAll { $0.id == id } }
        return onLoop {
            await self.removeUnwanted(of: uid)
            await self.listAnew(uid)
        }
    }

    /// What is enrolled under this id is the user's, or nothing is.
    func accept(_ id: String, of uid: UInt32) {
        unwanted[uid]?.remove(id)
        if unwanted[uid]?.isEmpty == true { unwanted[uid] = nil }
    }

    /// Whether it waits for its removal.
    func isUnwanted(_ id: String, of uid: UInt32) -> Bool { unwanted[uid]?.contains(id) == true }

    private func removeUnwanted(of uid: UInt32) async {
        guard removals.insert(uid).inserted else { return }
        var isBusy = false
        var tried: Set<String> = []
        while let id = unwanted[uid]?.subtracting(tried).first {
            tried.insert(id)
            do throws(DBusError) {
                // Not behind what the user's programs have the sensor change.
                try await change(of: CallBudget.service) { proxy throws(DBusError) in
                    guard isUnwanted(id, of: uid) else { return }
                    guard !isEnrolling(uid) else { throw DBusError(sensor: .sensorBusy) }
                    try await proxy.removeTemplate(uid: uid, id: id, timeout: Self.patience)
                }
                accept(id, of: uid)
            } catch {
                isBusy = isBusy || error.name == .sensorBusy
            }
        }
        guard isBusy else {
            removals.remove(uid)
            pauses[uid] = nil
            return
        }
        // Whoever has the device may have it for long.
        let pause = pauses[uid] ?? SensorOperations.busyPause
        pauses[uid] = min(pause * 2, .seconds(30))
        _ = EventLoop.shared.schedule(after: pause) { [weak self] in
            guard let self else { return }
            removals.remove(uid)
            onLoop { await self.removeUnwanted(of: uid) }
        }
    }

    // MARK: - What was learned

    /// Has the sensor learn from a match of this operation, which the passcode has confirmed.
    ///
    /// - Returns: Whether it added something: one that doesn't learn, or has let go of the match by
    ///   now, adds nothing.
    /// - Throws: What became of the call, when the sensor may have added something nevertheless.
    func learn(from operation: UInt64, of uid: UInt32) async throws(DBusError) -> Bool {
        guard let proxy = process.proxy else { return false }
        do throws(DBusError) {
            return try await change(of: uid, proxy) { proxy throws(DBusError) in
                try await proxy.learn(operation: operation, timeout: Self.patience)
            }
        } catch {
            guard Self.isInDoubt(error) else { return false }
            throw error
        }
    }

    /// Whether a change may have been made although it was answered like that: the sensor got to
    /// hear of it, for all that is known, and has not refused it.
    static func isInDoubt(_ error: DBusError) -> Bool {
        switch error.name {
        case .accessDenied, .invalidArgs, .limitsExceeded, .nameHasNoOwner, .serviceUnknown,
            .unknownInterface, .unknownMethod, .unknownObject:
            false
        default: !error.name.rawValue.hasPrefix("org.localauth.Sensor1.Error.")
        }
    }

    /// What the sensor has learned of a user, in the templates that it has of them.
    ///
    /// - Throws: BiometryNotAvailable, or an error of Sensor1.
    func learned(of uid: UInt32) async throws(DBusError) -> [LearnedEntry] {
        let list = try await change(of: uid) { proxy throws(DBusError) -> [LearnedEntry] in
            do throws(DBusError) {
                return try await proxy.listLearned(uid: uid, timeout: SensorProcess.patience)
            } catch {
                // It doesn't learn.
                guard error.name == .unknownMethod else { throw error }
                return []
            }
        }
        guard list.count <= 256, Set(list.map { Array($0.id.utf8) }).count == list.count,
            list.allSatisfy({ Self.isIdentifier($0.id) })
        else { throw DBusError(sensor: .sensorFailed) }
        return
            list.filter { entry in self[uid]?.contains { $0.id == entry.template } == true }
            .map { LearnedEntry(id: $0.id, template: $0.template, learned: Self.date($0.learned)) }
    }

    /// Whether a template could have this id.
    static func isIdentifier(_ id: String) -> Bool { (1...256).contains(id.utf8.count) }

    /// The list with labels fit to be shown; nil when no sound sensor says such a thing.
    private static func checked(_ list: [Template]) -> [Template]? {
        guard list.count <= 256, Set(list.map { Array($0.id.utf8) }).count == list.count,
            list.allSatisfy({ isIdentifier($0.id) && $0.label.utf8.count <= 1024 })
        else { return nil }
        return list.map { template in
            let label = DisplayText.cleaned(template.label, limit: DeviceObject.longestLabel)
            return Template(id: template.id, label: label, created: date(template.created))
        }
    }

    /// A time that programs can show, in Unix seconds: from 1970 to the end of 9999.
    private static func date(_ seconds: Int64) -> Int64 { min(max(seconds, 0), 253_402_300_799) }
}

extension DBusError {
    /// A sensor's error: which it is in our own words, and then what a trusted sensor says of it.
    init(sensor error: DBusError) {
        let own = DBusError(sensor: error.name)
        self =
            switch (own.name, error.sensorReason) {
            case (.sensorFailed, let reason?):
                DBusError(.sensorFailed, "The sensor failed: \(reason)")
            case (.sensorDenied, let reason?):
                DBusError(.sensorDenied, "The sensor is not allowed to: \(reason)")
            default: own
            }
    }

    /// What a trusted sensor says of why it can't, fit to be shown; nil: nothing.
    var sensorReason: String? {
        guard [.sensorFailed, .sensorDenied].contains(name),
            message != DBusError(sensor: name).message
        else { return nil }
        return DisplayText.reason(message)
    }

    /// A sensor's error in our own words.
    init(sensor name: Name) {
        self =
            switch name {
            case .sensorCanceled: DBusError(.sensorCanceled, "The operation was canceled.")
            case .sensorBusy: DBusError(.sensorBusy, "The sensor is busy.")
            case .sensorNoTemplates: DBusError(.sensorNoTemplates, "The template does not exist.")
            case .sensorFull: DBusError(.sensorFull, "There is no room for another template.")
            case .sensorDuplicate: DBusError(.sensorDuplicate, "This is enrolled already.")
            case .sensorDisconnected:
                DBusError(.sensorDisconnected, "The sensor is not connected.")
            case .sensorDenied: DBusError(.sensorDenied, "The sensor is not allowed to.")
            default: DBusError(.sensorFailed, "The sensor failed.")
            }
    }
}
