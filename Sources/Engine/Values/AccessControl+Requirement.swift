package import Contract

/// What is done with an item or a key; raw values are Apple's.
package enum AccessOperation: UInt32, Sendable, CaseIterable {
    /// Storing an item.
    case createItem = 0
    /// Reading an item.
    case useItem = 1
    /// Making a key.
    case createKey = 2
    case useKeySign = 3
    case useKeyDecrypt = 4
    /// Agreeing on a secret with a key.
    case useKeyKeyExchange = 5

    /// Whether it adds something and reads nothing: that is free (R66).
    package var isCreation: Bool { self == .createItem || self == .createKey }
}

/// A way to prove presence, as access controls tell them apart.
package enum Factor: Int, Sendable, CaseIterable, Comparable {
    /// A sensor that is strong enough.
    case biometry
    case companion
    case passcode

    /// The order in which they are asked for.
    package static func < (left: Factor, right: Factor) -> Bool { left.rawValue < right.rawValue }
}

/// What has to be proved before an operation.
package struct Requirement: Hashable, Sendable {
    /// What is asked for, one after the other; any factor of a stage is enough for that stage.
    package private(set) var stages: [Set<Factor>]
    /// Whether the app's password is needed as well (R64).
    package let needsApplicationPassword: Bool

    /// Whether nobody has to prove anything; an application password may still be needed.
    package var isFree: Bool { stages.isEmpty }

    /// The policy that asks for exactly this stage; nil: none of the four does.
    package static func policy(for stage: Set<Factor>) -> Policy? {
        switch stage {
        case [.biometry]: .biometrics
        case [.biometry, .passcode]: .biometricsOrPasscode
        case [.companion]: .companion
        case [.biometry, .companion]: .biometricsOrCompanion
        default: nil
        }
    }

    /// What is still missing when these were proved.
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
    /// What an operation needs.
    ///
    /// Creating needs no authentication, but the password that the secret will be locked with.
    /// Reading an item and every use of a private key need all that the flags ask for: without
    /// `privateKeyUsage` a key can't be used without reading it.
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
        // With one constraint, or none, both ways are the same.
        guard flags.contains(.or), !constraints.isEmpty else { return constraints.map { [$0] } }
        return [Set(constraints)]
    }
}

extension Grant {
    /// What this grant proves of a user to an access control; nil: nothing.
    ///
    /// A sensor weaker than `minimumStrength` counts as none (L8), and so does a success that rests
    /// on an unlock some time ago: an item wants a person who is there now.
    package func factor(uid: UInt32, minimumStrength: Strength) -> Factor? {
        guard uid == self.uid else { return nil }
        if factor != .passcode, strength.map({ $0 >= minimumStrength }) != true { return nil }
        return factor
    }
}

/// The proof that a user may do one thing with whatever one access control guards.
///
/// The keychain gives nothing out without it. The application password is no part of it: that one
/// is proved by decrypting.
package struct AccessGrant: Hashable, Sendable {
    package let accessControl: AccessControl
    package let operation: AccessOperation
    package let uid: UInt32

    private init(accessControl: AccessControl, operation: AccessOperation, uid: UInt32) {
        self.accessControl = accessControl
        self.operation = operation
        self.uid = uid
    }

    /// The authorization that these grants are worth; nil: something is missing.
    ///
    /// `grants` is what the user has proved, for this operation and recently enough;
    /// `minimumStrength` is what sensors have to have, `strong` unless configured (L8).
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
