package import Contract

/// Contexts keep a success for a limited time (R33).
extension AuthEngine {
    package func isInvalid(_ context: ContextID) -> Bool {
        contexts[context]?.isInvalid == true
    }

    /// Whether a person proved their presence in this context at any time.
    package func hasSuccess(_ context: ContextID) -> Bool {
        contexts[context]?.successes.isEmpty == false
    }

    /// Returns a success of the context that satisfies this policy at that moment, or nil.
    ///
    /// Without `minimumStrength` every success is strong enough. A success by password always is. A
    /// biometric success counts only while the user's enrolment is known (L11b).
    package func success(
        of context: ContextID,
        for policy: Policy,
        uid: UInt32,
        minimumStrength: Strength? = nil,
        isEnrolmentKnown: Bool,
        at moment: Instant
    ) -> Grant? {
        guard let known = contexts[context], !known.isInvalid else { return nil }
        return known.successes.last { success in
            let grant = success.grant
            return success.operation == nil
                && counts(success, of: uid, in: known, isEnrolmentKnown, at: moment)
                && grant.factor.map(policy.factors.contains) == true
                && (grant.strength ?? .strong) >= (minimumStrength ?? .convenience)
        }?
        .grant
    }

    /// Returns the successes of this context that count for this operation.
    ///
    /// A success of a policy counts for every operation. A success of an access control counts only
    /// for its own operation.
    func successes(
        of context: ContextID,
        for operation: AccessOperation,
        uid: UInt32,
        minimumStrength: Strength?,
        isEnrolmentKnown: Bool
    ) -> [Grant] {
        guard let known = contexts[context], !known.isInvalid else { return [] }
        return known.successes
            .filter { success in
                (success.operation ?? operation) == operation
                    && counts(success, of: uid, in: known, isEnrolmentKnown, at: now)
                    && (success.grant.strength ?? .strong) >= (minimumStrength ?? .convenience)
            }
            .map(\.grant)
    }

    private func counts(
        _ success: Context.Success,
        of uid: UInt32,
        in context: Context,
        _ isEnrolmentKnown: Bool,
        at moment: Instant
    ) -> Bool {
        success.grant.uid == uid && isAlive(success, in: context, at: moment) && !success.isOver
            && (success.grant.type == .none
                || isEnrolmentKnown && lockout(of: uid, at: moment) == nil)
    }

    /// The age of the user's password in this context; nil if the context has none.
    package func passcodeAge(of context: ContextID, uid: UInt32, at moment: Instant) -> Duration? {
        guard let known = contexts[context], !known.isInvalid else { return nil }
        let success = known.successes.last {
            $0.grant.mechanism == .passcode && $0.operation == nil && $0.grant.uid == uid
                && isAlive($0, in: known, at: moment)
        }
        return success.map { moment - $0.moment }
    }

    func success(for request: Request, isEnrolmentKnown: Bool) -> Grant? {
        guard let context = request.context,
            let grant = success(
                of: context,
                for: request.policy,
                uid: request.uid,
                minimumStrength: request.minimumStrength,
                isEnrolmentKnown: isEnrolmentKnown,
                at: now
            )
        else { return nil }
        guard let sensor = grant.sensor, let allowed = request.sensors else { return grant }
        return allowed.contains(sensor) ? grant : nil
    }

    /// Keeps one success for each mechanism, strength and operation.
    mutating func keep(
        _ grant: Grant,
        in context: ContextID,
        for operation: AccessOperation?,
        session: String
    ) {
        contexts[context]?.successes
            .removeAll {
                $0.grant.mechanism == grant.mechanism && $0.grant.strength == grant.strength
                    && $0.operation == operation
            }
        contexts[context]?.successes
            .append(.init(grant: grant, moment: now, operation: operation, session: session))
    }

    /// Sets how long the caller wants successes of its context to stay valid.
    ///
    /// The settings bound it.
    mutating func successesLast(_ lifetime: Duration, in context: ContextID, of client: ClientID) {
        contexts[context, default: Context(client: client)].lifetime = lifetime
    }

    /// Drops every success that was proved in the session; nil means in any session.
    ///
    /// The user may have left, and another person may sit there.
    mutating func dropSuccesses(in session: String?) {
        for id in contexts.keys {
            contexts[id]?.successes.removeAll { session == nil || $0.session == session }
        }
    }

    private func isAlive(
        _ success: Context.Success,
        in context: Context,
        at moment: Instant
    ) -> Bool {
        moment < success.moment + min(context.lifetime, settings.contextLifetime)
    }
}

extension Grant {
    /// The factor that this grant proves by itself.
    ///
    /// A grant that rests on an earlier proof proves none.
    var factor: Factor? {
        switch mechanism {
        case .biometry: .biometry
        case .companion: .companion
        case .passcode: .passcode
        case .reuse, .context, .applicationPassword: nil
        }
    }
}
