import Contract

/// The prompt of an evaluation: its proofs so far, and its current stage.
struct Prompt: Hashable, Sendable {
    enum Channel: Hashable, Sendable {
        case idle
        /// A password waits until another password of this user is checked.
        case waiting
        /// The verifier has the password, or gets it after the write of the attempt.
        case verifying
        case saving
        case trying
    }

    enum Advance {
        case nextStage
        case conclusion
        case refusal
    }

    /// A match from which its sensor may update a template, if the password confirms it.
    struct Match: Hashable, Sendable {
        let operation: OperationID
        let sensor: String

        init(_ operation: OperationID, _ sensor: String) {
            (self.operation, self.sensor) = (operation, sensor)
        }
    }

    let agent: AgentID
    let session: String
    /// The facts of the look-up, without the sensors that the request excludes.
    let facts: Facts
    /// Earlier proofs of the context, as far as the request needs them.
    let earlier: [Grant]
    private(set) var proved: [Grant] = []
    var stage: Stage
    private var later: ArraySlice<Set<Factor>>
    private let asksApplicationPassword: Bool
    private(set) var channel = Channel.idle
    private(set) var misses: [BiometryType: Int] = [:]
    private(set) var wrongPasscodes = 0
    /// A match that waits for the password before a template is updated from it.
    private var match: Match?
    enum Loss: Hashable, Sendable {
        case fault(SensorFault)
        case templateRemoved
    }

    var loss: Loss?
    /// Whether the cause for asking the password waits for a write.
    var isCausePending = false
    private(set) var verifierFailures = 0

    /// Creates a prompt for the stages that still need proof.
    ///
    /// With `isTyped` no sensor runs, and the prompt asks for a password from the start.
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

    // MARK: State

    var isRevoked: Bool {
        if case .revoked = stage { true } else { false }
    }

    var candidate: SensorFact? {
        if case .proving(let proving) = stage, case .confirming(let sensor) = proving.proof {
            sensor
        } else {
            nil
        }
    }

    /// Whether the prompt will be told when the delay ends (L10).
    var waitsForDelay: Bool {
        if case .proving(let proving) = stage {
            proving.entry == .passcode(.afterDelay)
        } else {
            false
        }
    }

    /// Whether no sensor, check or write in progress could still prove the stage.
    var isIdle: Bool {
        switch stage {
        case .revoked: true
        case .password: channel == .idle
        case .proving(let proving): proving.proof == .scanning([]) && channel == .idle
        case .proved: false
        }
    }

    var holdsMatch: Bool {
        if proved.contains(where: { $0.type != .none }) { return true }
        return if case .proving(let proving) = stage { proving.holdsMatch } else { false }
    }

    /// Whether a biometric proof or a running biometric sensor can still lead to a grant.
    var usesBiometry: Bool {
        guard !isRevoked else { return false }
        return holdsMatch || earlier.contains { $0.type != .none }
            || stage.operations.contains { $0.sensor.type != .none }
    }

    // MARK: Sensors

    mutating func startSensors(_ operations: [Operation]) {
        proving { $0.proof = .scanning(operations) }
    }

    mutating func dropOperations(where matches: (Operation) -> Bool) -> [Operation] {
        let dropped = stage.operations.filter(matches)
        guard !dropped.isEmpty else { return [] }
        replaceOperations(by: stage.operations.filter { !matches($0) })
        return dropped
    }

    /// Replaces the running operation that has this id.
    mutating func update(_ operation: Operation) {
        replaceOperations(by: stage.operations.map { $0.id == operation.id ? operation : $0 })
    }

    private mutating func replaceOperations(by operations: [Operation]) {
        switch stage {
        case .proving: startSensors(operations)
        case .revoked(var rest):
            rest.operations = operations
            stage = .revoked(rest)
        case .password, .proved: break
        }
    }

    mutating func confirm(_ sensor: SensorFact) {
        proving { $0.proof = .confirming(sensor) }
    }

    mutating func keep(_ match: Match) { self.match = match }

    /// A match from which a template may be updated, if this prompt also got the correct password.
    var matchForUpdate: Match? {
        proved.contains { $0.mechanism == .passcode } ? match : nil
    }

    mutating func countMiss(of type: BiometryType) -> Int {
        misses[type, default: 0] += 1
        return misses[type] ?? 0
    }

    mutating func exhaust(_ type: BiometryType) {
        proving { if $0.setback != .lockedOut { $0.setback = .exhausted(type) } }
    }

    /// Shows the fallback button; false if it is already visible or the stage has none.
    mutating func showFallback() -> Bool {
        switch stage {
        case .proving(var proving) where proving.entry == .fallback(isShown: false):
            proving.entry = .fallback(isShown: true)
            stage = .proving(proving)
            return true
        case .revoked(var rest) where rest.mayShowFallback:
            rest.mayShowFallback = false
            stage = .revoked(rest)
            return true
        case .proving, .revoked, .password, .proved: return false
        }
    }

    // MARK: Passwords

    /// Marks the password as asked for; false if it already was.
    mutating func ask() -> Bool {
        switch stage {
        case .proving(var proving) where proving.entry == .passcode(.unasked):
            proving.entry = .passcode(.asked)
            stage = .proving(proving)
            return true
        case .password(isAsked: false):
            stage = .password(isAsked: true)
            return true
        case .proving, .revoked, .password, .proved: return false
        }
    }

    mutating func delay() {
        proving { if case .passcode = $0.entry { $0.entry = .passcode(.afterDelay) } }
    }

    mutating func endDelay() {
        proving { if case .passcode = $0.entry { $0.entry = .passcode(.asked) } }
    }

    /// Takes a submitted password, which waits while another password of the user is checked.
    mutating func offerPasscode(isBusy: Bool) -> Channel {
        channel = isBusy ? .waiting : .verifying
        return channel
    }

    mutating func offerPassword() { channel = .trying }

    /// Starts the check of a queued password; false if the password is no longer needed.
    mutating func checkQueuedPassword(isDelayed: Bool) -> Bool {
        guard channel == .waiting else { return false }
        channel = !isDelayed && stage.takesPasscode ? .verifying : .idle
        return channel == .verifying
    }

    mutating func withdraw() {
        if channel == .verifying { channel = .idle }
    }

    /// Records a verdict.
    ///
    /// A wrong password is written before the prompt learns of it.
    mutating func verified(isCorrect: Bool) {
        verifierFailures = 0
        channel = isCorrect ? .idle : .saving
        if !isCorrect { wrongPasscodes += 1 }
    }

    /// Records a check without a verdict, and returns how many came in a row.
    mutating func verifierFailed() -> Int {
        channel = .idle
        verifierFailures += 1
        return verifierFailures
    }

    /// Ends the write of a wrong password; false if an earlier stage submitted it.
    mutating func wrongPasscodeIsWritten() -> Bool {
        guard channel == .saving else { return false }
        channel = .idle
        return true
    }

    /// Records the check of the app's own password; false if no check was expected.
    mutating func tried(isCorrect: Bool) -> Bool {
        guard channel == .trying else { return false }
        channel = .idle
        if isCorrect, case .password = stage { stage = .proved }
        return true
    }

    // MARK: Proofs

    /// Holds the evidence until its record is written.
    mutating func accept(_ evidence: Grant.Evidence, after save: SaveID) {
        switch stage {
        case .proving(var proving):
            proving.proof = .accepted(save, isBiometric: evidence.isBiometric)
            stage = .proving(proving)
        case .revoked(var rest):
            rest.acceptance = save
            stage = .revoked(rest)
        case .password, .proved: break
        }
    }

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
            // After the last stage, `finish` handles a password that is still being checked.
            channel = .idle
            return .nextStage
        case .revoked(var rest):
            rest.acceptance = nil
            stage = .revoked(rest)
            return .refusal
        case .password, .proved: return .refusal
        }
    }

    var conclusion: [Grant]? {
        if case .proved = stage { earlier + proved } else { nil }
    }

    // MARK: Revoking

    /// Revokes earlier proofs of the context and the prompt's own matches; false if there are none.
    mutating func revoke() -> Bool {
        guard !earlier.isEmpty || proved.contains(where: { $0.type != .none }) else {
            return false
        }
        switch stage {
        case .proving(let proving): stage = .revoked(Revoked(proving))
        case .password, .proved: stage = .revoked(Revoked())
        case .revoked: break
        }
        return true
    }

    mutating func leaveOutBiometry() {
        match = nil
        proving { proving in
            if proving.holdsMatch { proving.proof = .scanning([]) }
            if proving.factors.contains(.biometry) { proving.setback = .lockedOut }
        }
    }

    private mutating func proving(_ change: (inout Proving) -> Void) {
        guard case .proving(var proving) = stage else { return }
        change(&proving)
        stage = .proving(proving)
    }
}
