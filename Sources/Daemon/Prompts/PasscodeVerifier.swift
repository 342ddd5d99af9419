import AuthEngine
import AuthStore
import BusGuard
import DBus
import Linux
import LocalAuthBus
import Sealing

enum PasscodeState: Equatable, Sendable {
    case set
    /// The password can't be used now, as with a locked account, but may return unchanged.
    case withheld
    case removed
}

/// The process that calls PAM.
///
/// The bus starts it when needed.
///
/// The daemon forwards a sealed password and receives only a verdict.
@BusActor
final class PasscodeVerifier {
    /// Timeout of the query whether a password is set.
    static let patience = Duration.seconds(10)
    /// Timeout of a call that needs no person, which must be answered within 3 s.
    private static let longestWait = Duration.milliseconds(2500)
    /// Timeout of a verification, longer than the wait for a turn plus PAM's own timeout.
    var longestVerify = Duration.seconds(100)

    typealias Absence = ServiceAbsence

    private struct Answer {
        let state: PasscodeState
        /// The shadow file's state before the query.
        let stamp: FileStamp?
    }

    let service: SupervisedService
    /// The public key of the verifier that answered last, to which prompts seal passwords.
    private(set) var sealingKey: [UInt8] = []
    private lazy var answers = Mirror<UInt32, Answer> { [unowned self] uid in await ask(uid) }
    private let connection: Connection
    private let lanes: CallBudget
    private let trusted: Set<UInt32>
    private let shadowFile: String?
    private let stateChanged: @BusActor (_ uid: UInt32, PasscodeState) -> Void

    /// Creates the supervisor of the verifier.
    ///
    /// `stateChanged` is called when the state of a user's password changes.
    ///
    /// On the system bus only root may be the verifier, because it can read every password. While
    /// the verifier sleeps, changes of `shadowFile` make answers stale; nil disables this check.
    init(
        connection: Connection,
        lanes: CallBudget,
        isSystemBus: Bool,
        shadowFile: String?,
        stateChanged: @escaping @BusActor (_ uid: UInt32, PasscodeState) -> Void
    ) {
        self.connection = connection
        self.lanes = lanes
        self.shadowFile = shadowFile
        self.stateChanged = stateChanged
        trusted = isSystemBus ? [0] : [0, ProcessIdentity.uid]
        service = SupervisedService(
            Passcode1.busName,
            on: connection,
            starts: .onDemand,
            patience: .seconds(20)
        )
        service.user = self
    }

    func start() { service.startWatching() }

    /// The unique name of the verifier if it can be called.
    var owner: String? { service.state == .ready ? service.owner : nil }

    /// Why the verifier can't be called; nil if it can.
    var absence: Absence? { service.absence }

    private func proxy(_ owner: String) -> Passcode1Proxy {
        Passcode1Proxy(connection, destination: owner, path: Passcode1.path)
    }

    /// Reads the verifier's public key; false if there is none.
    private func readKey(of owner: String) async -> Bool {
        let key = try? await lanes.run(.questions, for: CallBudget.service) {
            () throws(DBusError) in
            try await connection.property(
                "SealingKey",
                of: Passcode1.interface,
                at: Passcode1.path,
                on: owner,
                as: [UInt8].self,
                timeout: Self.patience
            )
        }
        guard service.owner == owner, let key, RecipientKey(key) != nil else { return false }
        sealingKey = key
        return true
    }

    // MARK: - Whether a passcode is set

    /// Returns the cached answer, or nil if the verifier must be queried.
    ///
    /// The answer of a sleeping verifier stays fresh while the shadow file is unchanged.
    func cached(of uid: UInt32) -> PasscodeFact? {
        guard let answer = answers.cached(uid) else { return nil }
        if owner == nil {
            guard service.state == .asleep, let stamp = answer.stamp, stamp == self.stamp else {
                return nil
            }
        }
        return answer.state == .set ? .set : .missing
    }

    private var stamp: FileStamp? { shadowFile.flatMap { FileStamp(of: $0) } }

    /// Returns the cached answer or queries the verifier; `.unknown` while the verifier hangs
    /// (L31).
    func currentFact(_ uid: UInt32) async -> PasscodeFact {
        if let cached = cached(of: uid) { return cached }
        // A start has its own timeout (L26).
        guard owner != nil else { return await answer(uid) }
        var fact: PasscodeFact?
        let answered = ConditionVariable()
        onLoop {
            fact = await self.answer(uid)
            answered.notifyAll()
        }
        _ = await answered.wait(atMost: Self.longestWait) { fact != nil }
        return fact ?? .unknown
    }

    /// Queries the verifier; concurrent callers share a query.
    private func answer(_ uid: UInt32) async -> PasscodeFact {
        await answers.join(uid)
        if let cached = cached(of: uid) { return cached }
        return await passcode(of: uid)
    }

    /// Refreshes an answer in the background, at most once a second.
    ///
    /// Signals can be lost, and the verifier can't watch every source of users.
    func refreshInBackground(_ uid: UInt32, at now: Instant) {
        answers.refreshInBackground(uid, at: now)
    }

    func passcode(of uid: UInt32) async -> PasscodeFact {
        switch await state(of: uid) {
        case .set: .set
        case .withheld, .removed: .missing
        case nil: .unknown
        }
    }

    /// Queries the state of the user's password; nil if the verifier does not answer.
    func state(of uid: UInt32) async -> PasscodeState? {
        let said = await answers.revalidate(uid)
        return owner == nil ? nil : said?.state
    }

    private func ask(_ uid: UInt32, isAgain: Bool = false) async -> Answer? {
        let (stamp, before) = (stamp, answers.last(uid)?.state)
        // Meanwhile, ask the bus whether the owner is unchanged.
        var isFoundOut = true
        let known = self.owner
        let question = known == nil ? nil : onLoop { isFoundOut = await self.service.revalidate() }
        let current = known == nil ? await service.currentOwner() : known
        guard let owner = current else {
            answers.forget(uid)
            return nil
        }
        let said = await state(of: uid, proxy(owner))
        await question?.value
        guard isFoundOut else {
            answers.forget(uid)
            return nil
        }
        if said == nil { await service.revalidate() }
        guard self.owner == owner else {
            // The verifier was exiting when the query arrived, so ask its successor.
            return isAgain ? nil : await ask(uid, isAgain: true)
        }
        guard let said else { return nil }
        if before != said { stateChanged(uid, said) }
        return Answer(state: said, stamp: stamp)
    }

    /// Queries the state.
    ///
    /// A password counts as removed only if the verifier says so.
    ///
    /// If the verifier fails to answer or does not implement the query, no item is deleted.
    private func state(of uid: UInt32, _ proxy: Passcode1Proxy) async -> PasscodeState? {
        try? await lanes.run(.questions, for: uid) { () throws(DBusError) in
            if try await proxy.isSet(uid: uid, timeout: Self.patience) { return .set }
            if self.answers.last(uid)?.state == .removed { return .removed }
            let isRemoved = (try? await proxy.isRemoved(uid: uid, timeout: Self.patience)) ?? false
            return isRemoved ? .removed : .withheld
        }
    }

    // MARK: - Verifying

    /// Verifies a sealed password.
    ///
    /// An error from the verifier itself is no verdict. If the reply is lost, the password may have
    /// been wrong.
    func verify(uid: UInt32, prompt: String, sealed: [UInt8]) async -> PasscodeVerdict {
        await verify(uid, prompt, sealed, isAgain: false)
    }

    private func verify(
        _ uid: UInt32,
        _ prompt: String,
        _ sealed: [UInt8],
        isAgain: Bool
    ) async -> PasscodeVerdict {
        guard let owner = await service.currentOwner() else { return .failed }
        let proxy = proxy(owner)
        do throws(DBusError) {
            let isCorrect = try await lanes.run(.passcodes, for: uid) {
                () throws(DBusError) in
                try await proxy.verify(
                    uid: uid,
                    prompt: prompt,
                    sealed: sealed,
                    timeout: self.longestVerify
                )
            }
            guard self.owner == owner else { return .lost }
            return isCorrect ? .correct : .wrong
        } catch {
            // The verifier was exiting and did not read the password, so ask its successor.
            let isUnread = [.passcodeCanceled, .serviceUnknown, .nameHasNoOwner]
                .contains(error.name)
            if isUnread, !isAgain, await service.revalidate(), self.owner != owner {
                return await verify(uid, prompt, sealed, isAgain: true)
            }
            // The prompt sealed the password to an old key.
            if error.name == .invalidArgs { _ = await readKey(of: owner) }
            if error.name == .passcodeRefused {
                return .refused(DisplayText.cleaned(error.message, limit: DisplayText.titleLimit))
            }
            let isLost = [.noReply, .timeout, .disconnected].contains(error.name)
            return isLost ? .lost : .failed
        }
    }
}

extension PasscodeVerifier: SupervisedServiceUser {
    func distrust(of uid: UInt32?) -> String? {
        uid.flatMap { trusted.contains($0) ? nil : UserName.of($0) }
    }

    func ownerArrived() { answers.removeAll() }

    func prepare(_ peer: Peer) async -> ServiceAbsence? {
        guard await readKey(of: peer.name) else {
            return .notStarting(reason: "The password verifier offers no key to seal passwords to.")
        }
        // The bus handles this subscription before any query, so that no change after an answer is
        // missed.
        service.listen {
            let changes = proxy(peer.name)
                .onChanged { [weak self] uid in
                    if uid == .max {
                        self?.answers.markAllStale()
                    } else {
                        self?.answers.markStale(uid)
                    }
                }
            return [changes]
        }
        return nil
    }

    func lost(_ absence: ServiceAbsence, because fault: String?) { answers.removeAll() }
}
