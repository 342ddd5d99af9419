package import Contract

/// A success stays with its context for a while (R33).
extension AuthEngine {
    /// Whether `Invalidate` was called on the context.
    package func isInvalid(_ context: ContextID) -> Bool {
        contexts[context]?.isInvalid == true
    }

    /// A success of the context that counts for such a request at that moment; nil: it has none.
    ///
    /// Every success is strong enough without `minimumStrength`, one by passcode always. One by
    /// biometry counts only while it is known what the user has enrolled (L11b).
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

    /// What the user proved in this context that counts for such an operation.
    ///
    /// A success of a policy counts for every operation, one of an access control for its own.
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

    /// How long ago the user gave a passcode in this context; nil: not in this context's life.
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

    /// One of each mechanism, strength and operation is enough.
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

    /// How long the caller wants a success of its context to stay; the settings bound it.
    mutating func successesLast(_ lifetime: Duration, in context: ContextID, of client: ClientID) {
        contexts[context, default: Context(client: client)].lifetime = lifetime
    }

    /// Who was there has gone: nothing that was proved in the session is worth anything now; nil:
    /// in any.
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
    /// What it proves by itself; what rests on an earlier proof proves nothing new.
    var factor: Factor? {
        switch mechanism {
        case .biometry: .biometry
        case .companion: .companion
        case .passcode: .passcode
        case .reuse, .context, .applicationPassword: nil
        }
    }
}
