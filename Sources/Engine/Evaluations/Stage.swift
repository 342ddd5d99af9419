import Contract

/// What a prompt asks for now.
enum Stage: Hashable, Sendable {
    /// Any of its factors is enough.
    case proving(Proving)
    /// All factors are proved; the app's own password is asked for as well.
    case password(isAsked: Bool)
    /// Something that was proved counts no more; it is refused when nothing is being written.
    case takenBack(TakenBack)
    /// All is proved: it is granted in the same step.
    case proved

    /// What proves it; empty: none of the factors does.
    var factors: Set<Factor> {
        switch self {
        case .proving(let proving): proving.factors
        case .takenBack(let rest): rest.factors
        case .password, .proved: []
        }
    }

    /// The sensors that look.
    var operations: [Operation] {
        switch self {
        case .proving(let proving): proving.operations
        case .takenBack(let rest): rest.operations
        case .password, .proved: []
        }
    }

    /// Whether a passcode would be taken, were there no delay.
    var takesPasscode: Bool {
        if case .proving(let proving) = self { proving.takesPasscode } else { false }
    }

    /// The write of a proof that was accepted.
    var acceptance: SaveID? {
        switch self {
        case .proving(let proving): proving.acceptance
        case .takenBack(let rest): rest.acceptance
        case .password, .proved: nil
        }
    }
}

/// A running operation of one sensor.
struct Operation: Hashable, Sendable {
    let id: OperationID
    let sensor: SensorFact
    /// Failed attempts that were counted.
    var attempts: UInt32 = 0
    /// What was left after the last of them.
    var attemptsLeft = 0
}

/// A stage that is not proved yet.
struct Proving: Hashable, Sendable {
    /// How far the proof is.
    enum Proof: Hashable, Sendable {
        /// These sensors look; none: all have ended, or the prompt is not up yet.
        case looking([Operation])
        /// A match waits for its confirmation.
        case confirming(SensorFact)
        /// It is proved as soon as the record is written.
        case accepted(SaveID, isBiometric: Bool)
    }

    /// What the prompt offers beside the sensors.
    enum Entry: Hashable, Sendable {
        /// The passcode proves the stage as well.
        case passcode(Ask)
        /// Sensors alone prove it; a button may offer a way of the app's own instead.
        case fallback(isShown: Bool)

        /// Whether the prompt was told to ask for the passcode.
        enum Ask: Hashable, Sendable {
            case unasked
            case asked
            /// It will be when a passcode is taken again (L10).
            case afterDelay
        }
    }

    /// Why sensors stopped; a lockout outweighs attempts that were used up.
    enum Setback: Hashable, Sendable {
        case exhausted(BiometryType)
        case lockedOut
    }

    let factors: Set<Factor>
    var proof = Proof.looking([])
    var entry: Entry
    var setback: Setback?

    init(_ factors: Set<Factor>, isAsked: Bool = false) {
        self.factors = factors
        entry =
            factors.contains(.passcode)
            ? .passcode(isAsked ? .asked : .unasked) : .fallback(isShown: false)
    }

    /// Whether a passcode would be taken, were there no delay.
    var takesPasscode: Bool {
        if case .passcode = entry { acceptance == nil } else { false }
    }

    var operations: [Operation] {
        if case .looking(let operations) = proof { operations } else { [] }
    }

    /// The write after which it is proved.
    var acceptance: SaveID? {
        if case .accepted(let save, _) = proof { save } else { nil }
    }

    /// Whether a match of biometry waits for its write or its confirmation, which nothing else
    /// needs.
    var holdsMatch: Bool {
        switch proof {
        case .looking: false
        case .confirming: true
        case .accepted(_, let isBiometric): isBiometric
        }
    }
}

/// What still runs when a stage is taken back: it is counted and told, and leads to no grant.
struct TakenBack: Hashable, Sendable {
    /// What would have proved the stage.
    var factors: Set<Factor> = []
    /// Sensors that were not stopped.
    var operations: [Operation] = []
    /// The write of a proof that came first.
    var acceptance: SaveID?
    /// Whether a non-match may still bring the fallback button.
    var mayShowFallback = false

    /// Nothing runs.
    init() {}

    init(_ proving: Proving) {
        factors = proving.factors
        operations = proving.operations
        // A match goes with the rest, a passcode was right all the same.
        acceptance = proving.holdsMatch ? nil : proving.acceptance
        mayShowFallback = proving.entry == .fallback(isShown: false)
    }
}
