import Contract

/// The prompt of an evaluation: what it has proved, and what it asks for now.
struct Prompt: Hashable, Sendable {
    /// The state of a submitted passcode or password.
    enum Channel: Hashable, Sendable {
        /// A passcode or password may be submitted.
        case idle
        /// A passcode waits until another one of the same user is verified.
        case waiting
        /// The verifier has a passcode, or gets it as soon as the attempt is written down.
        case verifying
        /// A wrong passcode is being written down.
        case saving
        /// The service tries the app's own password.
        case trying
    }

    /// What comes after a stage that is proved.
    enum Advance {
        case nextStage
        /// All is proved.
        case conclusion
        /// Nothing: it was taken back meanwhile.
        case refusal
    }

    /// A match that its sensor may learn from, if the passcode confirms it.
    struct Match: Hashable, Sendable {
        let operation: OperationID
        let sensor: String

        init(_ operation: OperationID, _ sensor: String) {
            (self.operation, self.sensor) = (operation, sensor)
        }
    }

    let agent: AgentID
    let session: String
    /// What was found out, without the sensors that the request leaves out.
    let facts: Facts
    /// What the context had proved before, as far as it is asked for.
    let earlier: [Grant]
    /// What was proved in the stages before the present one.
    private(set) var proved: [Grant] = []
    var stage: Stage
    /// The stages after the present one.
    private var later: ArraySlice<Set<Factor>>
    private let asksApplicationPassword: Bool
    private(set) var channel = Channel.idle
    /// Non-matches in this prompt.
    private(set) var failures: [BiometryType: Int] = [:]
    /// Wrong passcodes in this prompt.
    private(set) var wrongPasscodes = 0
    /// What was seen in this prompt and waits for the passcode; nil: nothing to learn from.
    private var match: Match?
    /// The end of the last sensor that gave up.
    enum Loss: Hashable, Sendable {
        case fault(SensorFault)
        case templateRemoved
    }

    /// Why the last sensor gave up that did; nil: none has.
    var loss: Loss?
    /// Whether its cause waits for a write.
    var owesCause = false
    /// Verifications in a row that said nothing.
    private(set) var verifierFailures = 0

    /// A prompt for what is still to be proved; `isTyped`: no sensor looks, so that it asks for the
    /// passcode or the password from the first moment.
    init(
        agent: AgentID,
        session: String,
        facts: Facts,
        earlier: [Grant],
        stages: [Set<Factor>],
        asksApplicationPassword: Bool,
        isTyped: Bool
    ) {
        self.agent = agent
        self.session = session
        self.facts = facts
        self.earlier = earlier
        self.asksApplicationPassword = asksApplicationPassword
        later = stages.dropFirst()
        stage =
            stages.first.map { .proving(Proving($0, isAsked: isTyped)) }
            ?? .password(isAsked: isTyped)
    }

    // MARK: What it is doing

    var isTakenBack: Bool {
        if case .takenBack = stage { true } else { false }
    }

    /// A match that waits for its confirmation.
    var candidate: SensorFact? {
        if case .proving(let proving) = stage, case .confirming(let sensor) = proving.proof {
            sensor
        } else {
            nil
        }
    }

    /// Whether it will be told when a passcode is taken again (L10).
    var waitsForDelay: Bool {
        if case .proving(let proving) = stage {
            proving.entry == .passcode(.afterDelay)
        } else {
            false
        }
    }

    /// Whether nothing that runs could still end it well.
    var isIdle: Bool {
        switch stage {
        case .takenBack: true
        case .password: channel == .idle
        case .proving(let proving): proving.proof == .looking([]) && channel == .idle
        case .proved: false
        }
    }

    /// Whether it rests on a match that was not granted yet.
    var holdsMatch: Bool {
        if proved.contains(where: { $0.type != .none }) { return true }
        return if case .proving(let proving) = stage { proving.holdsMatch } else { false }
    }

    /// Whether biometry that was proved, or that looks, may still end it well.
    var usesBiometry: Bool {
        guard !isTakenBack else { return false }
        return holdsMatch || earlier.contains { $0.type != .none }
            || stage.operations.contains { $0.sensor.type != .none }
    }

    // MARK: Looking

    mutating func look(_ operations: [Operation]) {
        proving { $0.proof = .looking(operations) }
    }

    /// These operations count no more; which ones that were.
    mutating func dropOperations(where matches: (Operation) -> Bool) -> [Operation] {
        let dropped = stage.operations.filter(matches)
        guard !dropped.isEmpty else { return [] }
        replaceOperations(by: stage.operations.filter { !matches($0) })
        return dropped
    }

    /// An operation that runs is now this.
    mutating func update(_ operation: Operation) {
        replaceOperations(by: stage.operations.map { $0.id == operation.id ? operation : $0 })
    }

    private mutating func replaceOperations(by operations: [Operation]) {
        switch stage {
        case .proving: look(operations)
        case .takenBack(var rest):
            rest.operations = operations
            stage = .takenBack(rest)
        case .password, .proved: break
        }
    }

    /// A match has to be confirmed before it counts.
    mutating func confirm(_ sensor: SensorFact) {
        proving { $0.proof = .confirming(sensor) }
    }

    /// A sensor may learn from this match, once the passcode has confirmed it.
    mutating func keep(_ match: Match) { self.match = match }

    /// What may be learned from: a match in this prompt, for which the passcode was right in this
    /// prompt as well.
    var lesson: Match? {
        proved.contains { $0.mechanism == .passcode } ? match : nil
    }

    /// One more non-match of this type; how many that makes.
    mutating func countFailure(of type: BiometryType) -> Int {
        failures[type, default: 0] += 1
        return failures[type] ?? 0
    }

    /// Sensors of this type have no attempt left.
    mutating func exhaust(_ type: BiometryType) {
        proving { if $0.setback != .lockedOut { $0.setback = .exhausted(type) } }
    }

    /// The fallback button is shown; false: it was there before, or there is none in this stage.
    mutating func showFallback() -> Bool {
        switch stage {
        case .proving(var proving) where proving.entry == .fallback(isShown: false):
            proving.entry = .fallback(isShown: true)
            stage = .proving(proving)
            return true
        case .takenBack(var rest) where rest.mayShowFallback:
            rest.mayShowFallback = false
            stage = .takenBack(rest)
            return true
        case .proving, .takenBack, .password, .proved: return false
        }
    }

    // MARK: Typing

    /// The passcode or password is asked for; false: it was before.
    mutating func ask() -> Bool {
        switch stage {
        case .proving(var proving) where proving.entry == .passcode(.unasked):
            proving.entry = .passcode(.asked)
            stage = .proving(proving)
            return true
        case .password(isAsked: false):
            stage = .password(isAsked: true)
            return true
        case .proving, .takenBack, .password, .proved: return false
        }
    }

    /// No passcode is taken for a while.
    mutating func delay() {
        proving { if case .passcode = $0.entry { $0.entry = .passcode(.afterDelay) } }
    }

    /// A passcode is taken again.
    mutating func endDelay() {
        proving { if case .passcode = $0.entry { $0.entry = .passcode(.asked) } }
    }

    /// A passcode was submitted in its stage; it waits while another of its user is verified.
    mutating func offerPasscode(isBusy: Bool) -> Channel {
        channel = isBusy ? .waiting : .verifying
        return channel
    }

    /// The app's own password was submitted in its stage.
    mutating func offerPassword() { channel = .trying }

    /// The turn of the passcode that waits has come; false: it is of no use any more.
    mutating func takeTurn(isDelayed: Bool) -> Bool {
        guard channel == .waiting else { return false }
        channel = !isDelayed && stage.takesPasscode ? .verifying : .idle
        return channel == .verifying
    }

    /// The verifier is not asked after all.
    mutating func withdraw() {
        if channel == .verifying { channel = .idle }
    }

    /// The verifier said whether it was the passcode; a wrong one is written down first.
    mutating func verified(isCorrect: Bool) {
        verifierFailures = 0
        channel = isCorrect ? .idle : .saving
        if !isCorrect { wrongPasscodes += 1 }
    }

    /// The verifier said nothing; how often in a row.
    mutating func verifierFailed() -> Int {
        channel = .idle
        verifierFailures += 1
        return verifierFailures
    }

    /// The wrong passcode is written; false: it was one of an earlier stage.
    mutating func wrongPasscodeIsWritten() -> Bool {
        guard channel == .saving else { return false }
        channel = .idle
        return true
    }

    /// The app's own password was tried, and with it all may be proved; false: none was awaited.
    mutating func tried(isCorrect: Bool) -> Bool {
        guard channel == .trying else { return false }
        channel = .idle
        if isCorrect, case .password = stage { stage = .proved }
        return true
    }

    // MARK: Proving

    /// The evidence counts as soon as the record is written.
    mutating func accept(_ evidence: Grant.Evidence, after save: SaveID) {
        switch stage {
        case .proving(var proving):
            proving.proof = .accepted(save, isBiometric: evidence.isBiometric)
            stage = .proving(proving)
        case .takenBack(var rest):
            rest.acceptance = save
            stage = .takenBack(rest)
        case .password, .proved: break
        }
    }

    /// The present stage is proved.
    mutating func advance(with grant: Grant) -> Advance {
        switch stage {
        case .proving:
            proved.append(grant)
            if let factors = later.popFirst() {
                stage = .proving(Proving(factors))
            } else if asksApplicationPassword {
                stage = .password(isAsked: false)
            } else {
                stage = .proved
                return .conclusion
            }
            // Where this was all, the end sees to a passcode that is still being verified.
            channel = .idle
            return .nextStage
        case .takenBack(var rest):
            rest.acceptance = nil
            stage = .takenBack(rest)
            return .refusal
        case .password, .proved: return .refusal
        }
    }

    /// The proofs, once all that was asked for is proved; nil: something is missing.
    var conclusion: [Grant]? {
        if case .proved = stage { earlier + proved } else { nil }
    }

    // MARK: Taking back

    /// What its context had proved, and its own matches, count no more; false: it rests on none.
    mutating func takeBack() -> Bool {
        guard !earlier.isEmpty || proved.contains(where: { $0.type != .none }) else {
            return false
        }
        switch stage {
        case .proving(let proving): stage = .takenBack(TakenBack(proving))
        case .password, .proved: stage = .takenBack(TakenBack())
        case .takenBack: break
        }
        return true
    }

    /// The present stage goes on without biometry.
    mutating func leaveOutBiometry() {
        match = nil
        proving { proving in
            if proving.holdsMatch { proving.proof = .looking([]) }
            if proving.factors.contains(.biometry) { proving.setback = .lockedOut }
        }
    }

    private mutating func proving(_ change: (inout Proving) -> Void) {
        guard case .proving(var proving) = stage else { return }
        change(&proving)
        stage = .proving(proving)
    }
}
