import AuthEngine
import DBus
import KeychainStore
import LocalAuthBus
import Sealing

/// Uses of an item or a key by Read, Sign, Decrypt or KeyExchange, from the call to the reply.
extension KeychainObject {
    /// Answers a call that uses an item.
    ///
    /// The item is loaded first to learn its access control. Then `check` validates the arguments,
    /// so that no prompt appears in vain, and the user authenticates. Finally one turn with the
    /// keychain runs `open`, if the item still exists with an unchanged access control.
    /// KeychainStore compares the grant with the row for this. `deliver` converts the result to the
    /// reply.
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

    /// Returns the secrets of found items without a prompt, by the items' numbers.
    ///
    /// A context opens a guarded item only as the single match. A call then costs at most one
    /// evaluation. Read tells the cause of a refusal.
    func secrets(
        of found: [FoundItem],
        _ use: KeychainUse,
        isWanted: Bool
    ) async -> [(index: Int, secret: SecretBytes)] {
        var secrets: [(index: Int, secret: SecretBytes)] = []
        for (index, item) in found.enumerated() {
            guard let secret = item.secret else { continue }
            secrets.append((index, secret))
            report(.itemUsed, .read, by: use.peer, item.item.id, for: use.requester)
        }
        guard isWanted, secrets.isEmpty, found.count == 1, let item = found.first?.item,
            item.publicKey.isEmpty, use.context?.mayProve == true
        else { return secrets }
        use.id = item.id
        do throws(DBusError) {
            let permission = try await permission(for: use, item)
            let secret = try await turn(for: use, permission) {
                keychain,
                permission,
                caller throws(KeychainError) in
                try keychain.secret(
                    of: item.id,
                    authorization: permission.authorization,
                    password: permission.password,
                    caller: caller
                )
            }
            let mechanism = permission.mechanism
            let requester = use.requester
            report(.itemUsed, .read, by: use.peer, item.id, mechanism: mechanism, for: requester)
            return [(0, secret)]
        } catch {
            let isDecided = error.name != .keychainInteractionNotAllowed
            if isDecided { report(.itemUsed, .read, by: use.peer, item.id, outcome: error.outcome) }
            return []
        }
    }

    /// Obtains the permission for a use, from an earlier proof in the context or by a prompt.
    ///
    /// - Throws: The errors of R68.
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
            // The person who passed the prompt may have enrolled during the prompt, so query the
            // enrolment again before the item is opened.
            await refresh(
                enrolment: item.accessControl.isOfCurrentEnrolment,
                passcode: item.accessControl.needsPasscodeSet,
                of: use.peer.uid,
                since: nil
            )
        }
        // A finger may have been added, so do not open the item; the change is unproven, so do not
        // delete it (L11b).
        guard !item.accessControl.isOfCurrentEnrolment || enrolments.isKnown(use.peer.uid) else {
            throw DBusError(
                .keychainAuthFailed,
                "A sensor doesn't say whether the enrolled biometry has changed."
            )
        }
        guard
            !item.accessControl.needsPasscodeSet || !usersWithUnknownPassword.contains(use.peer.uid)
        else {
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
        // A missing reason prevents only a prompt. A request that needs no prompt also needs no
        // reason (R35).
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

/// A use of an item or a key, with its arguments fixed when the call arrived.
@BusActor
final class KeychainUse {
    /// The id of the item.
    ///
    /// ReadMatching sets the id after the search.
    var id: String
    let operation: AccessOperation
    let kind: ItemOperation
    let peer: Peer
    let client: Client
    let context: ContextObject?
    let requester: Requester?
    fileprivate let options: EvaluateOptions
    fileprivate let reason: String
    private let serial: UInt32

    /// - Throws: InvalidArgs, or UnknownObject for a context of another connection.
    init(
        _ id: String,
        _ operation: AccessOperation,
        _ kind: ItemOperation,
        _ reason: String,
        _ options: [String: Variant],
        _ call: IncomingCall,
        _ evaluations: Evaluations,
        asks: Bool = true
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
        if !asks { options.isInteractionNotAllowed = true }
        self.options = options
    }

    /// The receiver of the progress: the context, or the caller of a one-shot call.
    fileprivate var audience: Audience {
        context?.audience ?? Audience(peer: peer, source: .oneShot(serial: serial))
    }
}

struct KeychainPermission: Sendable {
    let authorization: AccessGrant
    /// The mechanism that proved presence in this call; nil if no proof was needed.
    let mechanism: Mechanism?
    /// The application password, if the item has one.
    var password: SecretBytes?
}

@BusActor
private final class PasswordTrial {
    private let use: KeychainUse
    private let keychain: KeychainObject
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
