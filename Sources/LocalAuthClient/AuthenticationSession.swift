package import DBus
package import LocalAuthBus

/// One or more evaluations that belong together.
///
/// A success stays with its session: the next evaluation that it satisfies needs no prompt. Letting
/// go of the session forgets the success; evaluations that run keep it alive.
public final class AuthenticationSession: Sendable {
    /// The context behind it, for the parts of the client that share one.
    package let context: RemoteContext

    /// A session with the service on the system bus, or else on the bus of the user's session.
    ///
    /// Nothing is sent yet.
    public convenience init() {
        self.init(.shared)
    }

    package init(_ service: Service) {
        context = RemoteContext(service)
    }

    /// Asks whether a policy could be evaluated now; nobody is prompted.
    ///
    /// - Throws: why it could not.
    @BusActor
    public func check(_ policy: AuthenticationPolicy) async throws(AuthenticationError) {
        let proxy = try await context.current()
        let answer: (available: Bool, code: Int32, message: String)
        do throws(DBusError) {
            answer = try await proxy.canEvaluate(policy: policy.rawValue)
        } catch {
            throw AuthenticationError(error)
        }
        guard !answer.available else { return }
        let code = AuthenticationError.Code(rawValue: Int(answer.code))
        throw AuthenticationError(code, answer.message)
    }

    /// Starts to authenticate the person.
    ///
    /// - Parameters:
    ///   - policy: What has to be proved.
    ///   - reason: What for, shown after the app's name; not empty, at most 64 KiB.
    ///   - options: How it differs from the ordinary evaluation.
    /// - Returns: The evaluation, which runs already.
    public func evaluation(
        of policy: AuthenticationPolicy,
        reason: String,
        options: AuthenticationOptions = AuthenticationOptions()
    ) -> Evaluation {
        Evaluation(self) { proxy throws(AuthenticationError) in
            let wire = try options.wire()
            do throws(DBusError) {
                return try proxy.evaluateStream(
                    policy: policy.rawValue,
                    reason: reason,
                    options: wire
                )
            } catch {
                throw AuthenticationError(error)
            }
        }
    }

    /// Starts to authenticate the person for one operation on what an access control guards.
    package func evaluation(
        of accessControl: [String: Variant],
        operation: UInt32,
        reason: String,
        options: AuthenticationOptions
    ) -> Evaluation {
        Evaluation(self) { proxy throws(AuthenticationError) in
            let wire = try options.wire()
            do throws(DBusError) {
                return try proxy.evaluateAccessControlStream(
                    accessControl: accessControl,
                    operation: operation,
                    reason: reason,
                    options: wire
                )
            } catch {
                throw AuthenticationError(error)
            }
        }
    }

    /// Authenticates the person.
    ///
    /// Canceling the task invalidates the session.
    ///
    /// - Throws: why the person was not authenticated.
    public func authenticate(
        _ policy: AuthenticationPolicy,
        reason: String,
        options: AuthenticationOptions = AuthenticationOptions()
    ) async throws(AuthenticationError) -> AuthenticationSuccess {
        try await evaluation(of: policy, reason: reason, options: options).value
    }

    /// Ends what runs with `appCancel`, and all that comes later with `invalidContext`.
    ///
    /// Calling it again does nothing.
    public func invalidate() {
        let context = context
        onLoop { context.invalidate() }
    }
}

/// One evaluation: progress while it runs, then the verdict.
public final class Evaluation: Sendable {
    /// Starts it on the context on which it is to run.
    package typealias Start =
        @BusActor @Sendable (Context1Proxy) async throws(AuthenticationError)
        -> StreamingCall<[String: Variant]>

    /// What happens until the verdict; at most 1024 wait to be read, the oldest go first.
    public let events: AsyncStream<AuthenticationEvent>
    private let task: Task<Result<AuthenticationSuccess, AuthenticationError>, Never>
    private let session: AuthenticationSession

    package init(_ session: AuthenticationSession, start: @escaping Start) {
        self.session = session
        let (events, feed) = AsyncStream.makeStream(
            of: AuthenticationEvent.self,
            bufferingPolicy: .bufferingNewest(1024)
        )
        self.events = events
        task = Task(executorPreference: EventLoop.shared) {
            let result = await Self.run(session, start, feed)
            feed.finish()
            return result
        }
    }

    @BusActor
    private static func run(
        _ session: AuthenticationSession,
        _ start: Start,
        _ feed: AsyncStream<AuthenticationEvent>.Continuation
    ) async -> Result<AuthenticationSuccess, AuthenticationError> {
        do throws(AuthenticationError) {
            let call = try await start(try await session.context.current())
            for await event in call.events { feed.yield(AuthenticationEvent(event)) }
            return .success(try await verdict(of: call))
        } catch {
            return .failure(error)
        }
    }

    @BusActor
    private static func verdict(
        of call: StreamingCall<[String: Variant]>
    ) async throws(AuthenticationError) -> AuthenticationSuccess {
        do throws(DBusError) {
            return AuthenticationSuccess(try await call.reply())
        } catch {
            throw AuthenticationError(error)
        }
    }

    /// Calls `body` once on the loop when the verdict is there: nil for a success.
    package func whenOver(_ body: @escaping @Sendable (AuthenticationError?) -> Void) {
        let task = task
        onLoop {
            switch await task.value {
            case .success: body(nil)
            case .failure(let error): body(error)
            }
        }
    }

    /// Waits for the verdict.
    ///
    /// Canceling the task that waits invalidates the session.
    ///
    /// - Throws: why the person was not authenticated.
    public var value: AuthenticationSuccess {
        get async throws(AuthenticationError) {
            let result = await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                session.invalidate()
            }
            return try result.get()
        }
    }
}
