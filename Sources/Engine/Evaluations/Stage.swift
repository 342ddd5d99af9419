import Contract

enum Stage: Hashable, Sendable {
    /// Any of the stage's factors is enough.
    case proving(Proving)
    /// All factors are proved, and the app's own password is still required.
    case password(isAsked: Bool)
    /// A proof was revoked; the engine refuses the evaluation once no write is in progress.
    case revoked(Revoked)
    /// Every stage is proved.
    ///
    /// The grant follows in the same step.
    case proved

    /// The factors that prove the stage; empty if none can.
    var factors: Set<Factor> {
        switch self {
        case .proving(let proving): proving.factors
        case .revoked(let rest): rest.factors
        case .password, .proved: []
        }
    }

    var operations: [Operation] {
        switch self {
        case .proving(let proving): proving.operations
        case .revoked(let rest): rest.operations
        case .password, .proved: []
        }
    }

    /// Whether the stage accepts a password, apart from a delay.
    var takesPasscode: Bool {
        if case .proving(let proving) = self { proving.takesPasscode } else { false }
    }

    /// The pending write of an accepted proof.
    var acceptance: SaveID? {
        switch self {
        case .proving(let proving): proving.acceptance
        case .revoked(let rest): rest.acceptance
        case .password, .proved: nil
        }
    }
}

struct Operation: Hashable, Sendable {
    let id: OperationID
    let sensor: SensorFact
    var attempts: UInt32 = 0
    var attemptsLeft = 0
}

struct Proving: Hashable, Sendable {
    enum Proof: Hashable, Sendable {
        /// These sensors run.
        ///
        /// The list is empty before the prompt is visible and after all sensors ended.
        case scanning([Operation])
        case confirming(SensorFact)
        case accepted(SaveID, isBiometric: Bool)
    }

    enum Entry: Hashable, Sendable {
        case passcode(Ask)
        /// Only sensors prove the stage.
        ///
        /// A button may offer the app's own alternative.
        case fallback(isShown: Bool)

        /// Whether the prompt was told to ask for the password.
        enum Ask: Hashable, Sendable {
            case unasked
            case asked
            /// The prompt is told to ask when the delay ends (L10).
            case afterDelay
        }
    }

    /// Why sensors stopped.
    ///
    /// A lockout takes precedence over used-up attempts.
    enum Setback: Hashable, Sendable {
        case exhausted(BiometryType)
        case lockedOut
    }

    let factors: Set<Factor>
    var proof = Proof.scanning([])
    var entry: Entry
    var setback: Setback?

    init(_ factors: Set<Factor>, isAsked: Bool = false) {
        self.factors = factors
        entry =
            factors.contains(.passcode)
            ? .passcode(isAsked ? .asked : .unasked) : .fallback(isShown: false)
    }

    /// Whether the stage accepts a password, apart from a delay.
    var takesPasscode: Bool {
        if case .passcode = entry { acceptance == nil } else { false }
    }

    var operations: [Operation] {
        if case .scanning(let operations) = proof { operations } else { [] }
    }

    var acceptance: SaveID? {
        if case .accepted(let save, _) = proof { save } else { nil }
    }

    /// Whether a biometric match awaits its write or its confirmation.
    var holdsMatch: Bool {
        switch proof {
        case .scanning: false
        case .confirming: true
        case .accepted(_, let isBiometric): isBiometric
        }
    }
}

/// Work still in progress after a proof was revoked: it is counted and reported, but never granted.
struct Revoked: Hashable, Sendable {
    var factors: Set<Factor> = []
    var operations: [Operation] = []
    /// The pending write of an accepted proof.
    var acceptance: SaveID?
    /// Whether a miss may still bring up the fallback button.
    var mayShowFallback = false

    init() {}

    init(_ proving: Proving) {
        factors = proving.factors
        operations = proving.operations
        // A revoked match is dropped. A correct password still counts.
        acceptance = proving.holdsMatch ? nil : proving.acceptance
        mayShowFallback = proving.entry == .fallback(isShown: false)
    }
}
