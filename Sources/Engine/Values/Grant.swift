package import Contract

/// The proof that an authentication really happened; only the engine makes one.
package struct Grant: Hashable, Sendable {
    /// How the user proved it.
    package let mechanism: Mechanism
    package let uid: UInt32
    /// The sensor, its type and strength, where there was one.
    package let sensor: String?
    package let type: BiometryType
    /// How strong the sensor was; nil without one.
    package let strength: Strength?
    /// Whatever else an access control asked for and the user proved.
    package private(set) var others: [Grant] = []

    private init(
        mechanism: Mechanism,
        uid: UInt32,
        sensor: String?,
        type: BiometryType,
        strength: Strength?
    ) {
        self.mechanism = mechanism
        self.uid = uid
        self.sensor = sensor
        self.type = type
        self.strength = strength
    }

    /// What a grant rests on.
    enum Evidence: Hashable {
        /// A running operation matched.
        case match(SensorFact)
        /// The verifier said yes.
        case passcode
        /// The context had been granted this before, and it still counts.
        case earlier(Grant)
        /// The screen was unlocked by biometry a moment ago, with a sensor of this type.
        case unlock(BiometryType)

        /// Whether it stands and falls with biometry.
        var isBiometric: Bool {
            switch self {
            case .match(let sensor): sensor.type != .none
            case .passcode: false
            case .earlier(let grant): grant.type != .none
            case .unlock: true
            }
        }

        fileprivate var mechanism: Mechanism {
            switch self {
            case .match(let sensor): sensor.type == .none ? .companion : .biometry
            case .passcode: .passcode
            case .earlier: .context
            case .unlock: .reuse
            }
        }

        fileprivate var source: (sensor: String?, type: BiometryType, strength: Strength?) {
            switch self {
            case .match(let sensor): (sensor.name, sensor.type, sensor.strength)
            case .passcode: (nil, .none, nil)
            case .earlier(let grant): (grant.sensor, grant.type, grant.strength)
            case .unlock(let type): (nil, type, nil)
            }
        }
    }

    /// The grant that this evidence is worth; nothing else makes one.
    static func resting(
        on evidence: Evidence,
        uid: UInt32,
        after others: [Grant] = []
    ) -> Grant {
        let (sensor, type, strength) = evidence.source
        var grant = Grant(
            mechanism: evidence.mechanism,
            uid: uid,
            sensor: sensor,
            type: type,
            strength: strength
        )
        grant.others = others
        return grant
    }

    /// The last of several proofs, with the others; without any: the app's password alone.
    static func concluding(_ proofs: [Grant], uid: UInt32) -> Grant {
        guard var last = proofs.last else {
            return Grant(
                mechanism: .applicationPassword,
                uid: uid,
                sensor: nil,
                type: .none,
                strength: nil
            )
        }
        last.others = Array(proofs.dropLast())
        return last
    }

    /// Every proof, the grant itself among them.
    package var proofs: [Grant] { others + [self] }
}
