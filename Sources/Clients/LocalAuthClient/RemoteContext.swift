package import DBus
package import LocalAuthBus

/// A context object of the service, created when it is first needed, and again after the service
/// was restarted: a restart loses the context, and with it a success and the credentials.
@BusActor
package final class RemoteContext {
    let connection: ServiceConnection
    private var proxy: Context1Proxy?
    private var making: Task<Result<Context1Proxy, AuthenticationError>, Never>?
    private var isInvalid = false
    /// What the object was told of prompts; nil: nobody knows.
    private var told: PromptTexts?
    /// How many tell it now, and whether what they tell was mixed.
    private var (tellings, isMixed) = (0, false)
    /// What else ends with the context.
    private var endings: [Int: @BusActor () -> Void] = [:]
    private var lastEnding = 0
    /// The biometric policy that was found to be possible before there was an object.
    private var checked: UInt32?
    /// The enrolment then, once somebody has asked for it.
    private var checkedState: [UInt8]?

    package nonisolated init(_ connection: ServiceConnection) {
        self.connection = connection
    }

    deinit {
        guard let proxy else { return }
        onLoop { proxy.sendRelease() }
    }

    /// The object on the service that runs now.
    ///
    /// - Throws: `biometryNotAvailable` without a service; `appCancel` when the context is
    ///   invalidated meanwhile.
    package func current() async throws(AuthenticationError) -> Context1Proxy {
        try await current(on: try await connection.current())
    }

    /// The object on a service that was just found.
    private func current(
        on service: RemoteService
    ) async throws(AuthenticationError) -> Context1Proxy {
        if let proxy = object(on: service) { return proxy }
        // Calls at the same time wait for the same object.
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

    /// The object that this service has; nil: it has none.
    ///
    /// A bus that was restarted gives the names of before, on another connection.
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
            // What was asked before counts on the object, too.
            if let policy = checked { try await Self.ask(made, policy) }
            (checked, checkedState) = (nil, nil)
            (proxy, told) = (made, PromptTexts())
            return .success(made)
        } catch {
            return .failure(AuthenticationError(error))
        }
    }

    /// Asks a new object, which goes again when it can't say: nobody would know of it.
    private static func ask(_ made: Context1Proxy, _ policy: UInt32) async throws(DBusError) {
        do throws(DBusError) {
            _ = try await made.canEvaluate(policy: policy)
        } catch {
            made.sendRelease()
            throw error
        }
    }

    /// The object if there is one, and the service that has it still runs.
    package func existing() async -> Context1Proxy? {
        guard proxy != nil, let service = try? await connection.current() else { return nil }
        return object(on: service)
    }

    /// Asks whether a policy could be evaluated; that takes no object of the service's.
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
            let answer = try await RemoteService.ask { () throws(DBusError) in
                try await service.manager.canEvaluate(policy: policy)
            }
            if isBiometric { (checked, checkedState) = (answer.available ? policy : nil, nil) }
            return answer
        } catch {
            // Nothing runs that could end.
            throw error.name == .noReply || error.name == .disconnected
                ? .noService : AuthenticationError(error)
        }
    }

    /// What represents the enrolment of the last evaluation, or of the last question whether there
    /// could be one; empty: neither.
    package func domainState() async -> [UInt8] {
        if let proxy = await existing() {
            return (try? await proxy.evaluatedPolicyDomainState()) ?? []
        }
        guard let policy = checked else { return [] }
        if let checkedState { return checkedState }
        // An object for this one question: a program may have a thousand contexts.
        let other = RemoteContext(connection)
        defer { withExtendedLifetime(other) {} }
        guard let proxy = try? await other.current(),
            (try? await proxy.canEvaluate(policy: policy)) != nil,
            let state = try? await proxy.evaluatedPolicyDomainState()
        else { return [] }
        checkedState = state
        return state
    }

    /// Tells the service what prompts look like that others start on this context; what it knows
    /// is not said again.
    ///
    /// Only what no call says for itself: an evaluation that leaves something out takes what the
    /// object was told, also where it is the default again. These prompts have no fallback button,
    /// and a call that may not prompt says so.
    ///
    /// The service is one that was just found: it isn't looked for again.
    ///
    /// - Returns: The object that knows it.
    /// - Throws: as ``current()``.
    package func describePrompts(
        _ options: AuthenticationOptions,
        reason: String,
        on service: RemoteService
    ) async throws(AuthenticationError) -> ObjectPath {
        let proxy = try await current(on: service)
        let texts = PromptTexts(cancelTitle: options.cancelTitle ?? "", reason: reason)
        let known = told
        guard known != texts else { return proxy.path }
        // Whatever fails on the way, or is said by two at once: all is said again.
        told = nil
        tellings += 1
        defer { tellings -= 1 }
        isMixed = tellings > 1
        do throws(DBusError) {
            if texts.cancelTitle != known?.cancelTitle {
                try await proxy.setLocalizedCancelTitle(texts.cancelTitle)
            }
            if texts.reason != known?.reason { try await proxy.setLocalizedReason(texts.reason) }
        } catch {
            throw AuthenticationError(error)
        }
        if proxy.path == self.proxy?.path, !isMixed { told = texts }
        return proxy.path
    }

    /// What a context says at every prompt that others start on it.
    private struct PromptTexts: Equatable {
        var cancelTitle = ""
        var reason = ""
    }

    /// Ends what runs and all that comes later.
    package func invalidate() {
        isInvalid = true
        proxy?.sendInvalidate()
        for ending in endings.values { ending() }
    }

    /// Calls `body` when the context is invalidated.
    ///
    /// - Returns: What ``forget(_:)`` takes.
    func onInvalidation(_ body: @escaping @BusActor () -> Void) -> Int {
        lastEnding += 1
        endings[lastEnding] = body
        if isInvalid { body() }
        return lastEnding
    }

    func forget(_ ending: Int) { endings[ending] = nil }
}
