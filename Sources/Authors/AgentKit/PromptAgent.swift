public import DBus
public import LocalAuthBus
import Sealing

/// A prompt agent: registers at the service, again whenever the service comes back, and hands the
/// prompts to a view.
@BusActor public final class PromptAgent {
    /// Whom an agent serves.
    public enum Scope: Hashable, Sendable {
        /// Every process of the session.
        case session
        /// One process and its children; it must belong to the same user.
        case process(UInt32)
    }

    /// Where the registration stands.
    public enum State: Hashable, Sendable {
        /// Nobody owns the service's name; the agent registers as soon as the service is back.
        case serviceAway
        /// The service sends its prompts here.
        case registered(session: String)
        /// The service refused the registration. It is not retried until the service comes back.
        case refused(DBusError)
    }

    /// The most prompts that are held at once.
    public static let promptLimit = 4

    private static let path = ObjectPath(trusted: "/org/localauth/Agent1")

    /// Where the registration stands.
    public private(set) var state = State.serviceAway

    /// How often the bus is asked who the service is: that it is another one now may have been
    /// said, and lost.
    package var interval = Duration.seconds(60)

    private let connection: Connection
    private let scope: Scope
    private let isFallback: Bool
    private let view: any PromptView
    private let changed: @BusActor (State) -> Void
    private var owner: String?
    /// The service's key for the passwords of apps; nil: not read yet.
    private var sealingKey: RecipientKey?
    private var watch: EventSource?
    private var question: EventSource?
    private var prompts: [String: Prompt] = [:]

    /// An agent that isn't registered yet.
    /// - Parameters:
    ///   - connection: one agent on each connection.
    ///   - scope: whom it serves.
    ///   - isFallback: used only while no other agent is there.
    ///   - view: shows the prompts.
    ///   - changed: called with every change of `state`, the first included.
    public init(
        _ connection: Connection,
        serving scope: Scope,
        isFallback: Bool = false,
        view: any PromptView,
        changed: @escaping @BusActor (State) -> Void
    ) {
        self.connection = connection
        self.scope = scope
        self.isFallback = isFallback
        self.view = view
        self.changed = changed
    }

    /// Exports the agent and registers it as soon as the service is there.
    public func start() {
        guard watch == nil else { return }
        connection.export(Self.path, [Agent1Interface(self)])
        watch = connection.watchName(Authentication1.busName) { [weak self] owner in
            self?.ownerChanged(owner)
        }
        askLater()
    }

    /// Takes every prompt down and unregisters.
    public func stop() async {
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        question?.cancel()
        endAll(.system)
        connection.unexport(Self.path)
        guard let owner else { return }
        self.owner = nil
        // The registration ends with the connection in any case.
        try? await proxy(owner).unregisterAgent(agent: Self.path, timeout: .seconds(1))
    }

    private func proxy(_ owner: String) -> Authentication1Proxy {
        Authentication1Proxy(connection, destination: owner, path: Authentication1.path)
    }

    private func askLater() {
        question = EventLoop.shared.schedule(after: interval) { [weak self] in
            guard let self else { return }
            askLater()
            askNow()
        }
    }

    private func askNow() {
        onLoop { [weak self, connection] in
            do throws(DBusError) {
                let new = try await connection.nameOwner(Authentication1.busName)
                guard let self, watch != nil, new != owner else { return }
                ownerChanged(new)
            } catch {
                // It is asked again.
            }
        }
    }

    private func ownerChanged(_ new: String?) {
        guard new != owner else {
            if new == nil { enter(.serviceAway) }
            return
        }
        endAll(.system)
        owner = new
        sealingKey = nil
        guard let new else { return enter(.serviceAway) }
        onLoop { [weak self] in await self?.register(at: new) }
    }

    /// Without room it is tried again soon: a neighbour's flood ends, and nobody could be asked
    /// until the service comes back.
    private func register(at new: String, triesLeft: Int = 5) async {
        var options: [String: Variant] = ["fallback": .bool(isFallback)]
        if case .process(let pid) = scope { options["process"] = .uint32(pid) }
        do {
            // Who calls is looked up while nobody waits for a prompt.
            onLoop { [connection] in _ = try? await connection.peer(named: new) }
            let session = try await proxy(new).registerAgent(agent: Self.path, options: options)
            guard owner == new else { return }
            enter(.registered(session: session))
            _ = try? await sealingKey(of: new)
        } catch {
            guard owner == new else { return }
            guard error.name == .limitsExceeded, triesLeft > 0 else {
                return enter(.refused(error))
            }
            _ = EventLoop.shared.schedule(after: min(interval, .seconds(1))) { [weak self] in
                onLoop { [weak self] in
                    guard let self, owner == new else { return }
                    await register(at: new, triesLeft: triesLeft - 1)
                }
            }
        }
    }

    /// The key that a service published, read once.
    /// - Throws: The service's error, and Failed for a value that is no key.
    func sealingKey(of service: String) async throws(DBusError) -> RecipientKey {
        if service == owner, let sealingKey { return sealingKey }
        let keychain = Keychain1Proxy(connection, destination: service, path: Keychain1.path)
        guard let key = RecipientKey(try await keychain.sealingKey()) else {
            throw DBusError(.failed, "The service has no key for passwords.")
        }
        if service == owner { sealingKey = key }
        return key
    }

    private func enter(_ new: State) {
        state = new
        changed(new)
    }

    private func endAll(_ outcome: PromptOutcome) {
        let ended = prompts.values
        prompts = [:]
        for prompt in ended { finish(prompt, outcome) }
    }

    private func end(_ handle: String, _ outcome: PromptOutcome) {
        if let prompt = prompts.removeValue(forKey: handle) { finish(prompt, outcome) }
    }

    /// Takes a prompt down that the service does not know.
    func forget(_ prompt: Prompt) { end(prompt.handle, .system) }

    /// Makes the view ask again, and checks whether the service has a new owner.
    func askAgain(_ prompt: Prompt) {
        view.update(prompt, .secretRefused)
        askNow()
    }

    private func finish(_ prompt: Prompt, _ outcome: PromptOutcome) {
        prompt.end()
        view.end(prompt, outcome)
    }

    /// A delay is told anew each second, until something else is said of the passcode, or a match
    /// waits to be confirmed; what a sensor says is left to be read for a while.
    private func count(down progress: PromptProgress, _ prompt: Prompt) {
        switch progress {
        case .passcodeDelayed(let seconds):
            tick(prompt, until: .now + .seconds(seconds), after: .seconds(1))
        case .passcodeRequired, .passcodeRejected, .applicationPasswordRequired, .success,
            .confirmationRequired:
            prompt.countdown?.next.cancel()
            prompt.countdown = nil
        default:
            guard let end = prompt.countdown?.end else { return }
            tick(prompt, until: end, after: .seconds(5))
        }
    }

    private func tick(
        _ prompt: Prompt,
        until end: ContinuousClock.Instant,
        after pause: Duration
    ) {
        prompt.countdown?.next.cancel()
        let next = EventLoop.shared.schedule(after: pause) { [weak self] in
            prompt.countdown = nil
            let left = (end - .now) / .seconds(1)
            guard let self, !prompt.hasEnded, left > 0 else { return }
            view.update(prompt, .passcodeDelayed(seconds: Int(left.rounded(.up))))
            tick(prompt, until: end, after: .seconds(1))
        }
        prompt.countdown = (next, end)
    }

    /// Only the service's own connection is listened to, whoever else knows the path.
    private func admit(_ call: IncomingCall) throws(DBusError) {
        guard call.peer.name == owner else {
            throw DBusError(.accessDenied, "Only the authentication service may call an agent.")
        }
    }
}

extension PromptAgent: Agent1Service {
    /// Shows a prompt.
    /// - Throws: AccessDenied to others than the service, InvalidArgs, LimitsExceeded, or the
    ///   view's reason.
    public func begin(
        prompt handle: String,
        details: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        try admit(call)
        guard !handle.isEmpty, handle.utf8.count <= 128, prompts[handle] == nil else {
            throw DBusError(.invalidArgs, "The prompt's handle is empty, too long or in use.")
        }
        guard prompts.count < Self.promptLimit else {
            throw DBusError(.limitsExceeded, "Too many prompts at once.")
        }
        let prompt = try Prompt(
            handle: handle,
            details: details,
            service: proxy(call.peer.name),
            agent: self
        )
        try view.begin(prompt)
        prompts[handle] = prompt
        return .now(())
    }

    /// Passes on what happened; unknown kinds and unknown prompts are ignored.
    /// - Throws: AccessDenied to others than the service, InvalidArgs for a `passcode-key` that is
    ///   no key.
    public func update(
        prompt handle: String,
        kind: String,
        detail: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        try admit(call)
        if let prompt = prompts[handle],
            let progress = PromptProgress(kind: kind, detail: detail)
        {
            try prompt.take(progress, detail)
            view.update(prompt, progress)
            count(down: progress, prompt)
        }
        return .now(())
    }

    /// Takes a prompt down; an unknown outcome counts as `system`.
    /// - Throws: AccessDenied to others than the service.
    public func end(
        prompt handle: String,
        outcome: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        try admit(call)
        end(handle, PromptOutcome(rawValue: outcome) ?? .system)
        return .now(())
    }
}
