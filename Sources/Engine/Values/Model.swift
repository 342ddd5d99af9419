package import Contract

extension Policy {
    /// The factors of the policy.
    ///
    /// Any of them is enough.
    package var factors: Set<Factor> {
        switch self {
        case .biometrics: Self.biometry
        case .biometricsOrPasscode: Self.biometryOrPasscode
        case .companion: Self.companionAlone
        case .biometricsOrCompanion: Self.biometryOrCompanion
        }
    }

    // Created once, because every CanEvaluate needs them.
    private static let biometry: Set<Factor> = [.biometry]
    private static let biometryOrPasscode: Set<Factor> = [.biometry, .passcode]
    private static let companionAlone: Set<Factor> = [.companion]
    private static let biometryOrCompanion: Set<Factor> = [.biometry, .companion]
}

extension BiometryType {
    /// Whether the sensor also sees people without their cooperation (L7).
    var isPassive: Bool { self == .face || self == .iris }
}

/// A sensor's state for one user, as the look-up found it.
package struct SensorFact: Hashable, Sendable {
    package enum Availability: Hashable, Sendable {
        case usable
        /// May become usable in a moment.
        case starting
        /// Known but not usable (crashed, lid closed, incompatible, …).
        case unavailable
        /// Disconnected, but this user has templates on it.
        case away
    }

    /// The last element of the sensor's bus name.
    package var name: String
    package var type: BiometryType
    package var strength: Strength
    package var availability: Availability
    package var templates: Int
    /// Why the sensor is unavailable, if known.
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

package struct SensorFault: Hashable, Sendable {
    package var failure: SensorFailure
    package var message: String

    package init(_ failure: SensorFailure, _ message: String) {
        self.failure = failure
        self.message = message
    }
}

/// The state of a user's password, as the look-up found it.
package enum PasscodeFact: Hashable, Sendable {
    case set
    case missing
    /// Unknown: there is no verifier, or it does not answer.
    case unknown
}

/// The facts that the service looked up for one call.
///
/// They do not change afterwards.
package struct Facts: Hashable, Sendable {
    package var sensors: [SensorFact]
    /// Whether every present sensor reported the user's templates.
    ///
    /// Otherwise the enrolment may have changed (L11b).
    package var isEnrolmentKnown = true
    /// Whether the service knows that it missed no lock or suspend.
    ///
    /// Otherwise earlier proofs may have ended.
    package var hasMissedNoLock = true
    package var passcode: PasscodeFact
    /// The session whose agent shows the prompt.
    ///
    /// Nil if the caller may not be prompted (inactive, locked or another user's session).
    package var session: String?
    /// Why `session` is nil.
    package var absence = Absence.unknown
    /// Whether the caller is in a remote session, where sensors are useless (L2).
    package var isRemote = false
    /// Whether the caller is in no session, so that the place of its prompt decides (L2).
    package var isInNoSession = false
    /// Whether the prompt might be shown away from the machine.
    package internal(set) var isPromptElsewhere = false
    /// The caller's process and its parents, for agents that serve one process.
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

/// Why no prompt is possible for a caller.
///
/// Raw values go over the bus.
package enum Absence: String, Error, Sendable, CaseIterable {
    /// Neither the caller nor its user has a session at this machine.
    case noSession = "no-session"
    case otherUser = "other-user"
    case inactive
    case locked
    case asleep
    /// The session has no agent.
    case noAgent = "no-agent"
    /// The caller is in no session, and the user's session has no agent.
    case noAgentThere = "no-agent-at-machine"
    /// The service could not find out the caller's session.
    case unknown
}

package struct Request: Hashable, Sendable {
    package var id: EvaluationID
    package var client: ClientID
    /// The context of the call; nil for a call without a context.
    package var context: ContextID?
    package var uid: UInt32
    /// The requested policy.
    ///
    /// For an access control, the policy that the prompt shows.
    package var policy: Policy
    /// Stages to prove in order.
    ///
    /// Any factor of a stage proves it.
    package var stages: [Set<Factor>]
    /// The operation that an access control guards; nil if a policy is evaluated.
    package var operation: AccessOperation?
    /// Whether the app's own password is required at the end.
    package var asksApplicationPassword = false
    package var timeout: Duration = .seconds(120)
    /// Whether the fallback button may be shown.
    ///
    /// An empty title hides it.
    package var offersFallback = true
    package var isInteractionNotAllowed = false
    /// The only sensors that may be used; nil means all.
    package var sensors: [String]?
    /// The least strength of sensors that may be used; nil means any.
    package var minimumStrength: Strength?
    /// Whether the caller wants a passive match confirmed; nil leaves it to the settings.
    package var requiresConfirmation: Bool?
    /// Whether the call is an unlock (root, with option `uid`), which precedes other calls (L9).
    package var isUnlock = false
    /// Whether the session may be locked.
    ///
    /// Otherwise a touch that was meant for the lock screen could answer another program.
    package var isForLockScreen = false
    /// The greatest age of a biometric unlock that answers without a prompt; zero means none (R34).
    package var reuseDuration = Duration.zero

    /// Creates a request for a policy, with the defaults of the contract.
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

    /// Creates a request for an access control's requirement, with the defaults of the contract.
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

package struct Agent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The prompts of its session.
        case normal
        /// The prompts of its session while the session has no normal agent.
        case fallback
        /// The prompts of one process and its children.
        case process(Int32)
    }

    package var id: AgentID
    package var client: ClientID
    package var uid: UInt32
    /// The session it serves.
    ///
    /// Empty for root's agent of a process outside sessions.
    package var session: String
    package var kind: Kind
    /// Whether the agent is known to prompt on the session's own display or terminal.
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

/// A user's state that must outlive the process.
package struct UserRecord: Hashable, Sendable {
    /// Consecutive misses, as the lockout counts them (R3).
    package var misses = 0
    /// Whether a passive sensor has missed once, which adds half a miss.
    package var hasHalfMiss = false
    /// Why biometry must wait for a password; nil if it need not.
    package var passcodeCause: PasscodeCause?
    /// Consecutive wrong passwords (L10).
    package var wrongPasscodes = 0
    /// The end of the delay in which no password is accepted (L10).
    package var delayedUntil: Instant?
    /// The time of the last correct password; nil if there is none since boot (L11).
    package var lastPasscode: Instant?
    /// The time of the last biometric unlock; nil if there is none since boot, or it no longer
    /// counts (R34, L11).
    package var lastBiometricUnlock: Instant?

    package init() {}
}
