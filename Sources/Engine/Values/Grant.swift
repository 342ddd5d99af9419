package import Contract

/// The proof that an authentication took place.
///
/// Only the engine creates grants.
package struct Grant: Hashable, Sendable {
    package let mechanism: Mechanism
    package let uid: UInt32
    /// The name of the sensor; nil if the mechanism used none.
    package let sensor: String?
    package let type: BiometryType
    /// The strength of the sensor; nil if the mechanism used none.
    package let strength: Strength?
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

    enum Evidence: Hashable {
        case match(SensorFact)
        case passcode
        /// An earlier grant of the context, which is still valid.
        case earlier(Grant)
        /// A recent biometric unlock of the screen, with a sensor of this type.
        case unlock(BiometryType)

        /// Whether stopping biometry revokes this evidence.
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

    /// Creates the grant for this evidence.
    ///
    /// Evidence becomes a grant nowhere else.
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

    /// Returns the last of several proofs with the others attached.
    ///
    /// Without proofs, the app's password alone is the proof.
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

    package var proofs: [Grant] { others + [self] }
}
