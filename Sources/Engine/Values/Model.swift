/// What is asked for; raw values are Apple's.
public enum Policy: UInt32, Sendable, CaseIterable {
    /// Biometry only.
    case biometrics = 1
    /// Biometry, or the passcode of the account.
    case biometricsOrPasscode = 2
    /// A companion (a security key, a phone).
    case companion = 3
    /// Biometry or a companion, whichever answers first.
    case biometricsOrCompanion = 4

    /// What proves it; any one is enough.
    public var factors: Set<Factor> {
        switch self {
        case .biometrics: Self.biometry
        case .biometricsOrPasscode: Self.biometryOrPasscode
        case .companion: Self.companionAlone
        case .biometricsOrCompanion: Self.biometryOrCompanion
        }
    }

    // Made once: every CanEvaluate needs one.
    private static let biometry: Set<Factor> = [.biometry]
    private static let biometryOrPasscode: Set<Factor> = [.biometry, .passcode]
    private static let companionAlone: Set<Factor> = [.companion]
    private static let biometryOrCompanion: Set<Factor> = [.biometry, .companion]
}

/// What a sensor looks at; raw values are Apple's.
///
/// A sensor of type `none` is a companion.
public enum BiometryType: UInt32, Sendable, CaseIterable {
    /// No biometry: a companion.
    case none = 0
    /// A finger.
    case fingerprint = 1
    /// A face.
    case face = 2
    /// An iris.
    case iris = 4

    /// Whether it sees people without their doing anything (L7).
    public var isPassive: Bool { self == .face || self == .iris }
}

/// How hard a sensor is to fool, weakest first.
public enum Strength: String, Sendable, CaseIterable, Comparable {
    /// Good for comfort only, such as an RGB webcam.
    case convenience
    /// Between the two.
    case weak
    /// Good enough for secrets.
    case strong

    /// Weaker and stronger.
    public static func < (left: Strength, right: Strength) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .convenience: 0
        case .weak: 1
        case .strong: 2
        }
    }
}

/// What a sensor says the person should do better.
///
/// One of the words of the interface's documentation, or one that a newer sensor knows: the engine
/// passes it on as it is.
public struct Hint: RawRepresentable, Hashable, Sendable {
    /// As it is sent.
    public let rawValue: String

    /// A hint by its word, known or not.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// What is known of one sensor for one user at the moment of a look-up.
public struct SensorFact: Hashable, Sendable {
    /// Whether it can be used.
    public enum Availability: Hashable, Sendable {
        /// Present and answering.
        case usable
        /// It may be usable in a moment.
        case starting
        /// Known, but it can't be used now (crashed, lid closed, incompatible, …).
        case unavailable
        /// Not there any more, although this user has templates on it.
        case away
    }

    /// Why it is unavailable; the first is the easiest to remove.
    public enum Obstacle: Sendable, Comparable {
        /// It sits under the closed lid.
        case lidClosed
        /// It does not work.
        case failed
        /// Its program ended without being asked to.
        case crashed
        /// It is not trusted, or of another version.
        case refused
        /// Its device is not there.
        case noHardware
    }

    /// The last element of its bus name.
    public var name: String
    /// What it looks at.
    public var type: BiometryType
    /// How hard it is to fool.
    public var strength: Strength
    /// Whether it can be used.
    public var availability: Availability
    /// How many templates this user has on it.
    public var templates: Int
    /// Why it is unavailable, where that is known.
    public var obstacle: Obstacle?

    /// What is known of one sensor.
    public init(
        name: String,
        type: BiometryType,
        strength: Strength,
        availability: Availability,
        templates: Int,
        obstacle: Obstacle? = nil
    ) {
        self.name = name
        self.type = type
        self.strength = strength
        self.availability = availability
        self.templates = templates
        self.obstacle = obstacle
    }
}

/// Why a sensor gave up.
public struct SensorFault: Hashable, Sendable {
    /// What kind of fault it is; raw values are what the bus is told.
    public enum Kind: String, Sendable, CaseIterable {
        /// It is not allowed what it needs.
        case denied
        /// Its device is gone.
        case missing
        /// Anything else.
        case failed
    }

    /// What kind of fault it is.
    public var kind: Kind
    /// One sentence for people.
    public var message: String

    /// A fault with one sentence for people.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}

/// What is known of a user's passcode at the moment of a look-up.
public enum PasscodeFact: Hashable, Sendable {
    /// It can be verified.
    case set
    /// The user has none.
    case missing
    /// Nobody says: there is no verifier, or it can't be asked.
    case unknown
}

/// What the service found out for one call, frozen at that moment.
public struct Facts: Hashable, Sendable {
    /// Every known sensor.
    public var sensors: [SensorFact]
    /// Whether every sensor that is there said what the user has; else it may have changed (L11b).
    public var isEnrolmentKnown = true
    /// Whether it was found out if a lock or a sleep was missed; else what was proved before may
    /// have ended.
    public var isPlaceKnown = true
    /// Whether the user has a passcode that can be verified.
    public var passcode: PasscodeFact
    /// The session whose agent shows the prompt; nil when the caller may not be prompted
    /// (inactive, locked or another user's session).
    public var session: String?
    /// Why there is none.
    public var absence = Absence.unknown
    /// Whether the caller is in a remote session, where sensors are of no use (L2).
    public var isRemote = false
    /// Whether the caller is in no session, and counts as sitting where its prompt is shown (L2).
    public var isInNoSession = false
    /// Whether its prompt would be shown where nobody can say that it is at the machine.
    public internal(set) var isPromptElsewhere = false
    /// The caller's process and its parents, for agents that serve one process only.
    public var processes: [Int32]

    /// What was found out.
    public init(
        sensors: [SensorFact] = [],
        passcode: PasscodeFact = .missing,
        session: String? = nil,
        processes: [Int32] = []
    ) {
        self.sensors = sensors
        self.passcode = passcode
        self.session = session
        self.processes = processes
    }
}

/// Why nobody can be asked for a caller; raw values are what the bus is told.
public enum Absence: String, Error, Sendable, CaseIterable {
    /// Neither the caller nor its user sits at this machine.
    case noSession = "no-session"
    /// The caller is in another user's session.
    case otherUser = "other-user"
    /// Another session is in front.
    case inactive
    /// The screen is locked.
    case locked
    /// The machine goes to sleep.
    case asleep
    /// Nothing there shows prompts.
    case noAgent = "no-agent"
    /// Nothing shows prompts where the user sits, and the caller is in no session itself.
    case noAgentThere = "no-agent-at-machine"
    /// Where the caller stands can't be found out.
    case unknown
}

/// One call of Evaluate, frozen when it arrived.
public struct Request: Hashable, Sendable {
    /// Its number.
    public var id: EvaluationID
    /// Who called.
    public var client: ClientID
    /// The context it was called on; nil for a one-shot.
    public var context: ContextID?
    /// The user to be authenticated.
    public var uid: UInt32
    /// What is asked for; of an access control, what the prompt says it is.
    public var policy: Policy
    /// What has to be proved, one after the other; any factor of a stage is enough for it.
    public var stages: [Set<Factor>]
    /// What an access control is evaluated for; nil: a policy is evaluated.
    public var operation: AccessOperation?
    /// Whether the app's own password is asked for at the end.
    public var asksApplicationPassword = false
    /// How long it may take.
    public var timeout: Duration = .seconds(120)
    /// Whether the fallback button may be shown (an empty title hides it).
    public var offersFallback = true
    /// Whether a prompt is forbidden.
    public var isInteractionNotAllowed = false
    /// Restricts to these sensors.
    public var sensors: [String]?
    /// Leaves out weaker sensors.
    public var minimumStrength: Strength?
    /// The caller's wish about confirming a passive match; nil: no wish.
    public var requiresConfirmation: Bool?
    /// Whether it is an unlock (root, with option `uid`), which goes first (L9).
    public var isUnlock = false
    /// How old a biometric unlock may be that answers without a prompt; zero: none does (R34).
    public var reuseDuration = Duration.zero

    /// A call with the defaults of the contract.
    public init(
        id: EvaluationID,
        client: ClientID,
        context: ContextID? = nil,
        uid: UInt32,
        policy: Policy
    ) {
        self.id = id
        self.client = client
        self.context = context
        self.uid = uid
        self.policy = policy
        stages = [policy.factors]
    }

    /// A call for what an access control needs, with the defaults of the contract.
    public init(
        id: EvaluationID,
        client: ClientID,
        context: ContextID?,
        uid: UInt32,
        operation: AccessOperation,
        requirement: Requirement
    ) {
        let shown: Policy? = requirement.stages.first.map { stage in
            Requirement.policy(for: stage)
                ?? (stage.contains(.passcode) ? .biometricsOrPasscode : .biometricsOrCompanion)
        }
        self.init(
            id: id,
            client: client,
            context: context,
            uid: uid,
            policy: shown ?? .biometricsOrPasscode
        )
        self.operation = operation
        stages = requirement.stages
        asksApplicationPassword = requirement.needsApplicationPassword
    }
}

/// A prompt agent as the engine knows it.
public struct Agent: Hashable, Sendable {
    /// Which prompts it shows.
    public enum Kind: Hashable, Sendable {
        /// The session's own.
        case normal
        /// Used only when the session has no other.
        case fallback
        /// Serves one process and its children.
        case process(Int32)
    }

    /// Its number.
    public var id: AgentID
    /// The connection that registered it.
    public var client: ClientID
    /// The user it serves.
    public var uid: UInt32
    /// The session it serves; empty: root's agent of a process that is in none.
    public var session: String
    /// Which prompts it shows.
    public var kind: Kind
    /// Whether its prompts are known to be on the session's own display or terminal.
    public var isAtDisplay: Bool

    /// An agent.
    public init(
        id: AgentID,
        client: ClientID,
        uid: UInt32,
        session: String,
        kind: Kind,
        isAtDisplay: Bool = false
    ) {
        self.isAtDisplay = isAtDisplay
        self.id = id
        self.client = client
        self.uid = uid
        self.session = session
        self.kind = kind
    }
}

/// What must outlive the process, for one user.
public struct UserRecord: Hashable, Sendable {
    /// Consecutive non-matches, as the lockout counts them (R3).
    public var failures = 0
    /// Whether there is half a one more: a sensor that looks by itself has missed once.
    public var hasHalfFailure = false
    /// Why a passcode is needed before biometry; nil: it isn't.
    public var passcodeCause: PasscodeCause?
    /// Consecutive wrong passcodes (L10).
    public var wrongPasscodes = 0
    /// Until when no passcode is taken (L10).
    public var delayedUntil: Instant?
    /// When the last correct passcode was given; nil: not since this boot (L11).
    public var lastPasscode: Instant?
    /// When the screen was last unlocked by biometry; nil: not since this boot, or it counts no
    /// more (R34, L11).
    public var lastBiometricUnlock: Instant?

    /// The record of a user of whom nothing is known.
    public init() {}
}
