import AuthEngine
import DBus
import LocalAuthBus

extension AuthService {
    /// What CanEvaluate answers.
    typealias Availability = (available: Bool, code: Int32, message: String)

    /// Whether `policy` could be evaluated now; no prompt.
    func canEvaluate(
        _ policy: Policy,
        for peer: Peer,
        context: ContextObject? = nil
    ) -> Answer<Availability> {
        let uid = peer.uid
        if policy == .biometricsOrPasscode, let isSet = verifier.warmAnswer(for: uid, at: now) {
            let facts = Facts(isPasscodeSet: isSet)
            return .now(availability(policy, uid, facts, context))
        }
        if policy == .biometricsOrPasscode {
            return .later { () throws(DBusError) in
                let facts = Facts(isPasscodeSet: await self.verifier.isSet(for: uid))
                return self.availability(policy, uid, facts, context)
            }
        }
        return .later { () throws(DBusError) in
            let facts = await self.facts(for: peer, uid: uid)
            return self.availability(policy, uid, facts, context)
        }
    }

    private func availability(
        _ policy: Policy,
        _ uid: UInt32,
        _ facts: Facts,
        _ context: ContextObject?
    ) -> Availability {
        let refusal = engine.availability(
            policy,
            uid: uid,
            facts: facts,
            context: context?.id,
            at: now
        )
        // R40: there is one while biometry could be evaluated, and none while it is locked out.
        if policy == .biometrics || policy == .biometricsOrCompanion,
            refusal?.code != .invalidContext
        {
            context?.evaluatedDomainState =
                refusal == nil ? enrolments.domainState(of: uid) : []
        }
        if let refusal { return (false, refusal.code.rawValue, refusal.message) }
        return (true, 0, "")
    }

    /// Runs an evaluation to its end.
    func evaluate(
        _ request: Request,
        _ text: Evaluation.Text,
        _ audience: Evaluation.Audience
    ) -> Answer<[String: Variant]> {
        .later { () throws(DBusError) in
            switch await self.outcome(of: request, text, audience) {
            case .granted(let grant): self.result(of: grant)
            case .refused(let refusal): throw DBusError(refusal)
            }
        }
    }

    /// The engine's last word on a request.
    func outcome(
        of request: Request,
        _ text: Evaluation.Text,
        _ audience: Evaluation.Audience,
        _ password: Evaluation.PasswordUse? = nil
    ) async -> Outcome {
        // The engine counts its own.
        let client = client(of: audience.peer)
        guard client.preparing == 0 || hasRoom(for: client) else {
            let message = "This connection waits for too many answers at once."
            return .refused(Refusal(.limitsExceeded, message))
        }
        return await withCheckedContinuation { answer in
            evaluations[request.id] = Evaluation(
                request: request,
                audience: audience,
                text: text,
                password: password,
                answer: answer
            )
            handle(.requested(request))
        }
    }

    func result(of grant: Grant) -> [String: Variant] {
        var result: [String: Variant] = [
            "mechanism": .string(grant.mechanism.rawValue),
            "biometry-type": .uint32(grant.type.rawValue),
        ]
        result["sensor"] = grant.sensor.map(Variant.string)
        result["strength"] = grant.strength.map { .string($0.rawValue) }
        if grant.type != .none {
            result["domain-state"] = .bytes(enrolments.domainState(of: grant.uid))
        }
        return result
    }
}

extension DBusError {
    /// A refusal under the name that the contract gives its code.
    init(_ refusal: Refusal) {
        self.init(Self.name(of: refusal.code), refusal.message)
    }

    private static func name(of code: Refusal.Code) -> Name {
        switch code {
        case .authenticationFailed: .authenticationFailed
        case .userCancel: .userCancel
        case .userFallback: .userFallback
        case .systemCancel: .systemCancel
        case .passcodeNotSet: .passcodeNotSet
        case .biometryNotAvailable: .biometryNotAvailable
        case .biometryNotEnrolled: .biometryNotEnrolled
        case .biometryLockout: .biometryLockout
        case .appCancel: .appCancel
        case .invalidContext: .invalidContext
        case .companionNotAvailable: .companionNotAvailable
        case .biometryNotPaired: .biometryNotPaired
        case .biometryDisconnected: .biometryDisconnected
        case .notInteractive: .notInteractive
        case .limitsExceeded: .limitsExceeded
        }
    }
}
