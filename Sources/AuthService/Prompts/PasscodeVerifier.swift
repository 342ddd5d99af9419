import AuthEngine
import AuthStore
import DBus
import Linux
import LocalAuthBus

/// What is known of a user's passcode.
enum PasscodeState: Equatable, Sendable {
    case set
    /// None can be given now, but it may be the same one again, as with an account that is locked.
    case withheld
    /// There is none any more.
    case removed
}

/// The process that asks PAM.
///
/// The daemon hands it the channel and hears yes or no.
@BusActor
final class PasscodeVerifier {
    /// How long it may take to say whether a passcode is set.
    static let patience = Duration.seconds(5)
    /// Longer than it takes until a check has its turn and PAM its deadline.
    static let longestVerify = Duration.seconds(100)
    /// How long an answer to `IsSet` serves CanEvaluate of policy 2; everything else asks again.
    static let warmth = Duration.milliseconds(100)

    private(set) var owner: String?
    private var answers: [UInt32: (state: PasscodeState, at: Instant)] = [:]
    private let lookUps = SharedLookUps<UInt32, Void>()
    private let connection: Connection
    /// Who may be the verifier.
    private let trusted: Set<UInt32>
    private let found: @BusActor (_ uid: UInt32, PasscodeState) -> Void

    /// `found` is told when a user's passcode is found to be another way than it was.
    ///
    /// On the system bus root alone may be the verifier: it is handed the way to every passcode.
    init(
        connection: Connection,
        isSystemBus: Bool,
        found: @escaping @BusActor (_ uid: UInt32, PasscodeState) -> Void
    ) {
        self.connection = connection
        trusted = isSystemBus ? [0] : [0, ProcessIdentity.uid]
        self.found = found
    }

    /// Watches for the verifier.
    ///
    /// Over a socketpair there is none.
    func start() {
        guard !connection.isPeerToPeer else { return }
        _ = connection.watchName(Passcode1.busName) { [weak self] owner in
            onLoop { await self?.ownerChanged(owner) }
        }
    }

    private func ownerChanged(_ owner: String?) async {
        self.owner = nil
        answers = [:]
        guard let owner, let peer = try? await connection.peer(named: owner),
            trusted.contains(peer.uid)
        else { return }
        self.owner = owner
    }

    /// The last answer, while it is warm; over a socketpair, where nobody can be asked, no.
    func warmAnswer(for uid: UInt32, at now: Instant) -> Bool? {
        if connection.isPeerToPeer { return false }
        guard let answer = answers[uid], now - answer.at < Self.warmth else { return nil }
        return answer.state == .set
    }

    /// Whether the user has a passcode.
    ///
    /// No verifier, no answer: no passcode.
    func isSet(for uid: UInt32) async -> Bool {
        await lookUps.share(uid) { await self.ask(uid) }
        return answers[uid]?.state == .set
    }

    /// What is known of the user's passcode; nil: nobody says.
    func state(of uid: UInt32) async -> PasscodeState? {
        await lookUps.share(uid) { await self.ask(uid) }
        return owner == nil ? nil : answers[uid]?.state
    }

    private func ask(_ uid: UInt32) async {
        guard let owner = await currentOwner() else {
            answers[uid] = nil
            return
        }
        let proxy = Passcode1Proxy(connection, destination: owner, path: Passcode1.path)
        // Where the question did not get through, the last answer of the same verifier stands.
        guard let state = await state(of: uid, proxy), self.owner == owner else { return }
        if answers.count > 1024 {
            answers = answers.filter { Instant.now() - $0.value.at < Self.warmth }
        }
        if answers[uid]?.state != state { found(uid, state) }
        answers[uid] = (state, Instant.now())
    }

    /// Only a verifier that says so has a passcode count as removed: where it can't be asked, or
    /// doesn't know the question, nothing is deleted.
    private func state(of uid: UInt32, _ proxy: Passcode1Proxy) async -> PasscodeState? {
        try? await connection.budget.run(.questions, for: uid) { () throws(DBusError) in
            if try await proxy.isSet(uid: uid, timeout: Self.patience) { return .set }
            if self.answers[uid]?.state == .removed { return .removed }
            let isRemoved = (try? await proxy.isRemoved(uid: uid, timeout: Self.patience)) ?? false
            return isRemoved ? .removed : .withheld
        }
    }

    /// Its unique name; one that was just started by activation counts as well.
    private func currentOwner() async -> String? {
        if let owner { return owner }
        guard !connection.isPeerToPeer,
            let owner = try? await connection.nameOwner(Passcode1.busName)
        else { return nil }
        await ownerChanged(owner)
        return self.owner
    }

    /// Has the packet that waits on `channel` verified.
    ///
    /// Only a verifier that says so itself said nothing about the passcode; where its answer is
    /// lost, it may have been wrong.
    func verify(uid: UInt32, channel: OwnedDescriptor) async -> PasscodeVerdict {
        guard let owner = await currentOwner() else { return .failed }
        let proxy = Passcode1Proxy(connection, destination: owner, path: Passcode1.path)
        do throws(DBusError) {
            let isCorrect = try await connection.budget.run(.passcodes, for: uid) {
                () throws(DBusError) in
                try await proxy.verify(uid: uid, socket: channel, timeout: Self.longestVerify)
            }
            guard self.owner == owner else { return .lost }
            return isCorrect ? .correct : .wrong
        } catch {
            let isLost = [.noReply, .timeout, .disconnected].contains(error.name)
            return isLost ? .lost : .failed
        }
    }
}
