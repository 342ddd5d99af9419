import AuthEngine
import AuthStore
import Contract
import DBus
import Linux

/// A helper process: its owner, its start, its trust, its idle end, its crashes and its back-off.
@BusActor
final class SupervisedService {
    /// Time limit of a start by the bus.
    static let longestStart = Duration.seconds(30)

    /// The occasions on which the bus starts the helper.
    enum Start {
        /// Another program starts the helper.
        case never
        /// A call needs the helper.
        case onDemand
        /// A call needs the helper, or the pause after a fault is over.
        case always
    }

    enum State: Equatable {
        /// The helper is being started or identified, or its end is being examined.
        case probing
        /// The helper answers.
        case ready
        /// The helper gave up its name. The cause of the end is unknown yet.
        case leaving
        /// The helper ended in good order. The bus starts it when a call needs it.
        case asleep
        /// The helper can't be called.
        case broken(ServiceAbsence)
        /// The helper is none any more.
        case removed
    }

    /// The owner of the name.
    private struct Owner {
        let name: String
        /// The identity of a trusted owner; nil: not known yet, or not trusted.
        var peer: Peer?
        var descriptor: OwnedDescriptor?
        var subscriptions: [EventSource] = []
    }

    let name: String
    let connection: Connection
    weak var user: (any SupervisedServiceUser)?
    private(set) var state = State.probing
    /// Whether this or an earlier trusted process has answered.
    private(set) var isKnown = false
    /// Finds out how the last owner ended.
    private(set) var departure: Task<Void, Never>?
    var backOff = BackOff()
    private let starts: Start
    /// Time that a call waits for a start, counted from its beginning.
    private let patience: Duration
    private var holder: Owner?
    private var watch: EventSource?
    /// The last owner that ended in good order.
    private var departed: String?
    private var isActivating = false
    private var startedAt = Instant.now()
    /// The pause after a fault.
    private var rest: (end: Instant, timer: EventSource)?
    /// Wakes calls that wait for another state.
    private let arrivals = ConditionVariable()

    init(_ name: String, on connection: Connection, starts: Start, patience: Duration) {
        self.name = name
        self.connection = connection
        self.starts = starts
        self.patience = patience
    }

    // MARK: State

    /// The unique name of the owner, trusted or not.
    var owner: String? { holder?.name }

    /// The owner, if it is trusted.
    var peer: Peer? { holder?.peer }

    /// Why the helper can't be called; nil: calls reach it, or the bus starts it for them.
    var absence: ServiceAbsence? {
        if isStarting { return .starting }
        if case .broken(let absence) = state { return absence }
        return nil
    }

    /// Whether the helper is about to answer: neither there yet nor absent.
    var isStarting: Bool {
        state == .probing || (isActivating && owner == nil && state != .removed)
    }

    /// Waits for a helper that is being started, within the patience (L26).
    func settled() async {
        guard isStarting else { return }
        let left = startedAt + patience - Instant.now()
        if left > .zero { _ = await arrivals.wait(atMost: left) { !isStarting } }
        // A start that takes longer is a state of its own.
        if isStarting { user?.stateChanged() }
    }

    private func settle(_ state: State) {
        self.state = state
        arrivals.notifyAll()
        user?.stateChanged()
    }

    /// Notes an answer of the trusted owner.
    func answered() {
        if state != .ready { backOff.recovered(at: Instant.now()) }
        isKnown = true
        settle(.ready)
    }

    // MARK: Calls

    /// Returns the owner that can be called, started first if none is there.
    ///
    /// Callers share a start. A start that takes long is not waited for, but goes on.
    func currentOwner() async -> String? {
        guard await revalidate() else { return nil }
        await departure?.value
        if owner != nil, case .broken = state { startAnew() } else { start() }
        await settled()
        return state == .ready ? owner : nil
    }

    /// Asks the bus for the owner, as the signal of a change may be lost.
    ///
    /// - Returns: False when the bus doesn't say, or its answer could not be caught up with.
    @discardableResult func revalidate() async -> Bool {
        do throws(DBusError) {
            let present = try await connection.nameOwner(name)
            if watch != nil {
                ownerChanged(to: present)
            } else if present != owner {
                await connection.catchUpWithNames()
                return present == owner
            }
            return true
        } catch {
            return false
        }
    }

    /// Asks the bus whether a connection owns the name; false as well when the bus doesn't say.
    func isOwner(_ connectionName: String) async -> Bool {
        let isSaid = await revalidate()
        return isSaid && owner == connectionName
    }

    /// Whether a connection owned the name, and left in good order: its successor can be asked what
    /// it left unanswered.
    func hasDeparted(_ connectionName: String) async -> Bool {
        // The signal that it left may be lost.
        if owner == connectionName { await revalidate() }
        await departure?.value
        guard departed == connectionName else { return false }
        // The successor may be there already, and be asked who it is.
        await settled()
        return true
    }

    // MARK: Owners

    /// Watches the name.
    ///
    /// Without a watch the user calls ``ownerChanged(to:)``.
    func startWatching() {
        watch = connection.watchName(name) { [weak self] owner in self?.ownerChanged(to: owner) }
    }

    /// Takes another owner; nil: the name has none, but the bus may start the helper again.
    func ownerChanged(to owner: String?) {
        guard let owner else { return left() }
        guard owner != self.owner else { return }
        // The signal that the former owner left may be lost.
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
        // The end of an untrusted owner is not a fault of the helper.
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

    /// Keeps subscriptions to the owner until another process, or none, has the name; an owner is
    /// subscribed to once.
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

    /// Identifies the owner anew, or starts one through the bus.
    func startAnew() {
        let owner = owner
        detach()
        if let owner { return arrived(owner) }
        state = .probing
        start()
    }

    /// Ends the supervision: the helper is none any more.
    func remove() {
        detach()
        state = .removed
        arrivals.notifyAll()
    }

    // MARK: Starting

    /// Has the bus start the helper; callers share one start.
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
            // The bus does not announce an owner that was there before.
            if owner == nil { await revalidate() }
        } catch {
            let reason = DisplayText.cleaned(error.message, limit: 256)
            absence = error.name == .serviceUnknown ? .notInstalled : .notStarting(reason: reason)
        }
        guard owner == nil, departure == nil, state != .removed else { return }
        // A helper that is installed later is started by the next call, without a pause.
        guard absence == .notInstalled, starts == .onDemand else { return fail(absence) }
        settle(.broken(absence))
    }

    // MARK: Faults

    /// Does not call the owner until another process, or another trust, replaces it.
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

    /// Does not call the helper until it has recovered, after a growing pause; `fault` is its
    /// mistake, for people.
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
        // Without an answer of the bus the pause begins again.
        var isSound = await isOwner(asked)
        if isSound { isSound = await user?.hasRecovered() == true }
        guard owner == asked, case .broken = state else { return }
        if isSound { await identify(asked) } else { fail(.failed) }
    }

    /// Ends the pause at once, and forgets faults from before.
    func recoverSoon() {
        guard let rest else { return }
        rest.timer.cancel()
        backOff.forgive()
        endRest()
    }
}
