import AuthEngine
import AuthStore
import DBus
import Linux
import LocalAuthBus

/// The process that asks PAM.
///
/// The daemon hands it the channel and hears yes or no.
@BusActor
final class PasscodeVerifier {
    /// How long it may take to say whether a passcode is set.
    static let patience = Duration.seconds(5)
    /// A little longer than its own deadline for PAM.
    static let longestVerify = Duration.seconds(35)
    /// How long an answer to `IsSet` serves CanEvaluate of policy 2; everything else asks again.
    static let warmth = Duration.milliseconds(100)

    private(set) var owner: String?
    private var answers: [UInt32: (isSet: Bool, at: Instant)] = [:]
    private let lookUps = SharedLookUps()
    private let connection: Connection
    /// Who may be the verifier.
    private let trusted: Set<UInt32>
    private let passcodeRemoved: @BusActor (_ uid: UInt32) -> Void

    /// `passcodeRemoved` is told when a user is found to have no passcode.
    ///
    /// On the system bus root alone may be the verifier: it is handed the way to every passcode.
    init(
        connection: Connection,
        isSystemBus: Bool,
        passcodeRemoved: @escaping @BusActor (_ uid: UInt32) -> Void
    ) {
        self.connection = connection
        trusted = isSystemBus ? [0] : [0, ProcessIdentity.uid]
        self.passcodeRemoved = passcodeRemoved
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
        return answer.isSet
    }

    /// Whether the user has a passcode.
    ///
    /// No verifier, no answer: no passcode.
    func isSet(for uid: UInt32) async -> Bool {
        await lookUps.share(uid) { await self.ask(uid) }
        return answers[uid]?.isSet ?? false
    }

    /// Whether the user has a passcode; nil: nobody says.
    func answer(for uid: UInt32) async -> Bool? {
        await lookUps.share(uid) { await self.ask(uid) }
        return owner == nil ? nil : answers[uid]?.isSet
    }

    private func ask(_ uid: UInt32) async {
        guard let owner = await currentOwner() else {
            answers[uid] = nil
            return
        }
        let proxy = Passcode1Proxy(connection, destination: owner, path: Passcode1.path)
        // Where the question did not get through, the last answer of the same verifier stands.
        guard let isSet = try? await proxy.isSet(uid: uid, timeout: Self.patience),
            self.owner == owner
        else { return }
        if answers.count > 1024 {
            answers = answers.filter { Instant.now() - $0.value.at < Self.warmth }
        }
        if !isSet, answers[uid]?.isSet != false { passcodeRemoved(uid) }
        answers[uid] = (isSet, Instant.now())
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
    func verify(uid: UInt32, channel: OwnedDescriptor) async -> PasscodeVerdict {
        guard let owner = await currentOwner() else { return .failed }
        let proxy = Passcode1Proxy(connection, destination: owner, path: Passcode1.path)
        do throws(DBusError) {
            let isCorrect = try await proxy.verify(
                uid: uid,
                socket: channel,
                timeout: Self.longestVerify
            )
            guard self.owner == owner else { return .failed }
            return isCorrect ? .correct : .wrong
        } catch {
            return .failed
        }
    }
}
