public import DBus
import LocalAuthBus
import Sealing

@BusActor public final class Prompt {
    public let handle: String
    public let details: PromptDetails
    /// Whether the prompt is over; later submissions are ignored.
    public private(set) var hasEnded = false

    /// Whether the prompt asks for the app's own password instead of the login password.
    public private(set) var asksApplicationPassword: Bool

    /// The timer that reports the remaining delay each second.
    var countdown: (next: EventSource, end: ContinuousClock.Instant)?
    /// The verifier's key; nil if the prompt takes no login password.
    private var passcodeKey: RecipientKey?
    /// Whether a submission is still unanswered by the service.
    private var isChecking = false
    /// If a reply is lost, the service ends the prompt with End at its deadline.
    private let service: Authentication1Proxy
    private weak var agent: PromptAgent?
    private var question: EventSource?
    /// The time that the service has to end the prompt after a cancel.
    private static let patience = Duration.seconds(5)

    /// Decodes the details of a Begin call; answers go to `service`.
    /// - Throws: InvalidArgs for a `passcode-key` that is no key.
    init(
        handle: String,
        details: [String: Variant],
        service: Authentication1Proxy,
        agent: PromptAgent
    ) throws(DBusError) {
        self.details = try PromptDetails(details, lookUp: CallerProgram.init(pid:))
        asksApplicationPassword = self.details.stage == .applicationPassword
        passcodeKey = try Self.passcodeKey(in: details)
        self.handle = handle
        self.service = service
        self.agent = agent
    }

    private static func passcodeKey(
        in details: [String: Variant]
    ) throws(DBusError) -> RecipientKey? {
        guard let value = details["passcode-key"] else { return nil }
        guard let key = value.asBytes.flatMap({ RecipientKey($0) }) else {
            throw DBusError(.invalidArgs, "“passcode-key” is no key.")
        }
        return key
    }

    public func cancel() {
        guard !hasEnded else { return }
        service.sendSubmitCancel(prompt: handle)
        question?.cancel()
        question = EventLoop.shared.schedule(after: Self.patience) { [weak self] in
            onLoop { await self?.askWhetherItIsThere() }
        }
    }

    /// Asks the service whether the prompt still exists: if End is lost, the user cannot close the
    /// prompt.
    private func askWhetherItIsThere() async {
        guard !hasEnded else { return }
        do throws(DBusError) {
            try await service.submitCancel(prompt: handle)
        } catch {
            if error.name == .accessDenied { agent?.forget(self) }
        }
    }

    /// Takes the fallback; valid only after `fallbackAvailable`.
    public func fallBack() { if !hasEnded { service.sendSubmitFallback(prompt: handle) } }

    /// Confirms a match; valid only after `confirmationRequired`.
    public func confirm() { if !hasEnded { service.sendSubmitConfirm(prompt: handle) } }

    /// Applies a progress report before the view receives it.
    /// - Throws: InvalidArgs for a `passcode-key` that is no key.
    func take(_ progress: PromptProgress, _ detail: [String: Variant]) throws(DBusError) {
        switch progress {
        case .passcodeRequired(let cause, _):
            passcodeKey = try Self.passcodeKey(in: detail) ?? passcodeKey
            // A password under check still gets its verdict.
            if isChecking, !asksApplicationPassword, !PromptState.asksAnew(cause) { return }
            asksApplicationPassword = false
        case .applicationPasswordRequired: asksApplicationPassword = true
        case .passcodeRejected, .passcodeDelayed, .success: break
        default: return
        }
        isChecking = false
    }

    /// Seals and sends the typed secret: a login password to the verifier, an app's password to the
    /// service.
    ///
    /// If the service refuses it, the view gets ``PromptProgress/secretRefused``.
    /// - Throws: InvalidArgs for an empty secret, Failed if sealing fails.
    public func submit(passcode: RawSpan) throws(DBusError) {
        guard !hasEnded else { return }
        guard !passcode.isEmpty else { throw DBusError(.invalidArgs, "The passcode is empty.") }
        let secret = SecretBytes(passcode.withUnsafeBytes { Array($0) })
        if asksApplicationPassword {
            send { [self] () throws(DBusError) in try await submit(password: secret) }
        } else {
            guard let sealed = passcodeKey?.seal(secret, for: .passcode, of: handle) else {
                throw DBusError(.failed, "There is no key to seal the passcode with.")
            }
            send { [self] () throws(DBusError) in
                try await service.submitPasscode(prompt: handle, sealed: sealed)
            }
        }
    }

    private func submit(password: SecretBytes) async throws(DBusError) {
        let holder = service.connection.uniqueName
        guard let key = try await agent?.sealingKey(of: service.destination),
            let sealed = key.seal(password, for: .keychain, of: holder)
        else { throw DBusError(.failed, "There is no key to seal the password with.") }
        guard !hasEnded else { return }
        try await service.submitPassword(
            prompt: handle,
            password: sealed,
            options: ["sealed": .bool(true)]
        )
    }

    private func send(_ call: @escaping @BusActor @Sendable () async throws(DBusError) -> Void) {
        isChecking = true
        onLoop { [self] in
            do throws(DBusError) { try await call() } catch { fail(error) }
        }
    }

    /// Asks for the secret anew after a refused submission, unless the service has reported
    /// progress since.
    private func fail(_ error: DBusError) {
        guard !hasEnded, isChecking else { return }
        isChecking = false
        if error.name == .accessDenied {
            agent?.forget(self)
        } else {
            agent?.askAgain(self)
        }
    }

    func end() {
        hasEnded = true
        question?.cancel()
    }
}
