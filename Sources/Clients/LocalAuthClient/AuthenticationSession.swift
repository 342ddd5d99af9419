package import DBus
internal import LocalAuthBus

/// A series of evaluations that share their success.
///
/// The next evaluation that an earlier success satisfies needs no prompt. Releasing the session
/// discards the success. Running evaluations keep the session alive.
public final class AuthenticationSession: Sendable {
    /// The service's context object, shared with other parts of the client.
    package let context: RemoteContext

    /// Creates a session with the service on the system bus, or on the session bus without it.
    ///
    /// The call sends nothing.
    public convenience init() {
        self.init(.shared)
    }

    package init(_ connection: ServiceConnection) {
        context = RemoteContext(connection)
    }

    /// Checks whether a policy could be evaluated now; shows no prompt.
    ///
    /// - Throws: The reason why the policy can't be evaluated.
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

    /// Starts to authenticate the user.
    ///
    /// - Parameters:
    ///   - policy: The required proof.
    ///   - reason: The purpose, shown after the app's name; not empty, at most 64 KiB.
    ///   - options: Deviations from the default evaluation.
    /// - Returns: The running evaluation.
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

    /// Starts to authenticate the user for one operation on an object with an access control.
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

    /// Authenticates the user.
    ///
    /// Canceling the task invalidates the session.
    ///
    /// - Throws: The reason why the user was not authenticated.
    public func authenticate(
        _ policy: AuthenticationPolicy,
        reason: String,
        options: AuthenticationOptions = AuthenticationOptions()
    ) async throws(AuthenticationError) -> AuthenticationSuccess {
        try await evaluation(of: policy, reason: reason, options: options).value
    }

    /// Ends running evaluations with `appCancel` and later calls with `invalidContext`.
    ///
    /// Further calls have no effect.
    public func invalidate() {
        let context = context
        onLoop { context.invalidate() }
    }
}
