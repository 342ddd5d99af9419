import AuthEngine
import DBus
import KeychainStore
import LocalAuthBus

/// One use of an item or a key, frozen when the call arrived.
@BusActor
final class KeychainUse {
    let id: String
    let operation: AccessOperation
    let peer: Peer
    let client: Client
    let context: ContextObject?
    fileprivate let options: EvaluateOptions
    fileprivate let reason: String
    private let serial: UInt32
    /// The application password that the context had.
    fileprivate var lent: SecretBytes?

    /// - Throws: InvalidArgs, UnknownObject for another's context, LimitsExceeded.
    init(
        _ id: String,
        _ operation: AccessOperation,
        _ reason: String,
        _ options: [String: Variant],
        _ call: IncomingCall,
        _ service: AuthService
    ) throws(DBusError) {
        self.id = id
        self.operation = operation
        peer = call.peer
        client = service.client(of: call.peer)
        serial = call.serial
        context = try service.lentContext(options, of: call.peer)
        var options = try EvaluateOptions(options)
        guard options.uid == nil else { throw .denied("option uid is for one-shot evaluations") }
        guard reason.utf8.count <= Checked.longestReason else {
            throw .invalid("the reason is over 64 KiB")
        }
        self.reason = reason.isEmpty ? context?.reason ?? "" : reason
        context?.complete(&options)
        self.options = options
        guard service.hasRoom(for: client) else {
            throw .exceeded("this connection waits for too many answers at once")
        }
        // From now on: a burst of calls is counted before the first of them has begun.
        client.preparing += 1
    }

    /// The call is answered, or about to be: it gives its place back.
    fileprivate func end() {
        client.preparing -= 1
    }

    /// Who hears of the progress: the context's events, or those of a one-shot.
    fileprivate var audience: Evaluation.Audience {
        if let context { return context.audience }
        return .init(
            peer: peer,
            path: AuthenticationObject.path,
            interface: Authentication1Proxy.interface,
            serial: serial
        )
    }
}

/// What an authentication allows.
struct KeychainPermission: Sendable {
    let authorization: AccessGrant
    /// What proved it in this call; nil: nothing had to be proved.
    let mechanism: Grant.Mechanism?
    /// The application password, if the item has one.
    var password: SecretBytes?
}

extension KeychainObject {
    /// The permission for a use, by what the context has proved or by a prompt.
    ///
    /// - Throws: by R68.
    func permission(
        for use: KeychainUse
    ) async throws(DBusError) -> KeychainPermission {
        do throws(DBusError) {
            return try await decide(use)
        } catch {
            use.end()
            throw error
        }
    }

    /// Makes the call that a use is permitted.
    ///
    /// It counts for its connection to the end: a password that was lent is stretched only here.
    func run<Result: Sendable>(
        for use: KeychainUse,
        _ body: @escaping @Sendable (KeychainStore, Caller) throws(KeychainError) -> Result
    ) async throws(DBusError) -> Result {
        defer { use.end() }
        do throws(DBusError) {
            return try await run(as: use.peer, body)
        } catch {
            if error.name == .keychainAuthFailed, let lent = use.lent {
                use.context?.forget(typed: lent)
            }
            throw error
        }
    }

    private func decide(_ use: KeychainUse) async throws(DBusError) -> KeychainPermission {
        let item = try await item(use.id, of: use.peer)
        let requirement = item.accessControl.requirement(for: use.operation)
        let password = requirement.needsApplicationPassword ? use.context?.applicationPassword : nil
        use.lent = password
        let asksPassword = requirement.needsApplicationPassword && password == nil
        if use.context?.isInvalid == true {
            throw DBusError(.keychainAuthFailed, "The context was invalidated.")
        }
        guard !requirement.isFree || asksPassword else {
            return try permission(by: nil, for: use, item, password)
        }
        let trial = PasswordTrial(of: use, keychain: self)
        let grant = try await grant(for: use, requirement, asksPassword ? trial : nil)
        if let typed = trial.correct { use.context?.keep(applicationPassword: typed) }
        // Whoever enrolled while the prompt was up may be the one who passed it.
        let now = try await self.item(use.id, of: use.peer)
        return try permission(by: grant, for: use, now, password ?? trial.correct)
    }

    private func permission(
        by grant: Grant?,
        for use: KeychainUse,
        _ item: Item,
        _ password: SecretBytes?
    ) throws(DBusError) -> KeychainPermission {
        let authorization = AccessGrant.resting(
            on: grant?.proofs ?? [],
            for: use.operation,
            uid: use.peer.uid,
            accessControl: item.accessControl,
            minimumStrength: service.configuration.keychainStrength
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

    private func grant(
        for use: KeychainUse,
        _ requirement: Requirement,
        _ trial: PasswordTrial?
    ) async throws(DBusError) -> Grant {
        var request = service.request(
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
        var text = Evaluation.Text(reason: reason ?? "", options: use.options)
        text.fallbackTitle = ""
        // Meanwhile the engine counts it.
        use.client.preparing -= 1
        let outcome = await service.outcome(of: request, text, use.audience, trial?.attempt)
        use.client.preparing += 1
        switch outcome {
        case .granted(let grant): return grant
        case .refused(let refusal):
            if refusal.code == .notInteractive, !isForbidden { _ = try Checked.reason(use.reason) }
            throw DBusError(keychain: refusal)
        }
    }
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
            try await keychain.run(as: use.peer) { keychain, caller throws(KeychainError) in
                try keychain.check(password: password, of: id, caller: caller)
            }
            correct = password
            return .correct
        } catch {
            return error.name == .keychainAuthFailed ? .wrong : .failed
        }
    }
}
