/// One evaluation, from the call to its reply.
struct Evaluation: Hashable, Sendable {
    enum Stage: Hashable, Sendable {
        /// Its facts are being looked up, or wait for a write of the user's record.
        case lookingUp
        /// It waits for the prompt of its session.
        case waiting
        /// Its agent was asked to show the prompt, and may take until then.
        case beginning(until: Instant)
        /// The prompt is up.
        case showing
    }

    enum Passcode: Hashable, Sendable {
        /// One may be offered.
        case idle
        /// The verifier has one.
        case verifying
        /// A wrong one is being written down.
        case saving
    }

    /// A running operation of one sensor.
    struct Operation: Hashable, Sendable {
        let id: OperationID
        let sensor: SensorFact
    }

    /// Evidence that counts as soon as the record is written.
    struct Accepted: Hashable, Sendable {
        let evidence: Grant.Evidence
        let save: SaveID
    }

    let request: Request
    var deadline: Instant
    var stage = Stage.lookingUp
    /// What was found out, while it waits for a write of the user's record.
    var held: Facts?
    /// What was found out, without the sensors that the request leaves out.
    var facts = Facts()
    /// What is still to be proved, the present stage first.
    var remaining: [Set<Factor>]
    /// What the context had proved before, as far as it is asked for.
    var earlier: [Grant] = []
    /// What was proved in the stages before the present one.
    var proved: [Grant] = []
    /// The session whose prompt it has or waits for.
    var session: String?
    /// The agent that was asked to show it.
    var agent: AgentID?
    /// The sensors that start when the prompt is up.
    var plan: [SensorFact] = []
    var operations: [Operation] = []
    /// Non-matches in this prompt.
    var failures: [BiometryType: Int] = [:]
    /// The type whose attempts were used up last.
    var lastExhausted: BiometryType?
    /// Whether biometry was taken away from it by a lockout.
    var isLockedOut = false
    var offersFallback = false
    /// A match that waits for its confirmation.
    var candidate: SensorFact?
    var accepted: Accepted?
    /// Whether something that it rests on counts no more: nothing ends it well.
    var isTakenBack = false
    /// Whether the prompt was told to ask for the passcode.
    var asksPasscode = false
    var passcode = Passcode.idle
    /// Whether the app's password is asked for now.
    var asksApplicationPassword: Bool { remaining.isEmpty && request.asksApplicationPassword }
    /// What proves the present stage.
    var factors: Set<Factor> { remaining.first ?? [] }
    /// Whether the passcode proves it.
    var takesPasscode: Bool { factors.contains(.passcode) }
    /// Wrong passcodes in this prompt.
    var wrongPasscodes = 0
    /// Verifications in a row that said nothing.
    var verifierFailures = 0
    /// Whether it will be told when a passcode is taken again (L10).
    var waitsForDelay = false

    /// Whether nothing that runs could still end it well without the user's choosing something.
    var isIdle: Bool {
        guard stage == .showing else { return false }
        return isTakenBack
            || operations.isEmpty && candidate == nil && accepted == nil && passcode == .idle
    }

    /// Whether it rests on a match that was not granted yet.
    var holdsMatch: Bool {
        candidate.map { $0.type != .none } == true || accepted?.evidence.isBiometric == true
            || proved.contains { $0.type != .none }
    }

    /// Whether biometry may still end it well.
    var usesBiometry: Bool {
        guard agent != nil, !isTakenBack else { return false }
        if holdsMatch || earlier.contains(where: { $0.type != .none }) { return true }
        if case .beginning = stage, plan.contains(where: { $0.type != .none }) { return true }
        return operations.contains { $0.sensor.type != .none }
    }

    /// What its context had proved, and its own matches, count no more.
    mutating func takeBack() {
        guard !earlier.isEmpty || proved.contains(where: { $0.type != .none }) else { return }
        isTakenBack = true
        plan = []
        waitsForDelay = false
    }

    /// Sensors of no use any more are left out of the evaluation's plan.
    mutating func leaveOutBiometry() {
        plan.removeAll { $0.type != .none }
        if candidate.map({ $0.type != .none }) == true { candidate = nil }
        if accepted?.evidence.isBiometric == true { accepted = nil }
        if factors.contains(.biometry) { isLockedOut = true }
    }

    init(request: Request, deadline: Instant) {
        self.request = request
        self.deadline = deadline
        remaining = request.stages
    }
}

/// A context as far as the engine knows it: from its first request to its release.
struct Context: Hashable, Sendable {
    struct Success: Hashable, Sendable {
        let grant: Grant
        let moment: Instant
        /// Whether it proves only how long ago a passcode was given.
        var isOver = false
        /// What it was given for; nil: a policy, and so for anything.
        var operation: AccessOperation?
    }

    var client: ClientID?
    var isInvalid = false
    var successes: [Success] = []
}

/// A record on its way to the disk, and what may be said once it is there.
struct PendingSave: Hashable, Sendable {
    enum Consequence: Hashable, Sendable {
        /// Tell of a non-match, the `count`th of its type in this prompt.
        case mismatch(BiometryType, count: Int, left: Int)
        /// Tell of a wrong passcode.
        case wrongPasscode(left: Int)
        /// The accepted evidence counts now.
        case acceptance
    }

    let uid: UInt32
    var evaluation: EvaluationID?
    var consequence: Consequence?
    /// What the record was before it was made less strict; it comes back if the write fails.
    var stricter: UserRecord?
    /// Whether a crash without it would make anything less strict.
    var matters = true
}
