import BusGuard
import Contract
import DBus
import LocalAuthBus

/// Each user's templates on one sensor.
@BusActor
final class SensorTemplates {
    /// How long a sensor may take to change its templates.
    static let patience = Duration.seconds(5)
    /// The most users to remember as unanswered or busy.
    private static let limit = 1024

    private struct Listing {
        var templates: [Template]
        /// The unique name of the sensor's connection that returned the list.
        let lister: String?
    }

    private lazy var lists = Mirror<UInt32, Listing> { [unowned self] uid in await ask(uid) }
    /// Users whose templates the sensor did not list at the last attempt.
    private var unanswered: Set<UInt32> = []
    /// Users whose templates the sensor did not list because it was busy.
    private var busy: Set<UInt32> = []
    /// Templates of refused enrolments, which the daemon ignores until the sensor has removed them.
    private var unwanted: [UInt32: Set<String>] = [:]
    /// Users with a removal of unwanted templates in progress or scheduled.
    private var removals: Set<UInt32> = []
    /// The pause before the next attempt to remove a user's unwanted templates from a busy sensor.
    private var pauses: [UInt32: Duration] = [:]
    /// Whether the sensor enrols for a user, as the new template may reuse an unwanted id.
    var isEnrolling: @BusActor (UInt32) -> Bool = { _ in false }
    private let process: SensorProcess
    /// Refreshes a user's lists and everything that depends on them.
    private let refreshTemplates: @BusActor (UInt32) async -> Void

    init(process: SensorProcess, refreshTemplates: @escaping @BusActor (UInt32) async -> Void) {
        self.process = process
        self.refreshTemplates = refreshTemplates
    }

    /// A user's templates as last listed; nil if the sensor has not listed them.
    subscript(_ uid: UInt32) -> [Template]? { lists.last(uid)?.templates }

    /// Whether the list predates the sensor's sleep, so that later changes are unknown.
    func predatesSleep(of uid: UInt32) -> Bool {
        lists.last(uid).map { $0.lister != process.owner } ?? false
    }

    /// Whether the last query for a user's templates failed, so that they may have changed.
    func isUnknown(of uid: UInt32) -> Bool {
        // Beyond the limit, treat every user as unknown.
        unanswered.contains(uid) || unanswered.count > Self.limit
    }

    /// Whether the sensor was only too busy to list the user's templates.
    func isBusy(of uid: UInt32) -> Bool { busy.contains(uid) && process.isUsable }

    func forget() { lists.removeAll() }

    func forget(_ uid: UInt32) { lists.forget(uid) }

    /// Marks a user's templates as unknown until the sensor answers (L11b).
    func markStale(_ uid: UInt32) {
        lists.forget(uid)
        if unanswered.count <= Self.limit { unanswered.insert(uid) }
    }

    /// Queries a user's templates; nil if the sensor can't list them.
    func list(of uid: UInt32) async -> [Template]? {
        guard let listing = await lists.revalidate(uid) else {
            markStale(uid)
            return nil
        }
        unanswered.remove(uid)
        busy.remove(uid)
        return listing.templates
    }

    private func ask(_ uid: UInt32) async -> Listing? {
        let asked = unwanted[uid] ?? []
        guard var list = await answer(uid) else { return nil }
        // Stop ignoring ids that the sensor does not list, because a later template may reuse them.
        for id in asked where !list.contains(where: { $0.id == id }) { accept(id, of: uid) }
        // The list may still contain templates that were removed during the query.
        let unwanted = asked.union(unwanted[uid] ?? [])
        if !unwanted.isEmpty {
            list.removeAll { unwanted.contains($0.id) }
            onLoop { await self.removeUnwanted(of: uid) }
        }
        return Listing(templates: list, lister: process.owner)
    }

    /// Queries the sensor, and once more if its process exits meanwhile.
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
        // Revalidate the sensor's strength and presence, so that both are as new as the list.
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
            // An exited process is not at fault, even if its signal was lost.
            guard await process.service.isOwner(proxy.destination) || isSame() else { return nil }
            busy.remove(uid)
            // The sensor lists other users' templates, so only this user's list is unknown.
            if error.name == .sensorFailed, listsOthers(than: uid) { return nil }
            switch error.name {
            // The sensor does not know this daemon yet, is occupied, or never got the query: no
            // fault.
            case .accessDenied, .invalidArgs, .limitsExceeded: break
            case .sensorBusy: if busy.count <= Self.limit { busy.insert(uid) }
            // The sensor has already reported that it does not work.
            case let name where process.reportsObstacle && name != .noReply: break
            default: process.service.fail(.failed)
            }
            return nil
        }
    }

    /// Whether the sensor's current process has listed another user's templates.
    private func listsOthers(than uid: UInt32) -> Bool {
        lists.contains { $0 != uid && $1.lister == process.owner }
    }

    func changed(of uid: UInt32) { lists.markStale(uid) }

    /// Whether a user's templates may differ from the last list.
    func isStale(of uid: UInt32) -> Bool { lists.last(uid) != nil && !lists.isFresh(uid) }

    func lists(_ id: String, of uid: UInt32) -> Bool {
        lists.cached(uid)?.templates.contains { $0.id == id } == true
    }

    /// Returns whether a user has a template.
    ///
    /// Queries the sensor if the fresh list lacks the template, and again if the sensor announces a
    /// change meanwhile.
    func contains(_ id: String, of uid: UInt32) async -> Bool {
        if !lists(id, of: uid) { await refreshTemplates(uid) }
        if isStale(of: uid) { await refreshTemplates(uid) }
        return lists(id, of: uid)
    }

    /// Changes a user's templates on the sensor, one change at a time.
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
            // An exiting sensor answers every call that it received, so this call can be sent
            // again.
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

    // MARK: - Unwanted templates

    /// Removes a template whose enrolment was refused, and ignores the template from now on.
    ///
    /// A busy sensor is asked again after a pause; any other sensor after it lists the template
    /// again.
    ///
    /// - Returns: A task that ends after the user's lists were refreshed.
    @discardableResult
    func discard(_ id: String, of uid: UInt32) -> Task<Void, Never> {
        unwanted[uid, default: []].insert(id)
        pauses[uid] = nil
        lists.change(uid) { $0.templates.removeAll { $0.id == id } }
        return onLoop {
            await self.removeUnwanted(of: uid)
            await self.refreshTemplates(uid)
        }
    }

    /// Stops ignoring an id, because the user's template has it, or no template has it.
    func accept(_ id: String, of uid: UInt32) {
        unwanted[uid]?.remove(id)
        if unwanted[uid]?.isEmpty == true { unwanted[uid] = nil }
    }

    func isUnwanted(_ id: String, of uid: UInt32) -> Bool { unwanted[uid]?.contains(id) == true }

    private func removeUnwanted(of uid: UInt32) async {
        guard removals.insert(uid).inserted else { return }
        var isBusy = false
        var tried: Set<String> = []
        while let id = unwanted[uid]?.subtracting(tried).first {
            tried.insert(id)
            do throws(DBusError) {
                // Use the service's own lane, so that the user's programs can't delay the removal.
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
        // Back off, because another program may use the device for long.
        let pause = pauses[uid] ?? SensorOperations.busyPause
        pauses[uid] = min(pause * 2, .seconds(30))
        _ = EventLoop.shared.schedule(after: pause) { [weak self] in
            guard let self else { return }
            removals.remove(uid)
            onLoop { await self.removeUnwanted(of: uid) }
        }
    }

    // MARK: - Learned entries

    /// Lets the sensor learn from a match of this operation after a password confirmed it.
    ///
    /// - Returns: Whether the sensor added an entry. False if it does not learn, or has discarded
    ///   the match.
    /// - Throws: The error of the call, if the sensor may have added an entry nevertheless.
    func updateTemplate(from operation: UInt64, of uid: UInt32) async throws(DBusError) -> Bool {
        guard let proxy = process.proxy else { return false }
        do throws(DBusError) {
            return try await change(of: uid, proxy) { proxy throws(DBusError) in
                try await proxy.learn(operation: operation, timeout: Self.patience)
            }
        } catch {
            guard Self.leavesChangeUnknown(error) else { return false }
            throw error
        }
    }

    /// Whether a change may have happened despite this error, because the sensor may have received
    /// the call and did not refuse it.
    static func leavesChangeUnknown(_ error: DBusError) -> Bool {
        switch error.name {
        case .accessDenied, .invalidArgs, .limitsExceeded, .nameHasNoOwner, .serviceUnknown,
            .unknownInterface, .unknownMethod, .unknownObject:
            false
        default: !error.name.rawValue.hasPrefix("org.localauth.Sensor1.Error.")
        }
    }

    /// Returns the entries that the sensor has learned for a user's current templates.
    ///
    /// - Throws: BiometryNotAvailable, or an error of Sensor1.
    func learned(of uid: UInt32) async throws(DBusError) -> [LearnedEntry] {
        let list = try await change(of: uid) { proxy throws(DBusError) -> [LearnedEntry] in
            do throws(DBusError) {
                return try await proxy.listLearned(uid: uid, timeout: SensorProcess.patience)
            } catch {
                // The sensor does not learn.
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

    static func isIdentifier(_ id: String) -> Bool { (1...256).contains(id.utf8.count) }

    /// Cleans the labels for display; nil if the list exceeds the contract's bounds.
    private static func checked(_ list: [Template]) -> [Template]? {
        guard list.count <= 256, Set(list.map { Array($0.id.utf8) }).count == list.count,
            list.allSatisfy({ isIdentifier($0.id) && $0.label.utf8.count <= 1024 })
        else { return nil }
        return list.map { template in
            let label = DisplayText.cleaned(template.label, limit: DeviceObject.longestLabel)
            return Template(id: template.id, label: label, created: date(template.created))
        }
    }

    /// Clamps a time to the Unix seconds that programs can show: from 1970 to the end of 9999.
    private static func date(_ seconds: Int64) -> Int64 { min(max(seconds, 0), 253_402_300_799) }
}

extension DBusError {
    /// Describes a sensor's error in the daemon's words, followed by a trusted sensor's reason.
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

    /// A trusted sensor's reason for its error, cleaned for display; nil if it gave none.
    var sensorReason: String? {
        guard [.sensorFailed, .sensorDenied].contains(name),
            message != DBusError(sensor: name).message
        else { return nil }
        return DisplayText.reason(message)
    }

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
