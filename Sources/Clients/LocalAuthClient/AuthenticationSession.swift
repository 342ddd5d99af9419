package import DBus
internal import LocalAuthBus

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

    package init(_ connection: ServiceConnection) {
        context = RemoteContext(connection)
    }

    /// Asks whether a policy could be evaluated now; nobody is prompted.
    ///
    /// - Throws: why it could not.
    @BusActor
    public func check(_ policy: AuthenticationPolicy) async throws(AuthenticationError) {
        let context = context
        let refusal: AuthenticationError? = await context.connection.answered(orElse: .silent) {
            do throws(AuthenticationError) {
                let answer = try await context.canEvaluate(policy.rawValue)
                guard !answer.available else { return nil }
                return AuthenticationError(.init(rawValue: Int(answer.code)), answer.message)
            } catch {
                return error
            }
        }
        if let refusal { throw refusal }
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
    ) -> AuthenticationEvaluation {
        AuthenticationEvaluation(self, options) { proxy throws(AuthenticationError) in
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
    ) -> AuthenticationEvaluation {
        AuthenticationEvaluation(self, options) { proxy throws(AuthenticationError) in
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
