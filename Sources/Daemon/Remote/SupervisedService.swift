import AuthEngine
import AuthStore
import Contract
import DBus
import Linux

/// Supervises a helper process: its owner, start, trust, idle exit, crashes and back-off.
@BusActor
final class SupervisedService {
    static let longestStart = Duration.seconds(30)

    enum Start {
        /// Never by this service; another program starts the helper.
        case never
        /// When a call needs the helper.
        case onDemand
        /// When a call needs the helper, or the pause after a fault is over.
        case always
    }

    enum State: Equatable {
        /// The helper is being started or identified, or the cause of its exit is being determined.
        case probing
        case ready
        /// The helper gave up its name, for an unknown reason so far.
        case leaving
        /// The helper exited without a fault, and starts again when a call needs it.
        case asleep
        case broken(ServiceAbsence)
        case removed
    }

    private struct Owner {
        let name: String
        /// The identity of a trusted owner; nil until identified, or if not trusted.
        var peer: Peer?
        var descriptor: OwnedDescriptor?
        var subscriptions: [EventSource] = []
    }

    let name: String
    let connection: Connection
    weak var user: (any SupervisedServiceUser)?
    private(set) var state = State.probing
    /// Whether the current process, or an earlier trusted process, has answered.
    private(set) var isKnown = false
    /// Determines how the last owner ended.
    private(set) var departure: Task<Void, Never>?
    var backOff = BackOff()
    private let starts: Start
    /// How long a call waits for a start, counted from the start's beginning.
    private let patience: Duration
    private var holder: Owner?
    private var watch: EventSource?
    /// The unique name of the last owner that exited without a fault.
    private var departed: String?
    private var isActivating = false
    private var startedAt = Instant.now()
    private var rest: (end: Instant, timer: EventSource)?
    /// Wakes calls that wait for a change of state.
    private let arrivals = ConditionVariable()

    init(_ name: String, on connection: Connection, starts: Start, patience: Duration) {
        self.name = name
        self.connection = connection
        self.starts = starts
        self.patience = patience
    }

    // MARK: State

    var owner: String? { holder?.name }

    var peer: Peer? { holder?.peer }

    /// Why the helper can't be called; nil if calls reach it, or the bus starts it for them.
    var absence: ServiceAbsence? {
        if isStarting { return .starting }
        if case .broken(let absence) = state { return absence }
        return nil
    }

    /// Whether the helper is starting and will answer or fail soon.
    var isStarting: Bool {
        state == .probing || (isActivating && owner == nil && state != .removed)
    }

    /// Waits for a starting helper, within the patience (L26).
    func settled() async {
        guard isStarting else { return }
        let left = startedAt + patience - Instant.now()
        if left > .zero { _ = await arrivals.wait(atMost: left) { !isStarting } }
        // After the patience, `absence` reports `.starting`, so announce the state.
        if isStarting { user?.stateChanged() }
    }

    private func settle(_ state: State) {
        self.state = state
        arrivals.notifyAll()
        user?.stateChanged()
    }

    /// Records an answer of the trusted owner.
    func answered() {
        if state != .ready { backOff.recovered(at: Instant.now()) }
        isKnown = true
        settle(.ready)
    }

    // MARK: Calls

    /// Returns the owner if it can be called, and starts the helper if needed.
    ///
    /// Concurrent callers share a start. A start that exceeds the patience continues in the
    /// background.
    func currentOwner() async -> String? {
        guard await revalidate() else { return nil }
        await departure?.value
        if owner != nil, case .broken = state { startAnew() } else { start() }
        await settled()
        return state == .ready ? owner : nil
    }

    /// Queries the bus for the owner, because the signal of a change may be lost.
    ///
    /// - Returns: False if the bus does not answer, or the owner in its answer was not adopted.
    @discardableResult func revalidate() async -> Bool {
        do throws(DBusError) {
            let present = try await connection.nameOwner(name)
            if watch != nil {
                ownerChanged(to: present)
            } else if present != owner {
                await connection.refreshNames()
                return present == owner
            }
            return true
        } catch {
            return false
        }
    }

    /// Queries the bus whether a connection owns the name; false also without an answer.
    func isOwner(_ connectionName: String) async -> Bool {
        let isSaid = await revalidate()
        return isSaid && owner == connectionName
    }

    /// Whether a connection owned the name and exited cleanly, so that its unanswered calls can go
    /// to the successor.
    func hasDeparted(_ connectionName: String) async -> Bool {
        // The signal of the owner's exit may be lost.
        if owner == connectionName { await revalidate() }
        await departure?.value
        guard departed == connectionName else { return false }
        // The successor may have arrived already and still be being identified.
        await settled()
        return true
    }

    // MARK: Owners

    /// Watches the name; without a watch the user must call ``ownerChanged(to:)``.
    func startWatching() {
        watch = connection.watchName(name) { [weak self] owner in self?.ownerChanged(to: owner) }
    }

    /// Adopts a new owner; nil if the name has none, but the bus may start the helper again.
    func ownerChanged(to owner: String?) {
        guard let owner else { return left() }
        guard owner != self.owner else { return }
        // The signal of the former owner's exit may be lost.
        if self.owner != nil, starts != .never { left() }
        arrived(owner)
    }

    private func arrived(_ owner: String) {
        if !isStarting { startedAt = Instant.now() }
        user?.ownerArrived()
        detach()
        holder = Owner(name: owner)
        state = .probing
        onLoop { await self.identify(owner) }
    }

    private func left() {
        guard starts != .never else {
            detach()
            user?.ownerLeft()
            return settle(.broken(.notInstalled))
        }
        guard let former = holder else { return }
        let wasReady = state == .ready
        // The exit of an untrusted owner is no fault of the helper.
        var isFault = true
        if starts == .onDemand, case .broken(.untrusted) = state { isFault = false }
        detach()
        if let reason = user?.distrust(of: nil) { return exclude(.untrusted(reason)) }
        user?.ownerLeft()
        state = wasReady ? .leaving : .probing
        departure = onLoop {
            let isClean = await self.connection.hasEndedWell(former.name, former.descriptor)
            self.departure = nil
            if isClean, self.isKnown { self.departed = former.name }
            guard self.holder == nil, self.state != .removed else { return }
            if self.departed == former.name || !isFault {
                self.backOff.ended(at: Instant.now(), wasReady: wasReady)
                self.settle(.asleep)
            } else {
                self.fail(wasReady ? .crashed : Self.endedAtOnce)
            }
        }
    }

    private static let endedAtOnce = ServiceAbsence.notStarting(
        reason: "The program ended at "
            + "once."
    )

    private func detach() {
        for subscription in holder?.subscriptions ?? [] { subscription.cancel() }
        rest?.timer.cancel()
        (holder, rest) = (nil, nil)
    }

    /// Keeps subscriptions until the owner changes or leaves, at most one set for each owner.
    func listen(_ subscribe: @BusActor () -> [EventSource]) {
        guard holder?.subscriptions.isEmpty == true else { return }
        holder?.subscriptions = subscribe()
    }

    private func identify(_ owner: String) async {
        do throws(DBusError) {
            let peer = try await connection.peer(named: owner)
            guard self.owner == owner, let user else { return }
            if let reason = user.distrust(of: peer.uid) { return exclude(.untrusted(reason)) }
            holder?.peer = peer
            holder?.descriptor = try? ProcessDescriptor.open(peer.pid)
            let absence = await user.prepare(peer)
            guard self.owner == owner, self.peer != nil, state == .probing else { return }
            if let absence { settle(.broken(absence)) } else { answered() }
        } catch {
            if self.owner == owner { fail(.failed) }
        }
    }

    /// Identifies the current owner again, or starts the helper through the bus.
    func startAnew() {
        let owner = owner
        detach()
        if let owner { return arrived(owner) }
        state = .probing
        start()
    }

    func remove() {
        detach()
        state = .removed
        arrivals.notifyAll()
    }

    // MARK: Starting

    /// Makes the bus start the helper; concurrent callers share a start.
    func start() {
        guard !isActivating, owner == nil, state != .removed, starts != .never else { return }
        if let reason = user?.distrust(of: nil) { return exclude(.untrusted(reason)) }
        isActivating = true
        startedAt = Instant.now()
        onLoop {
            await self.activate()
            self.isActivating = false
            self.arrivals.notifyAll()
        }
    }

    private func activate() async {
        if let rest, rest.end - Instant.now() > patience { return settle(.broken(.resting)) }
        while rest != nil { await arrivals.wait() }
        guard owner == nil, state != .removed else { return }
        var absence = Self.endedAtOnce
        do throws(DBusError) {
            try await connection.startService(name, timeout: Self.longestStart)
            // The bus does not announce an owner that existed before the start.
            if owner == nil { await revalidate() }
        } catch {
            let reason = DisplayText.cleaned(error.message, limit: 256)
            absence = error.name == .serviceUnknown ? .notInstalled : .notStarting(reason: reason)
        }
        guard owner == nil, departure == nil, state != .removed else { return }
        // A helper that is installed later can start at the next call, so it needs no pause.
        guard absence == .notInstalled, starts == .onDemand else { return fail(absence) }
        settle(.broken(absence))
    }

    // MARK: Faults

    /// Stops calling the owner until another process replaces it, or the trust changes.
    func exclude(_ absence: ServiceAbsence) {
        if case .untrusted = absence {
            for subscription in holder?.subscriptions ?? [] { subscription.cancel() }
            holder?.subscriptions = []
            holder?.peer = nil
        }
        user?.lost(absence, because: nil)
        isKnown = false
        settle(.broken(absence))
    }

    /// Stops calling the helper until it recovers after a growing pause; `fault` describes its
    /// mistake for people.
    func fail(_ absence: ServiceAbsence, because fault: String? = nil) {
        let now = Instant.now()
        let wait = backOff.failed(at: now, wasReady: state == .ready || state == .leaving)
        user?.lost(absence, because: fault)
        settle(.broken(absence))
        rest?.timer.cancel()
        let timer = EventLoop.shared.schedule(after: wait) { [weak self] in self?.endRest() }
        rest = (now + wait, timer)
    }

    private func endRest() {
        rest = nil
        arrivals.notifyAll()
        switch starts {
        case .always: onLoop { await self.recover() }
        case .never: if owner != nil { startAnew() }
        case .onDemand: break
        }
    }

    private func recover() async {
        guard let asked = owner else { return start() }
        // Without an answer of the bus, begin the pause again.
        var isSound = await isOwner(asked)
        if isSound { isSound = await user?.hasRecovered() == true }
        guard owner == asked, case .broken = state else { return }
        if isSound { await identify(asked) } else { fail(.failed) }
    }

    /// Ends the pause immediately, and forgets earlier faults.
    func recoverSoon() {
        guard let rest else { return }
        rest.timer.cancel()
        backOff.forgive()
        endRest()
    }
}
