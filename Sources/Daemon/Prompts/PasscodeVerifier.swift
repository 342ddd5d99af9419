import AuthEngine
import AuthStore
import BusGuard
import DBus
import Linux
import LocalAuthBus
import Sealing

/// The known state of a user's passcode.
enum PasscodeState: Equatable, Sendable {
    case set
    /// The passcode cannot be given now, as with a locked account, but it may come back unchanged.
    case withheld
    /// There is none any more.
    case removed
}

/// The process that asks PAM; the bus starts it when it is needed.
///
/// The daemon passes a sealed passcode on, and hears yes or no.
@BusActor
final class PasscodeVerifier {
    /// Time limit of the question whether a passcode is set.
    static let patience = Duration.seconds(10)
    /// Time limit of a call that needs no person, which is answered within 3 s.
    private static let longestWait = Duration.milliseconds(2500)
    /// Longer than it takes until a check has its turn and PAM its deadline.
    var longestVerify = Duration.seconds(100)

    typealias Absence = ServiceAbsence

    private struct Answer {
        let state: PasscodeState
        /// The state of the shadow file before the question.
        let stamp: FileStamp?
    }

    let service: SupervisedService
    /// The public key of the verifier that answered last; prompts seal passcodes to it.
    private(set) var sealingKey: [UInt8] = []
    private lazy var answers = Mirror<UInt32, Answer> { [unowned self] uid in await ask(uid) }
    private let connection: Connection
    private let lanes: CallBudget
    private let trusted: Set<UInt32>
    private let shadowFile: String?
    private let found: @BusActor (_ uid: UInt32, PasscodeState) -> Void

    /// `found` is called when a user's passcode is found to be another way than it was.
    ///
    /// On the system bus root alone may be the verifier: it can read every passcode. While it
    /// sleeps, `shadowFile` shows changes; nil: changes stay unseen.
    init(
        connection: Connection,
        lanes: CallBudget,
        isSystemBus: Bool,
        shadowFile: String?,
        found: @escaping @BusActor (_ uid: UInt32, PasscodeState) -> Void
    ) {
        self.connection = connection
        self.lanes = lanes
        self.shadowFile = shadowFile
        self.found = found
        trusted = isSystemBus ? [0] : [0, ProcessIdentity.uid]
        service = SupervisedService(
            Passcode1.busName,
            on: connection,
            starts: .onDemand,
            patience: .seconds(20)
        )
        service.user = self
    }

    /// Watches for the verifier.
    func start() { service.startWatching() }

    /// The unique name of the process that can be called; nil: none is there.
    var owner: String? { service.state == .ready ? service.owner : nil }

    /// Why it couldn't be called last; nil: it could.
    var absence: Absence? { service.absence }

    private func proxy(_ owner: String) -> Passcode1Proxy {
        Passcode1Proxy(connection, destination: owner, path: Passcode1.path)
    }

    /// Reads the public key; a verifier must have a key.
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

    /// Returns the cached answer; nil: it has to be asked for.
    ///
    /// The answer of a verifier that sleeps is fresh while the shadow file is as it was.
    func told(of uid: UInt32) -> PasscodeFact? {
        guard let answer = answers.cached(uid) else { return nil }
        if owner == nil {
            guard service.state == .asleep, let stamp = answer.stamp, stamp == self.stamp else {
                return nil
            }
        }
        return answer.state == .set ? .set : .missing
    }

    private var stamp: FileStamp? { shadowFile.flatMap { FileStamp(of: $0) } }

    /// Returns the cached answer, or asks; unknown while a verifier hangs (L31).
    func findOut(_ uid: UInt32) async -> PasscodeFact {
        if let told = told(of: uid) { return told }
        // A start has a time limit of its own (L26).
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

    /// Callers share a question.
    private func answer(_ uid: UInt32) async -> PasscodeFact {
        await answers.join(uid)
        if let told = told(of: uid) { return told }
        return await passcode(of: uid)
    }

    /// Refreshes an answer in the background, at most once a second.
    ///
    /// Signals may get lost, and the verifier can't watch every source of users.
    func askBehind(_ uid: UInt32, at now: Instant) {
        answers.refreshInBackground(uid, at: now)
    }

    /// Asks whether the user has a passcode that can be verified.
    func passcode(of uid: UInt32) async -> PasscodeFact {
        switch await state(of: uid) {
        case .set: .set
        case .withheld, .removed: .missing
        case nil: .unknown
        }
    }

    /// Asks for the state of the user's passcode; nil: the verifier doesn't say.
    func state(of uid: UInt32) async -> PasscodeState? {
        let said = await answers.revalidate(uid)
        return owner == nil ? nil : said?.state
    }

    private func ask(_ uid: UInt32, isAgain: Bool = false) async -> Answer? {
        let (stamp, before) = (stamp, answers.last(uid)?.state)
        // Meanwhile the bus is asked whether the owner is unchanged.
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
            // The verifier was exiting when the question came: its successor answers.
            return isAgain ? nil : await ask(uid, isAgain: true)
        }
        guard let said else { return nil }
        if before != said { found(uid, said) }
        return Answer(state: said, stamp: stamp)
    }

    /// A passcode counts as removed only if the verifier says so.
    ///
    /// If the verifier can't be asked, or doesn't know the question, no item is deleted.
    private func state(of uid: UInt32, _ proxy: Passcode1Proxy) async -> PasscodeState? {
        try? await lanes.run(.questions, for: uid) { () throws(DBusError) in
            if try await proxy.isSet(uid: uid, timeout: Self.patience) { return .set }
            if self.answers.last(uid)?.state == .removed { return .removed }
            let isRemoved = (try? await proxy.isRemoved(uid: uid, timeout: Self.patience)) ?? false
            return isRemoved ? .removed : .withheld
        }
    }

    // MARK: - Verifying

    /// Has a sealed passcode verified.
    ///
    /// If the verifier itself reports an error, it gave no verdict. If its answer is lost, the
    /// passcode may have been wrong.
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
            // The verifier was exiting and did not read the passcode: its successor verifies.
            let isUnread = [.passcodeCanceled, .serviceUnknown, .nameHasNoOwner]
                .contains(error.name)
            if isUnread, !isAgain, await service.revalidate(), self.owner != owner {
                return await verify(uid, prompt, sealed, isAgain: true)
            }
            // The prompt sealed it to another key.
            if error.name == .invalidArgs { _ = await readKey(of: owner) }
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
        // The bus takes this before any question, so that changes after an answer are heard.
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
