package import DBus
package import LocalAuthBus

/// A context object of the service.
///
/// The object is created on first use and again after a restart of the service. A restart loses the
/// context with its success and its credentials.
@BusActor
package final class RemoteContext {
    let connection: ServiceConnection
    private var proxy: Context1Proxy?
    private var making: Task<Result<Context1Proxy, AuthenticationError>, Never>?
    private var isInvalid = false
    /// The prompt texts that the service's object has; nil if unknown.
    private var sentTexts: PromptTexts?
    /// The number of running ``describePrompts(_:reason:on:)`` calls, and whether calls overlapped.
    private var (runningUpdates, updatesOverlap) = (0, false)
    /// Callbacks for ``invalidate()``, by token.
    private var invalidationHandlers: [Int: @BusActor () -> Void] = [:]
    private var lastToken = 0
    /// The last available biometric policy, checked before the object existed.
    private var checked: UInt32?
    /// The enrolment at that check; nil until the first request for it.
    private var checkedState: [UInt8]?

    package nonisolated init(_ connection: ServiceConnection) {
        self.connection = connection
    }

    deinit {
        guard let proxy else { return }
        onLoop { proxy.sendRelease() }
    }

    /// Returns the context object of the running service, and creates it if necessary.
    ///
    /// - Throws: `biometryNotAvailable` without a service; `appCancel` if the context is
    ///   invalidated meanwhile.
    package func current() async throws(AuthenticationError) -> Context1Proxy {
        try await current(on: try await connection.current())
    }

    /// Variant of ``current()`` for a service that the caller has just found.
    package func current(
        on service: RemoteService
    ) async throws(AuthenticationError) -> Context1Proxy {
        if let proxy = object(on: service) { return proxy }
        // Concurrent calls wait for the same object.
        let making = self.making ?? make(on: service)
        self.making = making
        let result = await making.value
        if self.making == making { self.making = nil }
        let made = try result.get()
        guard !isInvalid else {
            throw .invalidated
        }
        return made
    }

    /// Returns the path of the known object if it belongs to this service.
    package func existingPath(on service: RemoteService) -> ObjectPath? {
        object(on: service)?.path
    }

    /// Returns the known object if it belongs to this service.
    ///
    /// Comparing the owner is not enough: a restarted bus reuses unique names on another
    /// connection.
    private func object(on service: RemoteService) -> Context1Proxy? {
        guard let proxy, proxy.destination == service.owner, proxy.connection === service.connection
        else { return nil }
        return proxy
    }

    private func make(
        on service: RemoteService
    ) -> Task<Result<Context1Proxy, AuthenticationError>, Never> {
        Task(executorPreference: EventLoop.shared) { await self.create(on: service) }
    }

    private func create(
        on service: RemoteService
    ) async -> Result<Context1Proxy, AuthenticationError> {
        do throws(DBusError) {
            let path = try await service.manager.createContext(properties: [:])
            let made = service.context(at: path)
            if isInvalid { made.sendInvalidate() }
            // The object has to know the policy of an earlier check, for its domain state.
            if let policy = checked { try await Self.ask(made, policy) }
            (checked, checkedState) = (nil, nil)
            (proxy, sentTexts) = (made, PromptTexts())
            return .success(made)
        } catch {
            return .failure(AuthenticationError(error))
        }
    }

    /// Checks a policy on a new object, and releases an object that fails.
    private static func ask(_ made: Context1Proxy, _ policy: UInt32) async throws(DBusError) {
        do throws(DBusError) {
            _ = try await made.canEvaluate(policy: policy)
        } catch {
            made.sendRelease()
            throw error
        }
    }

    /// Returns the object if it exists and its service still runs.
    package func existing() async -> Context1Proxy? {
        guard proxy != nil, let service = try? await connection.current() else { return nil }
        return object(on: service)
    }

    /// Checks whether a policy could be evaluated, without creating an object.
    ///
    /// - Throws: `biometryNotAvailable` without a service.
    func canEvaluate(
        _ policy: UInt32
    ) async throws(AuthenticationError) -> (available: Bool, code: Int32, message: String) {
        let service = try await connection.current()
        let isBiometric =
            policy == AuthenticationPolicy.biometrics.rawValue
            || policy == AuthenticationPolicy.biometricsOrCompanion.rawValue
        do throws(DBusError) {
            if let proxy = await existing() { return try await proxy.canEvaluate(policy: policy) }
            let answer = try await RemoteService.retryingReadOnly { () throws(DBusError) in
                try await service.manager.canEvaluate(policy: policy)
            }
            if isBiometric { (checked, checkedState) = (answer.available ? policy : nil, nil) }
            return answer
        } catch {
            // `systemCancel` would be wrong: no evaluation runs.
            throw error.name == .noReply || error.name == .disconnected
                ? .noService : AuthenticationError(error)
        }
    }

    /// The enrolment at the last evaluation or successful check; empty without either.
    package func domainState() async -> [UInt8] {
        if let proxy = await existing() {
            return (try? await proxy.evaluatedPolicyDomainState()) ?? []
        }
        guard let policy = checked else { return [] }
        if let checkedState { return checkedState }
        // A program may hold a thousand contexts, so this query uses a temporary object.
        let other = RemoteContext(connection)
        defer { withExtendedLifetime(other) {} }
        guard let proxy = try? await other.current(),
            (try? await proxy.canEvaluate(policy: policy)) != nil,
            let state = try? await proxy.evaluatedPolicyDomainState()
        else { return [] }
        checkedState = state
        return state
    }

    /// Sends the service the texts for prompts that other calls open on this context.
    ///
    /// Only texts that differ from the known state are sent. The texts have to be sent again when
    /// they return to their defaults, because an evaluation inherits every text that it omits.
    /// Fallback titles don't matter here, and a call that forbids prompts carries its own option.
    ///
    /// The caller has just looked the service up, so there is no second lookup.
    ///
    /// - Returns: The path of the context object.
    /// - Throws: The errors of ``current()``.
    package func describePrompts(
        _ options: AuthenticationOptions,
        reason: String,
        on service: RemoteService
    ) async throws(AuthenticationError) -> ObjectPath {
        let proxy = try await current(on: service)
        let texts = PromptTexts(cancelTitle: options.cancelTitle ?? "", reason: reason)
        let known = sentTexts
        guard known != texts else { return proxy.path }
        // After an error or overlapping calls the object's state is unknown: send both texts next
        // time.
        sentTexts = nil
        runningUpdates += 1
        defer { runningUpdates -= 1 }
        updatesOverlap = runningUpdates > 1
        do throws(DBusError) {
            if texts.cancelTitle != known?.cancelTitle {
                try await proxy.setLocalizedCancelTitle(texts.cancelTitle)
            }
            if texts.reason != known?.reason { try await proxy.setLocalizedReason(texts.reason) }
        } catch {
            throw AuthenticationError(error)
        }
        if proxy.path == self.proxy?.path, !updatesOverlap { sentTexts = texts }
        return proxy.path
    }

    /// The texts of prompts that other calls open on the context.
    private struct PromptTexts: Equatable {
        var cancelTitle = ""
        var reason = ""
    }

    /// Ends running evaluations and refuses later calls.
    package func invalidate() {
        isInvalid = true
        proxy?.sendInvalidate()
        for ending in invalidationHandlers.values { ending() }
    }

    /// Calls `body` when the context is invalidated, at once if it already is.
    ///
    /// - Returns: A token for ``forget(_:)``.
    func onInvalidation(_ body: @escaping @BusActor () -> Void) -> Int {
        lastToken += 1
        invalidationHandlers[lastToken] = body
        if isInvalid { body() }
        return lastToken
    }

    func forget(_ ending: Int) { invalidationHandlers[ending] = nil }
}
