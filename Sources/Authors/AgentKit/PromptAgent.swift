public import DBus
public import LocalAuthBus
import Sealing

/// A prompt agent, which passes the service's prompts to a view and registers again after each
/// restart of the service.
@BusActor public final class PromptAgent {
    public enum Scope: Hashable, Sendable {
        case session
        /// A process and its children; the process must belong to the agent's user.
        case process(UInt32)
    }

    public enum State: Hashable, Sendable {
        /// The service's bus name has no owner; the agent registers when an owner appears.
        case serviceAway
        case registered(session: String)
        /// The service refused the registration; the agent retries only after a restart of the
        /// service.
        case refused(DBusError)
    }

    /// The maximum number of simultaneous prompts.
    public static let promptLimit = 4

    private static let path = ObjectPath(trusted: "/org/localauth/Agent1")

    public private(set) var state = State.serviceAway

    /// The interval at which the agent asks the bus for the service's owner: a NameOwnerChanged
    /// signal may be lost.
    package var interval = Duration.seconds(60)

    private let connection: Connection
    private let scope: Scope
    private let isFallback: Bool
    private let view: any PromptView
    private let changed: @BusActor (State) -> Void
    private var owner: String?
    /// The service's key for app passwords; nil until the agent has read it.
    private var sealingKey: RecipientKey?
    private var watch: EventSource?
    private var question: EventSource?
    private var prompts: [String: Prompt] = [:]

    /// Describes an agent; ``start()`` registers it.
    /// - Parameters:
    ///   - connection: carries at most one agent.
    ///   - scope: the processes that the agent serves.
    ///   - isFallback: true for an agent that the service uses only while no other agent is
    ///     registered.
    ///   - view: shows the prompts.
    ///   - changed: called for every new `state`, including the first.
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

    /// Exports the agent's object, and registers it whenever the service is present.
    public func start() {
        guard watch == nil else { return }
        connection.export(Self.path, [Agent1Interface(self)])
        watch = connection.watchName(Authentication1.busName) { [weak self] owner in
            self?.ownerChanged(owner)
        }
        askLater()
    }

    /// Ends every prompt and unregisters.
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
                // The interval timer repeats this query.
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

    /// Retries a registration refused for lack of room, because a neighbour's flood passes; without
    /// a retry the agent stays unregistered until the service restarts.
    private func register(at new: String, triesLeft: Int = 5) async {
        var options: [String: Variant] = ["fallback": .bool(isFallback)]
        if case .process(let pid) = scope { options["process"] = .uint32(pid) }
        do {
            // Resolve the service's credentials early, while no prompt waits for them.
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

    /// The service's public key, read once for each owner.
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

    /// Ends a prompt that is unknown to the service.
    func forget(_ prompt: Prompt) { end(prompt.handle, .system) }

    /// Makes the view ask for the secret anew, and checks whether the service has a new owner.
    func askAgain(_ prompt: Prompt) {
        view.update(prompt, .secretRefused)
        askNow()
    }

    private func finish(_ prompt: Prompt, _ outcome: PromptOutcome) {
        prompt.end()
        view.end(prompt, outcome)
    }

    /// Reports a delay anew each second, until another event concerns the password or a match
    /// awaits confirmation.
    ///
    /// A sensor's message stays on screen for a while.
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

    /// Accepts calls only from the service's own connection, because any process may call the path.
    private func admit(_ call: IncomingCall) throws(DBusError) {
        guard call.peer.name == owner else {
            throw DBusError(.accessDenied, "Only the authentication service may call an agent.")
        }
    }
}

extension PromptAgent: Agent1Service {
    /// Shows a prompt.
    ///
    /// - Throws: AccessDenied if the caller is not the service, InvalidArgs, LimitsExceeded, or the
    ///   view's error.
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

    /// Forwards progress to the view; unknown kinds and unknown prompts are ignored.
    ///
    /// - Throws: AccessDenied if the caller is not the service, InvalidArgs for a malformed
    ///   `passcode-key`.
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

    /// Ends a prompt; an unknown outcome counts as `system`.
    ///
    /// - Throws: AccessDenied if the caller is not the service.
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
