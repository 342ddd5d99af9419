/// A success stays with its context for a while (R33).
extension AuthEngine {
    /// Whether `Invalidate` was called on the context.
    public func isInvalid(_ context: ContextID) -> Bool {
        contexts[context]?.isInvalid == true
    }

    /// A success of the context that counts for such a request at that moment; nil: it has none.
    ///
    /// Every success is strong enough without `minimumStrength`, one by passcode always.
    public func success(
        of context: ContextID,
        for policy: Policy,
        uid: UInt32,
        minimumStrength: Strength? = nil,
        at moment: Instant
    ) -> Grant? {
        guard let known = contexts[context], !known.isInvalid else { return nil }
        return known.successes.last { success in
            let grant = success.grant
            return grant.uid == uid && isAlive(success, at: moment) && !success.isOver
                && grant.satisfies(policy)
                && (grant.type == .none || lockout(of: uid, at: moment) == nil)
                && (grant.strength ?? .strong) >= (minimumStrength ?? .convenience)
        }?
        .grant
    }

    /// How long ago the user gave a passcode in this context; nil: not in this context's life.
    public func passcodeAge(of context: ContextID, uid: UInt32, at moment: Instant) -> Duration? {
        guard let known = contexts[context], !known.isInvalid else { return nil }
        let success = known.successes.last {
            $0.grant.mechanism == .passcode && $0.grant.uid == uid && isAlive($0, at: moment)
        }
        return success.map { moment - $0.moment }
    }

    func success(for request: Request) -> Grant? {
        guard let context = request.context,
            let grant = success(
                of: context,
                for: request.policy,
                uid: request.uid,
                minimumStrength: request.minimumStrength,
                at: now
            )
        else { return nil }
        guard let sensor = grant.sensor, let allowed = request.sensors else { return grant }
        return allowed.contains(sensor) ? grant : nil
    }

    /// One of each mechanism and strength is enough.
    mutating func keep(_ grant: Grant, in context: ContextID) {
        guard contexts[context]?.isInvalid == false else { return }
        contexts[context]?.successes
            .removeAll {
                $0.grant.mechanism == grant.mechanism && $0.grant.strength == grant.strength
            }
        contexts[context]?.successes.append(.init(grant: grant, moment: now))
    }

    /// A lockout or a changed enrolment ends every success of the user.
    ///
    /// A passcode still says who changes templates: one passcode is enough for several changes.
    mutating func dropSuccesses(of uid: UInt32, keepingPasscodeAge: Bool = false) {
        for (id, context) in contexts {
            contexts[id]?.successes = context.successes.compactMap { success in
                guard success.grant.uid == uid else { return success }
                guard keepingPasscodeAge, success.grant.mechanism == .passcode else { return nil }
                var over = success
                over.isOver = true
                return over
            }
        }
    }

    private func isAlive(_ success: Context.Success, at moment: Instant) -> Bool {
        moment < success.moment + settings.contextLifetime
    }
}

extension Grant {
    /// Biometry counts for policies 1, 2 and 4, a companion for 3 and 4, a passcode for 2 only.
    func satisfies(_ policy: Policy) -> Bool {
        switch mechanism {
        case .biometry: policy != .companion
        case .companion: policy == .companion || policy == .biometricsOrCompanion
        case .passcode: policy == .biometricsOrPasscode
        case .reuse, .context: false
        }
    }
}
