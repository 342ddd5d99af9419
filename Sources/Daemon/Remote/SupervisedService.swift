import AuthEngine
import AuthStore
import DBus
import Linux

/// Why a helper process can't be called.
enum ServiceAbsence: Hashable, Sendable {
    /// The helper's name has no owner, and the bus can't start the helper.
    case notInstalled
    /// The owner of its name may not be the helper.
    case untrusted(user: String)
    /// The start takes longer than callers wait.
    case starting
    /// The start failed.
    case notStarting(reason: String)
    /// After repeated failures, the back-off is longer than callers wait.
    case resting
}

/// The user of a supervised process, which learns of its owners.
@BusActor
protocol SupervisedServiceUser: AnyObject {
    /// Another process owns the name, or no process: answers of the former owner are void.
    func ownerReplaced(by owner: String?)
    /// Prepares a trusted owner; nil: calls can be made, otherwise the cause.
    func prepare(_ owner: String) async -> ServiceAbsence?
    /// The owner has ended: because it was idle, or by a fault.
    func ownerEnded(isIdle: Bool)
}

/// A helper process that the bus starts: its owner, its start, its trust, its idle end, its crashes
/// and its back-off.
@BusActor
final class SupervisedService {
    /// Time that a call waits for a start, and for the end of a pause after a fault.
    static let startPatience = Duration.seconds(20)
    /// Time limit of a start by the bus.
    static let longestStart = Duration.seconds(30)

    /// The unique name of the trusted process; nil: none is there.
    private(set) var owner: String?
    /// Why the last call found no process; nil: the call found a process.
    private(set) var absence: ServiceAbsence?
    /// Whether the last process ended because it was idle.
    private(set) var isAsleep = false
    var backOff = BackOff()
    weak var user: (any SupervisedServiceUser)?

    private let name: String
    private let connection: Connection
    private let trusted: Set<UInt32>
    /// The owner of the name, trusted or not yet.
    private(set) var holder: String?
    private var identification: (owner: String, task: Task<Void, Never>)?
    private var process: OwnedDescriptor?
    private var isStarting = false
    private var startedAt = Instant(nanoseconds: 0)
    private var restsUntil = Instant(nanoseconds: 0)
    private let arrivals = ConditionVariable()

    /// Supervises the owner of a bus name, if it runs as a trusted user.
    init(_ name: String, on connection: Connection, trusted: Set<UInt32>) {
        self.name = name
        self.connection = connection
        self.trusted = trusted
    }

    /// Watches for the owner.
    func start() {
        _ = connection.watchName(name) { [weak self] owner in
            guard let self, let departed = replace(by: owner) else { return }
            onLoop { await self.follow(departed) }
        }
    }

    /// Returns the trusted process, started first if it isn't there.
    ///
    /// Callers share a start. A start that takes long is not waited for, but goes on.
    func currentOwner() async -> String? {
        guard await revalidate() else { return nil }
        if let owner { return owner }
        if !isStarting {
            isStarting = true
            startedAt = Instant.now()
            onLoop {
                await self.activate()
                self.isStarting = false
                self.arrivals.notifyAll()
            }
        }
        let left = startedAt + Self.startPatience - Instant.now()
        if left > .zero {
            _ = await arrivals.wait(atMost: left) { owner != nil || !isStarting }
        }
        if owner == nil, isStarting, absence == nil { absence = .starting }
        return owner
    }

    /// Asks the bus for the owner, as the signal of a change may be lost.
    ///
    /// - Returns: False when the bus doesn't say.
    @discardableResult func revalidate() async -> Bool {
        do throws(DBusError) {
            let present = try await connection.nameOwner(name)
            if let departed = replace(by: present) { await follow(departed) }
            return true
        } catch {
            return false
        }
    }

    // MARK: Owners

    /// Takes another owner at once; nil: the owner is unchanged.
    private func replace(by owner: String?) -> (name: String?, process: OwnedDescriptor?)? {
        guard owner != holder else { return nil }
        let departed = (self.owner, process)
        (holder, self.owner, self.process, isAsleep) = (owner, nil, nil, false)
        user?.ownerReplaced(by: owner)
        return departed
    }

    private func follow(_ departed: (name: String?, process: OwnedDescriptor?)) async {
        if let holder {
            await identify(holder)
        } else if let name = departed.name {
            let isIdle = await connection.hasEndedWell(name, departed.process)
            if isIdle {
                backOff.ended(at: Instant.now(), wasReady: true)
            } else {
                rest(wasReady: true)
            }
            guard holder == nil else { return }
            isAsleep = isIdle
            user?.ownerEnded(isIdle: isIdle)
        }
    }

    /// Identifies an owner; a signal and a start may both ask for that.
    private func identify(_ owner: String) async {
        if let identification, identification.owner == owner {
            return await identification.task.value
        }
        let task = onLoop { await self.examine(owner) }
        identification = (owner, task)
        await task.value
        if identification?.owner == owner { identification = nil }
    }

    private func examine(_ owner: String) async {
        guard let peer = try? await connection.peer(named: owner), holder == owner else { return }
        guard trusted.contains(peer.uid) else {
            absence = .untrusted(user: UserName.of(peer.uid))
            return
        }
        if let refusal = await user?.prepare(owner) {
            if holder == owner { absence = refusal }
            return
        }
        guard holder == owner else { return }
        process = try? ProcessDescriptor.open(peer.pid)
        absence = nil
        self.owner = owner
        backOff.recovered(at: Instant.now())
        arrivals.notifyAll()
    }

    // MARK: Starting

    private func activate() async {
        let rest = restsUntil - Instant.now()
        if rest > .zero {
            // A helper that failed again and again is not waited for.
            guard rest <= Self.startPatience else {
                absence = .resting
                return
            }
            if await arrivals.wait(atMost: rest, until: { owner != nil }) { return }
        }
        absence = nil
        do throws(DBusError) {
            try await connection.startService(name, timeout: Self.longestStart)
            guard let owner = try await connection.nameOwner(name) else {
                throw DBusError(.failed, "It ended at once.")
            }
            if let departed = replace(by: owner) {
                await follow(departed)
            } else if self.owner == nil {
                await identify(owner)
            }
        } catch {
            guard owner == nil else { return }
            guard error.name != .serviceUnknown else {
                absence = .notInstalled
                return
            }
            absence = .notStarting(reason: DisplayText.cleaned(error.message, limit: 256))
            self.rest(wasReady: false)
        }
    }

    /// Leaves it alone for a while, after a fault.
    private func rest(wasReady: Bool) {
        let now = Instant.now()
        restsUntil = now + backOff.failed(at: now, wasReady: wasReady)
    }
}
