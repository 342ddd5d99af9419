package import Contract

/// Operations on an item or a key.
///
/// Raw values are Apple's.
package enum AccessOperation: UInt32, Sendable, CaseIterable {
    case createItem = 0
    case useItem = 1
    case createKey = 2
    case useKeySign = 3
    case useKeyDecrypt = 4
    case useKeyKeyExchange = 5

    /// Whether the operation only adds an item or key.
    ///
    /// Creation needs no proof (R66).
    package var isCreation: Bool { self == .createItem || self == .createKey }
}

/// The ways to prove presence that access controls distinguish.
package enum Factor: Int, Sendable, CaseIterable, Comparable {
    /// A biometric sensor that is strong enough.
    case biometry
    case companion
    case passcode

    /// Factors in the order in which a prompt asks for them.
    package static func < (left: Factor, right: Factor) -> Bool { left.rawValue < right.rawValue }
}

package struct Requirement: Hashable, Sendable {
    /// Stages to prove in order.
    ///
    /// Any factor of a stage proves it.
    package private(set) var stages: [Set<Factor>]
    /// Whether the app's password is needed as well (R64).
    package let needsApplicationPassword: Bool

    /// Whether the user has nothing to prove.
    ///
    /// The app's password may still be needed.
    package var isFree: Bool { stages.isEmpty }

    /// The policy that asks for exactly this stage, or nil.
    package static func policy(for stage: Set<Factor>) -> Policy? {
        switch stage {
        case [.biometry]: .biometrics
        case [.biometry, .passcode]: .biometricsOrPasscode
        case [.companion]: .companion
        case [.biometry, .companion]: .biometricsOrCompanion
        default: nil
        }
    }

    /// The requirement without the stages that these factors prove.
    package func remaining(after proved: Set<Factor>) -> Requirement {
        var rest = self
        rest.stages.removeAll { !$0.isDisjoint(with: proved) }
        return rest
    }

    fileprivate init(stages: [Set<Factor>], needsApplicationPassword: Bool) {
        self.stages = stages
        self.needsApplicationPassword = needsApplicationPassword
    }
}

extension AccessControl {
    /// Returns the proofs that an operation needs.
    ///
    /// Creating an item needs no authentication, only the password that will encrypt the secret.
    /// Reading an item and every use of a private key need all that the flags ask for. Without
    /// `privateKeyUsage`, using a key means reading it.
    ///
    /// Source: R63 to R67.
    package func requirement(for operation: AccessOperation) -> Requirement {
        Requirement(
            stages: operation.isCreation ? [] : stages,
            needsApplicationPassword: flags.contains(.applicationPassword)
        )
    }

    private var stages: [Set<Factor>] {
        if flags.contains(.userPresence) { return [[.biometry, .passcode]] }
        var constraints: [Factor] = []
        if !flags.isDisjoint(with: [.biometryAny, .biometryCurrentSet]) {
            constraints.append(.biometry)
        }
        if flags.contains(.companion) { constraints.append(.companion) }
        if flags.contains(.devicePasscode) { constraints.append(.passcode) }
        // With at most one constraint, `or` and `and` mean the same.
        guard flags.contains(.or), !constraints.isEmpty else { return constraints.map { [$0] } }
        return [Set(constraints)]
    }
}

extension Grant {
    /// The factor that this grant proves to an access control for this user, or nil.
    ///
    /// A sensor weaker than `minimumStrength` proves no factor (L8). A success that rests on an
    /// earlier unlock proves no factor either, because an item requires a person who is present
    /// now.
    package func factor(uid: UInt32, minimumStrength: Strength) -> Factor? {
        guard uid == self.uid else { return nil }
        if factor != .passcode, strength.map({ $0 >= minimumStrength }) != true { return nil }
        return factor
    }
}

/// The proof that a user may perform one operation on anything that an access control guards.
///
/// The keychain releases no secret without this proof. The app's password is not part of it:
/// decryption proves that password.
package struct AccessGrant: Hashable, Sendable {
    package let accessControl: AccessControl
    package let operation: AccessOperation
    package let uid: UInt32

    private init(accessControl: AccessControl, operation: AccessOperation, uid: UInt32) {
        self.accessControl = accessControl
        self.operation = operation
        self.uid = uid
    }

    /// Returns the authorization that these grants prove, or nil if a factor is missing.
    ///
    /// `grants` holds the user's recent proofs for this operation. `minimumStrength` is the
    /// strength that sensors must have, `strong` unless configured (L8).
    package static func resting(
        on grants: some Sequence<Grant>,
        for operation: AccessOperation,
        uid: UInt32,
        accessControl: AccessControl,
        minimumStrength: Strength = .strong
    ) -> AccessGrant? {
        let proved = Set(
            grants.compactMap { $0.factor(uid: uid, minimumStrength: minimumStrength) }
        )
        guard accessControl.requirement(for: operation).remaining(after: proved).isFree else {
            return nil
        }
        return AccessGrant(accessControl: accessControl, operation: operation, uid: uid)
    }
}
