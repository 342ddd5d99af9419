import AuthEngine
import DBus
import KeychainStore
import LocalAuthBus
import Sealing

/// A use of an item or a key, from the call to the answer: a Read, a Sign, a Decrypt or a
/// KeyExchange.
extension KeychainObject {
    /// Answers a call that uses an item.
    ///
    /// The item is loaded once, to see what guards it; `check` says what is wrong with the call's
    /// arguments, so that nobody is asked in vain; the authentication is asked for; then one
    /// turn with the keychain opens the item, if it is still there and is guarded as it was
    /// (KeychainStore compares the grant with the row). `open` runs in that turn, `deliver` makes
    /// the answer of what it gave.
    func answer<Opened: Sendable, Value: Sendable>(
        _ use: KeychainUse,
        check: @escaping @Sendable () throws(KeychainError) -> Void = {},
        open:
            @escaping @Sendable (
                KeychainStore, KeychainPermission, Caller
            ) throws(KeychainError) -> Opened,
        deliver: @escaping @BusActor @Sendable (Opened) throws(DBusError) -> Value
    ) -> Answer<Value> {
        .later { () throws(DBusError) in
            do throws(DBusError) {
                let item = try await self.item(use.id, of: use.peer)
                do throws(KeychainError) { try check() } catch { throw DBusError(error) }
                let permission = try await self.permission(for: use, item)
                let opened = try await self.turn(for: use, permission, open)
                let value = try deliver(opened)
                let mechanism = permission.mechanism
                self.report(
                    .itemUsed,
                    use.kind,
                    by: use.peer,
                    use.id,
                    mechanism: mechanism,
                    for: use.requester
                )
                return value
            } catch {
                let outcome = error.outcome
                self.report(
                    .itemUsed,
                    use.kind,
                    by: use.peer,
                    use.id,
                    outcome: outcome,
                    for: use.requester
                )
                throw error
            }
        }
    }

    /// The permission for a use, by what the context has proved or by a prompt.
    ///
    /// - Throws: by R68.
    private func permission(
        for use: KeychainUse,
        _ item: Item
    ) async throws(DBusError) -> KeychainPermission {
        let requirement = item.accessControl.requirement(for: use.operation)
        var password = requirement.needsApplicationPassword ? use.context?.applicationPassword : nil
        if use.context?.isInvalid == true {
            throw DBusError(.keychainAuthFailed, "The context was invalidated.")
        }
        var grant: Grant?
        let asksPassword = requirement.needsApplicationPassword && password == nil
        if !requirement.isFree || asksPassword {
            let trial = PasswordTrial(of: use, keychain: self)
            grant = try await authenticate(use, requirement, asksPassword ? trial : nil)
            if let typed = trial.correct {
                use.context?.keep(applicationPassword: typed)
                password = typed
            }
            // Whoever enrolled while the prompt was up may be the one who passed it: the turn that
            // opens the item knows that by then.
            await refresh(
                enrolment: item.accessControl.isOfCurrentEnrolment,
                passcode: item.accessControl.needsPasscodeSet,
                of: use.peer.uid,
                since: nil
            )
        }
        // Neither opened nor deleted: a finger may have been added since (L11b).
        guard !item.accessControl.isOfCurrentEnrolment || enrolments.isKnown(use.peer.uid) else {
            throw DBusError(
                .keychainAuthFailed,
                "A sensor doesn't say whether the enrolled biometry has changed."
            )
        }
        guard !item.accessControl.needsPasscodeSet || !unsaid.contains(use.peer.uid) else {
            throw DBusError(
                .keychainAuthFailed,
                "The password verifier does not say whether the account still has a password."
            )
        }
        let authorization = AccessGrant.resting(
            on: grant?.proofs ?? [],
            for: use.operation,
            uid: use.peer.uid,
            accessControl: item.accessControl,
            minimumStrength: evaluations.keychainStrength
        )
        guard let authorization else {
            throw DBusError(.keychainAuthFailed, "The authentication is not enough for this item.")
        }
        return KeychainPermission(
            authorization: authorization,
            mechanism: grant?.mechanism,
            password: password
        )
    }

    /// Has the engine decide whether it is the user.
    private func authenticate(
        _ use: KeychainUse,
        _ requirement: Requirement,
        _ trial: PasswordTrial?
    ) async throws(DBusError) -> Grant {
        var request = evaluations.request(
            for: use.operation,
            requirement,
            use.options,
            client: use.client,
            context: use.context,
            asksPassword: trial != nil
        )
        // Without a reason nothing can be shown; what needs no prompt needs none (R35).
        let reason = try? Checked.reason(use.reason)
        let isForbidden = request.isInteractionNotAllowed
        request.isInteractionNotAllowed = isForbidden || reason == nil
        var text = ShownText(reason: reason ?? "", options: use.options)
        text.fallbackTitle = ""
        text.requester = use.requester
        let outcome = await evaluations.outcome(
            of: request,
            text,
            use.audience,
            password: trial?.attempt,
            isReleased: { use.context?.isReleased == true }
        )
        switch outcome {
        case .granted(let grant): return grant
        case .refused(let refusal):
            if refusal.code == .notInteractive, !isForbidden { _ = try Checked.reason(use.reason) }
            throw DBusError(keychain: refusal)
        }
    }

    /// The turn that opens the item.
    private func turn<Opened: Sendable>(
        for use: KeychainUse,
        _ permission: KeychainPermission,
        _ open:
            @escaping @Sendable (
                KeychainStore, KeychainPermission, Caller
            ) throws(KeychainError) -> Opened
    ) async throws(DBusError) -> Opened {
        do throws(DBusError) {
            return try await turn(as: use.peer) { keychain, caller throws(KeychainError) in
                try open(keychain, permission, caller)
            }
        } catch {
            if error.name == .keychainAuthFailed, let password = permission.password {
                use.context?.forget(typed: password)
            }
            throw error
        }
    }
}

/// One use of an item or a key, frozen when the call arrived.
@BusActor
final class KeychainUse {
    let id: String
    let operation: AccessOperation
    /// What the audit calls it.
    let kind: ItemOperation
    let peer: Peer
    let client: Client
    let context: ContextObject?
    let requester: Requester?
    fileprivate let options: EvaluateOptions
    fileprivate let reason: String
    private let serial: UInt32

    /// - Throws: InvalidArgs, UnknownObject for another's context.
    init(
        _ id: String,
        _ operation: AccessOperation,
        _ kind: ItemOperation,
        _ reason: String,
        _ options: [String: Variant],
        _ call: IncomingCall,
        _ evaluations: Evaluations
    ) throws(DBusError) {
        evaluations.clients.unknownOptions.take(options, of: call)
        self.id = id
        self.operation = operation
        self.kind = kind
        peer = call.peer
        client = evaluations.clients[call.peer]
        serial = call.serial
        context = try evaluations.clients.lentContext(options, of: call.peer)
        requester = try Requester(options)
        var options = try EvaluateOptions(options)
        guard options.uid == nil else { throw .denied("option uid is for one-shot evaluations") }
        guard reason.utf8.count <= Checked.longestReason else {
            throw .invalid("the reason is over 64 KiB")
        }
        self.reason = reason.isEmpty ? context?.reason ?? "" : reason
        context?.complete(&options)
        self.options = options
    }

    /// Who hears of the progress: the context's events, or those of a one-shot.
    fileprivate var audience: Audience {
        context?.audience ?? Audience(peer: peer, source: .oneShot(serial: serial))
    }
}

/// What an authentication allows.
struct KeychainPermission: Sendable {
    let authorization: AccessGrant
    /// What proved it in this call; nil: nothing had to be proved.
    let mechanism: Mechanism?
    /// The application password, if the item has one.
    var password: SecretBytes?
}

/// One attempt at an item's application password.
@BusActor
private final class PasswordTrial {
    private let use: KeychainUse
    private let keychain: KeychainObject
    /// The password, once it was right.
    private(set) var correct: SecretBytes?

    init(of use: KeychainUse, keychain: KeychainObject) {
        self.use = use
        self.keychain = keychain
    }

    func attempt(_ password: SecretBytes) async -> PasscodeVerdict {
        let id = use.id
        do throws(DBusError) {
            try await keychain.turn(as: use.peer) { keychain, caller throws(KeychainError) in
                try keychain.check(password: password, of: id, caller: caller)
            }
            correct = password
            return .correct
        } catch {
            return error.name == .keychainAuthFailed ? .wrong : .failed
        }
    }
}
