import AuthEngine
import AuthStore
import BusGuard
import DBus
import Linux
import LocalAuthBus
import Sealing

/// What is known of a user's passcode.
enum PasscodeState: Equatable, Sendable {
    case set
    /// None can be given now, but it may be the same one again, as with an account that is locked.
    case withheld
    /// There is none any more.
    case removed
}

/// The process that asks PAM; the bus starts it when it is needed.
///
/// The daemon passes a sealed passcode on, and hears yes or no.
@BusActor
final class PasscodeVerifier {
    /// How long it may take to say whether a passcode is set.
    static let patience = Duration.seconds(10)
    /// Longer than it takes until a check has its turn and PAM its deadline.
    var longestVerify = Duration.seconds(100)
    /// How long a question waits for it to be started, and for the end of a pause after a fault.
    static let startPatience = Duration.seconds(20)
    /// How long the bus may take to start it.
    static let longestStart = Duration.seconds(30)

    /// Why there is none.
    enum Absence: Hashable, Sendable {
        /// Nobody owns its name, and the bus can't start it.
        case notInstalled
        /// Who owns its name may not be the verifier.
        case untrusted(user: String)
        /// It is being started, for longer than anybody waits.
        case starting
        /// It was to be started, and did not come.
        case notStarting(reason: String)
        /// It failed so often that it is left alone for longer than anybody waits.
        case resting
    }

    private(set) var owner: String?
    /// Why it couldn't be asked when somebody wanted to; nil when it could.
    private(set) var absence: Absence?
    /// Who owns its name, trusted or not yet.
    private var holder: String?
    private var process: OwnedDescriptor?
    private var isStarting = false
    private var startedAt = Instant(nanoseconds: 0)
    private let arrivals = ConditionVariable()
    var backOff = BackOff()
    /// Until then it is left alone.
    private var restsUntil = Instant(nanoseconds: 0)
    /// Whether the last one ended because it was idle.
    private var isAsleep = false
    private let shadowFile: String?

    private struct Answer {
        let state: PasscodeState
        /// Of the shadow file, before the question.
        let stamp: FileStamp?
    }
    /// What it said last of each user; nil: it couldn't be asked.
    private var answers: [UInt32: Answer?] = [:]
    private lazy var standing = StandingAnswers { [unowned self] uid in answers[uid] = nil }
    private var news: EventSource?
    private let lookUps = SharedLookUps<UInt32, PasscodeState?>()
    private let connection: Connection
    private let lanes: CallBudget
    /// The public key of the verifier that answered last; prompts seal passcodes to it.
    private(set) var sealingKey: [UInt8] = []
    /// Who may be the verifier.
    private let trusted: Set<UInt32>
    private let found: @BusActor (_ uid: UInt32, PasscodeState) -> Void

    /// `found` is told when a user's passcode is found to be another way than it was.
    ///
    /// On the system bus root alone may be the verifier: it is handed the way to every passcode.
    /// While it sleeps, `shadowFile` tells of changes; nil: nothing does.
    init(
        connection: Connection,
        lanes: CallBudget,
        isSystemBus: Bool,
        shadowFile: String?,
        found: @escaping @BusActor (_ uid: UInt32, PasscodeState) -> Void
    ) {
        self.connection = connection
        self.lanes = lanes
        trusted = isSystemBus ? [0] : [0, ProcessIdentity.uid]
        self.shadowFile = shadowFile
        self.found = found
    }

    /// Watches for the verifier.
    func start() {
        _ = connection.watchName(Passcode1.busName) { [weak self] owner in
            guard let self, let departed = replace(by: owner) else { return }
            onLoop { await self.follow(departed) }
        }
    }

    /// The bus says who owns its name now; who just left may have crashed.
    private func ownerChanged(_ owner: String?) async {
        if let departed = replace(by: owner) { await follow(departed) }
    }

    /// Nothing stands that another said, from this moment on; nil: it is the same one.
    private func replace(by owner: String?) -> (name: String?, process: OwnedDescriptor?)? {
        guard owner != holder else { return nil }
        let departed = (self.owner, process)
        (holder, self.owner, self.process, isAsleep) = (owner, nil, nil, false)
        news?.cancel()
        if owner != nil { forget() }
        return departed
    }

    private func forget() {
        answers = [:]
        standing.askAnew()
    }

    private func follow(_ departed: (name: String?, process: OwnedDescriptor?)) async {
        if let holder {
            await identify(holder)
        } else if let name = departed.name {
            let hasEndedWell = await connection.hasEndedWell(name, departed.process)
            if hasEndedWell {
                backOff.ended(at: Instant.now(), wasReady: true)
            } else {
                rest(wasReady: true)
            }
            guard holder == nil else { return }
            if hasEndedWell { isAsleep = true } else { forget() }
        }
    }

    private func identify(_ owner: String) async {
        guard let peer = try? await connection.peer(named: owner), holder == owner else { return }
        guard trusted.contains(peer.uid) else {
            absence = .untrusted(user: UserName.of(peer.uid))
            return
        }
        guard await readKey(of: owner), holder == owner else { return }
        process = try? ProcessDescriptor.open(peer.pid)
        absence = nil
        self.owner = owner
        // The bus takes this before any question, so what changes after an answer is heard.
        news = proxy(owner).onChanged { [weak self] uid in self?.changed(uid) }
        backOff.recovered(at: Instant.now())
        arrivals.notifyAll()
    }

    /// Reads the public key; a verifier without one is no verifier.
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
        guard let key, RecipientKey(key) != nil else {
            absence = .notStarting(reason: "It has no key to seal passwords to.")
            return false
        }
        sealingKey = key
        return true
    }

    /// Leaves it alone for a while, after a fault.
    private func rest(wasReady: Bool) {
        let now = Instant.now()
        restsUntil = now + backOff.failed(at: now, wasReady: wasReady)
    }

    // MARK: - What it told

    /// What IsSet says may be another; of anybody, when no user is named.
    private func changed(_ uid: UInt32) {
        if uid == .max { standing.doubtAll() } else { standing.doubt(uid) }
    }

    /// What it said last, unless it said since that this may be another; nil: it is to be asked.
    ///
    /// What one said that sleeps stands while the shadow file is as it was. One that didn't answer
    /// said nothing.
    func told(of uid: UInt32) -> PasscodeFact? {
        guard standing.stands(of: uid), let last = answers[uid], let answer = last else {
            return nil
        }
        if owner == nil {
            guard isAsleep, let stamp = answer.stamp, stamp == self.stamp else { return nil }
        }
        return answer.state == .set ? .set : .missing
    }

    private var stamp: FileStamp? { shadowFile.flatMap { FileStamp(of: $0) } }

    /// The same once it is known; those who wait share one question.
    func findOut(_ uid: UInt32) async -> PasscodeFact {
        if let told = told(of: uid) { return told }
        await standing.join(uid)
        if let told = told(of: uid) { return told }
        return await passcode(of: uid)
    }

    /// Asks behind an answer, at most once a second: its signal may have got lost, and it can't
    /// watch every source of users.
    func askBehind(_ uid: UInt32, at now: Instant) {
        guard standing.isDue(of: uid, at: now) else { return }
        onLoop { _ = await self.state(of: uid) }
    }

    // MARK: - Asking

    /// Whether the user has a passcode that can be verified now.
    func passcode(of uid: UInt32) async -> PasscodeFact {
        switch await state(of: uid) {
        case .set: .set
        case .withheld, .removed: .missing
        case nil: .unknown
        }
    }

    /// What the verifier says now of the user's passcode; nil: it doesn't say.
    func state(of uid: UInt32) async -> PasscodeState? {
        let said = await lookUps.share(uid) { await self.ask(uid) }
        return owner == nil ? nil : said
    }

    private func ask(_ uid: UInt32, isAgain: Bool = false) async -> PasscodeState? {
        standing.begin(uid)
        defer { standing.end(uid) }
        // Whether it still is the owner is asked at the same time.
        let stamp = stamp
        var isFoundOut = true
        let known = self.owner
        let question = known == nil ? nil : onLoop { isFoundOut = await self.catchUp() }
        guard let owner = known == nil ? await currentOwner() : known else {
            answers[uid] = .some(nil)
            return nil
        }
        let said = await state(of: uid, proxy(owner))
        await question?.value
        guard isFoundOut else {
            answers[uid] = .some(nil)
            return nil
        }
        if said == nil { await catchUp() }
        guard self.owner == owner else {
            // It was leaving when the question came: the next one says.
            return isAgain ? nil : await ask(uid, isAgain: true)
        }
        // Where the question did not get through nothing is decided. As what was told, the last
        // answer of the same verifier stands, unless it said meanwhile that it may be another.
        guard let state = said else {
            if !standing.stands(of: uid) { answers[uid] = .some(nil) }
            return nil
        }
        if answers[uid]??.state != state { found(uid, state) }
        answers[uid] = Answer(state: state, stamp: stamp)
        return state
    }

    private func proxy(_ owner: String) -> Passcode1Proxy {
        Passcode1Proxy(connection, destination: owner, path: Passcode1.path)
    }

    /// Only a verifier that says so has a passcode count as removed: where it can't be asked, or
    /// doesn't know the question, nothing is deleted.
    private func state(of uid: UInt32, _ proxy: Passcode1Proxy) async -> PasscodeState? {
        try? await lanes.run(.questions, for: uid) { () throws(DBusError) in
            if try await proxy.isSet(uid: uid, timeout: Self.patience) { return .set }
            if self.answers[uid]??.state == .removed { return .removed }
            let isRemoved = (try? await proxy.isRemoved(uid: uid, timeout: Self.patience)) ?? false
            return isRemoved ? .removed : .withheld
        }
    }

    /// Its unique name; it is started first when it isn't there.
    ///
    /// Several that want it share one start. One that takes long is not waited for, but goes on.
    private func currentOwner() async -> String? {
        guard await catchUp() else { return nil }
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

    /// Finds out whether the signal that it is another one, or gone, got lost; false: the bus
    /// doesn't say.
    @discardableResult private func catchUp() async -> Bool {
        do throws(DBusError) {
            let present = try await connection.nameOwner(Passcode1.busName)
            if present != holder { await ownerChanged(present) }
            return true
        } catch {
            return false
        }
    }

    private func activate() async {
        let rest = restsUntil - Instant.now()
        if rest > .zero {
            // One that failed again and again is not waited for.
            guard rest <= Self.startPatience else {
                absence = .resting
                return
            }
            if await arrivals.wait(atMost: rest, until: { owner != nil }) { return }
        }
        absence = nil
        do throws(DBusError) {
            try await connection.startService(Passcode1.busName, timeout: Self.longestStart)
            guard let owner = try await connection.nameOwner(Passcode1.busName) else {
                throw DBusError(.failed, "It ended at once.")
            }
            if owner == holder { await identify(owner) } else { await ownerChanged(owner) }
        } catch {
            guard owner == nil else { return }
            let isInstalled = error.name != .serviceUnknown
            absence =
                isInstalled
                ? .notStarting(reason: DisplayText.cleaned(error.message, limit: 256))
                : .notInstalled
            if isInstalled { self.rest(wasReady: false) }
        }
    }

    /// Has a sealed passcode verified.
    ///
    /// Only a verifier that says so itself said nothing about the passcode; where its answer is
    /// lost, it may have been wrong.
    func verify(uid: UInt32, prompt: String, sealed: [UInt8]) async -> PasscodeVerdict {
        await verify(uid, prompt, sealed, isAgain: false)
    }

    private func verify(
        _ uid: UInt32,
        _ prompt: String,
        _ sealed: [UInt8],
        isAgain: Bool
    ) async -> PasscodeVerdict {
        guard let owner = await currentOwner() else { return .failed }
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
            // It was leaving, and has asked nothing: the next one verifies.
            let isUnread = [.passcodeCanceled, .serviceUnknown, .nameHasNoOwner]
                .contains(error.name)
            if isUnread, !isAgain, await catchUp(), self.owner != owner {
                return await verify(uid, prompt, sealed, isAgain: true)
            }
            // The prompt sealed it to another key.
            if error.name == .invalidArgs { _ = await readKey(of: owner) }
            let isLost = [.noReply, .timeout, .disconnected].contains(error.name)
            return isLost ? .lost : .failed
        }
    }
}
