package import Contract

extension Policy {
    /// What proves it; any one is enough.
    package var factors: Set<Factor> {
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

extension BiometryType {
    /// Whether it sees people without their doing anything (L7).
    var isPassive: Bool { self == .face || self == .iris }
}

/// What is known of one sensor for one user at the moment of a look-up.
package struct SensorFact: Hashable, Sendable {
    /// Whether it can be used.
    package enum Availability: Hashable, Sendable {
        /// Present and answering.
        case usable
        /// It may be usable in a moment.
        case starting
        /// Known, but it can't be used now (crashed, lid closed, incompatible, …).
        case unavailable
        /// Not there any more, although this user has templates on it.
        case away
    }

    /// The last element of its bus name.
    package var name: String
    package var type: BiometryType
    package var strength: Strength
    package var availability: Availability
    /// How many templates this user has on it.
    package var templates: Int
    /// Why it is unavailable, where that is known.
    package var obstacle: Unavailability?

    package init(
        name: String,
        type: BiometryType,
        strength: Strength,
        availability: Availability,
        templates: Int,
        obstacle: Unavailability? = nil
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
package struct SensorFault: Hashable, Sendable {
    package var failure: SensorFailure
    package var message: String

    /// A fault with one sentence for people.
    package init(_ failure: SensorFailure, _ message: String) {
        self.failure = failure
        self.message = message
    }
}

/// What is known of a user's passcode at the moment of a look-up.
package enum PasscodeFact: Hashable, Sendable {
    /// It can be verified.
    case set
    /// The user has none.
    case missing
    /// Nobody says: there is no verifier, or it can't be asked.
    case unknown
}

/// What the service found out for one call, frozen at that moment.
package struct Facts: Hashable, Sendable {
    /// Every known sensor.
    package var sensors: [SensorFact]
    /// Whether every sensor that is there said what the user has; else it may have changed (L11b).
    package var isEnrolmentKnown = true
    /// Whether it was found out if a lock or a sleep was missed; else what was proved before may
    /// have ended.
    package var isPlaceKnown = true
    /// Whether the user has a passcode that can be verified.
    package var passcode: PasscodeFact
    /// The session whose agent shows the prompt; nil when the caller may not be prompted
    /// (inactive, locked or another user's session).
    package var session: String?
    /// Why there is none.
    package var absence = Absence.unknown
    /// Whether the caller is in a remote session, where sensors are of no use (L2).
    package var isRemote = false
    /// Whether the caller is in no session, and counts as sitting where its prompt is shown (L2).
    package var isInNoSession = false
    /// Whether its prompt would be shown where nobody can say that it is at the machine.
    package internal(set) var isPromptElsewhere = false
    /// The caller's process and its parents, for agents that serve one process only.
    package var processes: [Int32]

    package init(
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
package enum Absence: String, Error, Sendable, CaseIterable {
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
package struct Request: Hashable, Sendable {
    package var id: EvaluationID
    package var client: ClientID
    /// The context it was called on; nil for a one-shot.
    package var context: ContextID?
    /// The user to be authenticated.
    package var uid: UInt32
    /// What is asked for; of an access control, what the prompt says it is.
    package var policy: Policy
    /// What has to be proved, one after the other; any factor of a stage is enough for it.
    package var stages: [Set<Factor>]
    /// What an access control is evaluated for; nil: a policy is evaluated.
    package var operation: AccessOperation?
    /// Whether the app's own password is asked for at the end.
    package var asksApplicationPassword = false
    package var timeout: Duration = .seconds(120)
    /// Whether the fallback button may be shown (an empty title hides it).
    package var offersFallback = true
    /// Whether a prompt is forbidden.
    package var isInteractionNotAllowed = false
    /// Restricts to these sensors.
    package var sensors: [String]?
    /// Leaves out weaker sensors.
    package var minimumStrength: Strength?
    /// The caller's wish about confirming a passive match; nil: no wish.
    package var requiresConfirmation: Bool?
    /// Whether it is an unlock (root, with option `uid`), which goes first (L9).
    package var isUnlock = false
    /// How old a biometric unlock may be that answers without a prompt; zero: none does (R34).
    package var reuseDuration = Duration.zero

    /// A call with the defaults of the contract.
    package init(
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
    package init(
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
package struct Agent: Hashable, Sendable {
    /// Which prompts it shows.
    package enum Kind: Hashable, Sendable {
        /// The session's own.
        case normal
        /// Used only when the session has no other.
        case fallback
        /// Serves one process and its children.
        case process(Int32)
    }

    package var id: AgentID
    /// The connection that registered it.
    package var client: ClientID
    /// The user it serves.
    package var uid: UInt32
    /// The session it serves; empty: root's agent of a process that is in none.
    package var session: String
    package var kind: Kind
    /// Whether its prompts are known to be on the session's own display or terminal.
    package var isAtDisplay: Bool

    package init(
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
package struct UserRecord: Hashable, Sendable {
    /// Consecutive non-matches, as the lockout counts them (R3).
    package var failures = 0
    /// Whether there is half a one more: a sensor that looks by itself has missed once.
    package var hasHalfFailure = false
    /// Why a passcode is needed before biometry; nil: it isn't.
    package var passcodeCause: PasscodeCause?
    /// Consecutive wrong passcodes (L10).
    package var wrongPasscodes = 0
    /// Until when no passcode is taken (L10).
    package var delayedUntil: Instant?
    /// When the last correct passcode was given; nil: not since this boot (L11).
    package var lastPasscode: Instant?
    /// When the screen was last unlocked by biometry; nil: not since this boot, or it counts no
    /// more (R34, L11).
    package var lastBiometricUnlock: Instant?

    /// The record of a user of whom nothing is known.
    package init() {}
}
