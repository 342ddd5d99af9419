import Contract

@testable import AuthEngine

/// Checks the proofs of access controls, stage by stage.
///
/// The witness derives requirements from the flags and proofs from the events, never from the
/// engine.
struct StageWitness: Hashable {
    /// A proof that a user really gave.
    struct Proof: Hashable {
        var factor: Factor
        var uid: UInt32
        var sensor: String?
        var type = BiometryType.none
        var strength: Strength?
    }

    /// A proof that a context keeps.
    struct Kept: Hashable {
        var proof: Proof
        /// The operation it was proved for; nil means a policy, which counts for every operation.
        var operation: AccessOperation?
        var end: Instant
    }

    struct Live: Hashable {
        var request: Request
        /// The flags of the access control; nil for a policy.
        var flags: AccessControl.Flags?
        var running: [OperationID: SensorFact] = [:]
        var candidate: SensorFact?
        /// Whether biometric sensors start when the prompt is visible.
        var isAboutToLook = false
        /// The context's proofs when the prompt began.
        var taken: [Proof] = []
        /// The proofs of this prompt.
        var won: [Proof] = []
        var isVerifying = false
        var isTrying = false
        var isPasswordRight = false
        /// Whether a proof was revoked.
        var isStruck = false
        var misses: [BiometryType: Int] = [:]

        fileprivate var usesBiometry: Bool {
            isAboutToLook || candidate.map { $0.type != .none } == true
                || running.values.contains { $0.type != .none }
                || (taken + won).contains { $0.type != .none }
        }
    }

    /// The flags of each evaluation of an access control.
    var flags: [EvaluationID: AccessControl.Flags] = [:]
    var live: [EvaluationID: Live] = [:]
    var kept: [ContextID: [Kept]] = [:]
    var complaints: [String] = []
    /// How often each outcome occurred, for the report.
    var seen: [String: Int] = [:]

    private mutating func complain(_ text: String) {
        complaints.append(text)
    }

    // MARK: The rules

    /// R63 and R65 to R67 as a formula.
    static func isSatisfied(_ flags: AccessControl.Flags, by factors: Set<Factor>) -> Bool {
        let needed = constraints(of: flags)
        if needed.isEmpty { return true }
        return isOneEnough(flags)
            ? !factors.isDisjoint(with: needed) : factors.isSuperset(of: needed)
    }

    private static func isOneEnough(_ flags: AccessControl.Flags) -> Bool {
        flags.contains(.or) || flags.contains(.userPresence)
    }

    /// The factors of the flags, in the order of the stages.
    private static func constraints(of flags: AccessControl.Flags) -> [Factor] {
        if flags.contains(.userPresence) { return [.biometry, .passcode] }
        let isBiometric = flags.contains(.biometryAny) || flags.contains(.biometryCurrentSet)
        return [
            isBiometric ? .biometry : nil, flags.contains(.companion) ? .companion : nil,
            flags.contains(.devicePasscode) ? .passcode : nil,
        ]
        .compactMap(\.self)
    }

    /// The factors of the current stage; empty if only the app's password may be missing.
    private func stage(of known: Live) -> Set<Factor> {
        let factors = Set((known.taken + known.won).map(\.factor))
        guard let flags = known.flags else {
            return known.won.isEmpty ? known.request.policy.factors : []
        }
        if known.request.operation?.isCreation == true { return [] }
        if StageWitness.isSatisfied(flags, by: factors) { return [] }
        let needed = StageWitness.constraints(of: flags)
        return StageWitness.isOneEnough(flags)
            ? Set(needed) : Set(needed.filter { !factors.contains($0) }.prefix(1))
    }

    /// The context's proofs that count for this request (R35).
    private func proofs(for request: Request, _ engine: AuthEngine) -> [Proof] {
        guard let context = request.context, let operation = request.operation,
            let flags = flags[request.id]
        else { return [] }
        let needed = StageWitness.constraints(of: flags)
        return (kept[context] ?? [])
            .filter { kept in
                let proof = kept.proof
                return needed.contains(proof.factor)
                    && (kept.operation == nil || kept.operation == operation)
                    && proof.uid == request.uid && engine.now < kept.end
                    && isWanted(proof.sensor, proof.strength, by: request)
                    && (proof.type == .none || !engine.isBiometryRefused(proof.uid))
            }
            .map(\.proof)
    }

    private func isWanted(_ sensor: String?, _ strength: Strength?, by request: Request) -> Bool {
        guard let sensor, let strength else { return true }
        return strength >= (request.minimumStrength ?? .convenience)
            && request.sensors?.contains(sensor) != false
    }

    // MARK: Events

    mutating func arrive(_ event: Event, mustConfirm: (SensorFact, Request) -> Bool) {
        switch event {
        case .requested(let request) where live[request.id] == nil:
            let flags = request.operation.map { _ in self.flags[request.id] ?? [] }
            live[request.id] = Live(request: request, flags: flags)
        case .sensorMissed(let operation, _):
            guard let id = owner(of: operation), let sensor = live[id]?.running[operation] else {
                return
            }
            live[id]?.misses[sensor.type, default: 0] += 1
        case .sensorEnded(let operation), .templateRemoved(let operation):
            if let id = owner(of: operation) { live[id]?.running[operation] = nil }
        case .sensorMatched(let operation, template: _):
            guard let id = owner(of: operation), let known = live[id],
                let sensor = known.running[operation]
            else { return }
            live[id]?.running[operation] = nil
            if mustConfirm(sensor, known.request) {
                live[id]?.candidate = sensor
            } else {
                win(id, sensor)
            }
        case .confirmed(let id):
            if let sensor = live[id]?.candidate { win(id, sensor) }
        case .passcodeVerified(let id, let verdict):
            guard let known = live[id], known.isVerifying else { return }
            live[id]?.isVerifying = false
            // A password after its stage proves nothing.
            guard verdict == .correct, stage(of: known).contains(.passcode) else { return }
            live[id]?.candidate = nil
            live[id]?.won.append(Proof(factor: .passcode, uid: known.request.uid))
        case .passwordTried(let id, let verdict):
            guard live[id]?.isTrying == true else { return }
            live[id]?.isTrying = false
            live[id]?.isPasswordRight = verdict == .correct
            if verdict == .wrong { seen["wrong password", default: 0] += 1 }
        default: break
        }
    }

    private func owner(of operation: OperationID) -> EvaluationID? {
        live.first { $0.value.running[operation] != nil }?.key
    }

    private mutating func win(_ id: EvaluationID, _ sensor: SensorFact) {
        guard let uid = live[id]?.request.uid else { return }
        live[id]?.candidate = nil
        live[id]?.won
            .append(
                Proof(
                    factor: sensor.type == .none ? .companion : .biometry,
                    uid: uid,
                    sensor: sensor.name,
                    type: sensor.type,
                    strength: sensor.strength
                )
            )
    }

    /// Revokes the proofs of biometry and contexts, after a lockout or an enrolment change.
    mutating func strike(_ uid: UInt32) {
        for id in live.keys where live[id]?.request.uid == uid {
            if live[id]?.won.contains(where: { $0.type != .none }) == true {
                seen["a proof is taken back", default: 0] += 1
                live[id]?.isStruck = true
            }
            if live[id]?.taken.isEmpty == false { live[id]?.isStruck = true }
            live[id]?.taken = []
            live[id]?.isAboutToLook = false
            live[id]?.won.removeAll { $0.type != .none }
            if let candidate = live[id]?.candidate, candidate.type != .none {
                live[id]?.candidate = nil
            }
        }
        for context in kept.keys {
            kept[context]?.removeAll { $0.proof.uid == uid }
            if kept[context]?.isEmpty == true { kept[context] = nil }
        }
    }

    /// Revokes every proof that rests on refused biometry.
    mutating func strikeRefused(_ engine: AuthEngine) {
        let uids = Set(live.values.filter(\.usesBiometry).map(\.request.uid))
        for uid in uids where engine.isBiometryRefused(uid) { strike(uid) }
    }

    // MARK: Effects

    /// Checks an effect.
    ///
    /// `writing` holds the evaluations whose last proof is not yet written.
    mutating func see(_ effect: Effect, _ engine: AuthEngine, writing: Set<EvaluationID>) {
        switch effect {
        case .begin(let id, _, let presentation): seeBegin(id, presentation, engine)
        case .cancelSensor(let operation):
            if let id = owner(of: operation) { live[id]?.running[operation] = nil }
        case .verifyPasscode(let id):
            askAgain(id, .passcode)
            guard let known = live[id] else { return }
            live[id]?.isVerifying = true
            if !stage(of: known).contains(.passcode) { complain("\(id) takes a passcode") }
        case .takePassword(let id):
            guard let known = live[id] else { return complain("\(id) takes a password") }
            live[id]?.isTrying = true
            let isAsked = known.flags?.contains(.applicationPassword) == true
            if !isAsked || !known.request.asksApplicationPassword || known.isTrying
                || !stage(of: known).isEmpty || writing.contains(id)
            {
                complain("\(id) takes a password outside its stage")
            }
        case .tell(let id, let progress):
            if progress == .promptShown { live[id]?.isAboutToLook = false }
            if !writing.contains(id) { seeTell(id, progress) }
        default: break
        }
    }

    private mutating func seeBegin(
        _ id: EvaluationID,
        _ presentation: Presentation,
        _ engine: AuthEngine
    ) {
        guard let request = live[id]?.request, live[id]?.flags != nil else { return }
        let taken = proofs(for: request, engine)
        live[id]?.taken = taken
        let isBiometric = !presentation.types.isEmpty
        switch presentation.stage {
        case .biometry: askAgain(id, isBiometric ? .biometry : .companion)
        case .passcode: askAgain(id, .passcode)
        case .applicationPassword: break
        }
        live[id]?.isAboutToLook = !presentation.types.isEmpty
        guard let known = live[id] else { return }
        let stage = stage(of: known)
        let fits =
            switch presentation.stage {
            case .biometry: !stage.isDisjoint(with: [.biometry, .companion])
            case .passcode: stage.contains(.passcode)
            case .applicationPassword: stage.isEmpty && request.asksApplicationPassword
            }
        if !fits { complain("\(id) begins with \(presentation.stage)") }
    }

    /// Allows the engine to ask again for a proof of the context, which may have expired.
    private mutating func askAgain(_ id: EvaluationID, _ factor: Factor) {
        let isOneEnough = live[id]?.flags.map(StageWitness.isOneEnough) == true
        live[id]?.taken.removeAll { $0.factor == factor || isOneEnough }
    }

    private mutating func seeTell(_ id: EvaluationID, _ progress: Progress) {
        if case .passcodeRequired = progress { askAgain(id, .passcode) }
        guard let known = live[id], known.flags != nil else { return }
        let stage = stage(of: known)
        let fits =
            switch progress {
            case .applicationPasswordRequired:
                stage.isEmpty && known.request.asksApplicationPassword
            case .passcodeRequired: stage.contains(.passcode)
            case .passcodeRejected: stage.contains(.passcode) || known.isStruck
            case .passcodeNotTaken: stage.contains(.passcode)
            case .miss, .fallbackAvailable, .confirmationRequired, .sensorReady, .sensorBusy,
                .sensorFailed, .hint:
                !stage.isDisjoint(with: [.biometry, .companion])
            case .promptShown: true
            case .success: stage.isEmpty
            }
        if !fits { complain("\(id) is told \(progress) outside its stage") }
    }

    mutating func started(
        _ operation: OperationID,
        _ id: EvaluationID,
        _ sensor: SensorFact,
        _ settings: Settings?,
        isWriting: Bool
    ) {
        let factor: Factor = sensor.type == .none ? .companion : .biometry
        askAgain(id, factor)
        guard let known = live[id] else { return }
        live[id]?.running[operation] = sensor
        if !stage(of: known).contains(factor) || isWriting {
            complain("\(sensor.name) looks outside its stage of \(id)")
        }
        if sensor.availability != .usable || sensor.templates == 0
            || !isWanted(sensor.name, sensor.strength, by: known.request)
        {
            complain("\(id) uses \(sensor.name)")
        }
        if let settings, known.misses[sensor.type] ?? 0 >= settings.attempts(of: sensor.type) {
            complain("\(sensor.name) looks after too many attempts in \(id)")
        }
    }

    // MARK: Answers

    mutating func seeReply(
        _ id: EvaluationID,
        _ outcome: Outcome,
        _ engine: AuthEngine,
        isWriting: Bool,
        keepsUntil end: Instant?
    ) {
        guard var known = live.removeValue(forKey: id), case .granted(let grant) = outcome else {
            return
        }
        if let flags = known.flags {
            if grant.mechanism == .context { known.taken = proofs(for: known.request, engine) }
            if isWriting { complain("\(id) is granted before it is written") }
            seeGrant(id, grant, flags, known)
        }
        guard let context = known.request.context, let end else { return }
        kept[context, default: []] += known.won.map {
            Kept(proof: $0, operation: known.request.operation, end: end)
        }
    }

    private mutating func seeGrant(
        _ id: EvaluationID,
        _ grant: Grant,
        _ flags: AccessControl.Flags,
        _ known: Live
    ) {
        let request = known.request
        let isFree = request.operation?.isCreation == true
        let isAlone = isFree || StageWitness.constraints(of: flags).isEmpty
        var factors: Set<Factor> = []
        for proof in grant.proofs {
            if proof.mechanism == .reuse { complain("\(id) rests on an unlock") }
            if proof.mechanism == .applicationPassword, !isAlone || !known.isPasswordRight {
                complain("\(id) rests on a password alone")
            }
            guard let proof = Proof(proof) else { continue }
            if !(known.taken + known.won).contains(proof) {
                complain("\(id) rests on \(proof), which nobody gave")
            }
            factors.insert(proof.factor)
        }
        if !isFree, !StageWitness.isSatisfied(flags, by: factors) {
            complain("\(id) is granted by \(factors), which is not enough")
        }
        if request.asksApplicationPassword, !known.isPasswordRight {
            complain("\(id) is granted without the password")
        }
        checkUse(of: grant, factors, request)
        let isBefore = known.won.isEmpty ? "before" : "in part before"
        let way = known.taken.isEmpty ? "in a prompt" : isBefore
        seen["\(Set(known.won.map(\.factor)).count) stages, proved \(way)", default: 0] += 1
        if known.isPasswordRight { seen["right password", default: 0] += 1 }
    }

    /// Checks that the grant authorizes exactly the flags that the formula allows, for its user
    /// only.
    private mutating func checkUse(of grant: Grant, _ factors: Set<Factor>, _ request: Request) {
        let all: [AccessControl.Flags] = [
            .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion,
            [.biometryAny, .devicePasscode], [.biometryCurrentSet, .companion, .or],
            [.companion, .devicePasscode, .and], [.biometryAny, .companion, .devicePasscode],
        ]
        for flags in all {
            guard let accessControl = try? AccessControl(flags: flags) else { continue }
            for uid in [request.uid, request.uid + 1] {
                let authorization = AccessGrant.resting(
                    on: grant.proofs,
                    for: .useItem,
                    uid: uid,
                    accessControl: accessControl,
                    minimumStrength: request.minimumStrength ?? .convenience
                )
                let isEnough =
                    uid == request.uid && StageWitness.isSatisfied(flags, by: factors)
                if (authorization != nil) != isEnough { complain("\(grant) opens \(flags)") }
            }
        }
    }
}

extension StageWitness.Proof {
    /// Returns the proof of a grant; nil for a grant without a proof in its prompt.
    fileprivate init?(_ grant: Grant) {
        switch grant.mechanism {
        case .biometry: factor = .biometry
        case .companion: factor = .companion
        case .passcode: factor = .passcode
        case .reuse, .context, .applicationPassword: return nil
        }
        uid = grant.uid
        sensor = grant.sensor
        type = grant.type
        strength = grant.strength
    }
}
