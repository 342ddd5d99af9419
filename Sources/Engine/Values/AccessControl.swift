/// What guards an item or a key: flags and accessibility that go together.
///
/// Source: R60 to R65, R69.
package struct AccessControl: Hashable, Sendable {
    /// What is asked of the person; raw values are Apple's.
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt64

        /// Flags by their bits, known or not.
        package init(rawValue: UInt64) {
            self.rawValue = rawValue
        }

        /// Biometry or the passcode: policy 2 (R67).
        package static let userPresence = Flags(rawValue: 1 << 0)
        /// Biometry; an item survives changes of the enrolment.
        package static let biometryAny = Flags(rawValue: 1 << 1)
        /// Biometry; an item is gone after any change of the enrolment.
        package static let biometryCurrentSet = Flags(rawValue: 1 << 3)
        /// The passcode alone.
        package static let devicePasscode = Flags(rawValue: 1 << 4)
        /// A companion.
        package static let companion = Flags(rawValue: 1 << 5)
        /// One constraint is enough.
        package static let or = Flags(rawValue: 1 << 14)
        /// Every constraint is needed; so it is without an operator, too (R63).
        package static let and = Flags(rawValue: 1 << 15)
        /// Guards the use of a private key.
        package static let privateKeyUsage = Flags(rawValue: 1 << 30)
        /// A secret of the app is needed as well, whatever else is (R64).
        package static let applicationPassword = Flags(rawValue: 1 << 31)

        package static let known: Flags = [
            .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or,
            .and, .privateKeyUsage, .applicationPassword,
        ]
    }

    /// When an item may be read; raw values are Apple's, "this device only" with `u`.
    package enum Accessibility: String, Sendable, CaseIterable {
        /// While the device is unlocked.
        case whenUnlocked = "ak"
        /// Once it was unlocked.
        case afterFirstUnlock = "ck"
        /// While it is unlocked, on this device.
        case whenUnlockedThisDeviceOnly = "aku"
        /// Once it was unlocked, on this device.
        case afterFirstUnlockThisDeviceOnly = "cku"
        /// Only as long as there is a passcode (R69).
        case whenPasscodeSet = "akpu"

        /// An accessibility by its word; `dk` and `dku`, which Apple gave up, read as `ak`.
        package init?(word: String) {
            switch word {
            case "dk", "dku": self = .whenUnlocked
            default: self.init(rawValue: word)
            }
        }
    }

    /// Why flags or an accessibility are refused.
    package enum Refusal: Error, Hashable, Sendable, CaseIterable, CustomStringConvertible {
        /// `or` and `and` together (R60).
        case twoOperators
        /// Both biometric flags (R61).
        case twoBiometries
        /// `userPresence` with another constraint or an operator (R62).
        case userPresenceCombined
        /// An unknown accessibility (R65).
        case protection
        /// A bit without a meaning.
        case unknownFlags
        /// An access control and an accessibility for the same item (R70).
        case accessibleTwice

        /// The sentence that people see; Apple's, where Apple has one.
        package var description: String {
            switch self {
            case .twoOperators: "only one logical operation can be set"
            case .twoBiometries: "at most one bio constraint can be set"
            case .userPresenceCombined:
                "kSecAccessControlUserPresence can be combined only with "
                    + "kSecAccessControlApplicationPassword and kSecAccessControlPrivateKeyUsage"
            case .protection: "SecAccessControl: invalid protection"
            case .unknownFlags: "SecAccessControl: a flag that is none"
            case .accessibleTwice: "an item has an access control or an accessibility, not both"
            }
        }
    }

    package let flags: Flags
    package let accessibility: Accessibility

    /// Nothing is asked of anybody (R65).
    package static let none = AccessControl(unchecked: [])

    private init(unchecked flags: Flags) {
        self.flags = flags
        accessibility = .whenUnlocked
    }

    /// An access control whose parts go together.
    ///
    /// - Throws: the first breach of R65, R60, R61, R62, in this order, which is Apple's.
    package init(
        flags: Flags = [],
        accessibility: Accessibility = .whenUnlocked
    ) throws(Refusal) {
        guard flags.isSubset(of: .known) else { throw .unknownFlags }
        guard !flags.isSuperset(of: [.or, .and]) else { throw .twoOperators }
        guard !flags.isSuperset(of: [.biometryAny, .biometryCurrentSet]) else {
            throw .twoBiometries
        }
        let beside: Flags = [.userPresence, .applicationPassword, .privateKeyUsage]
        guard !flags.contains(.userPresence) || flags.isSubset(of: beside) else {
            throw .userPresenceCombined
        }
        self.flags = flags
        self.accessibility = accessibility
    }

    /// An access control as it stands on the wire.
    ///
    /// - Parameters:
    ///   - flags: The bits; nil is none: no authentication (R65).
    ///   - accessible: The accessibility's word in the access control; nil is `ak`.
    ///   - attribute: The accessibility's word among the attributes, for an item without an access
    ///     control (R70).
    /// - Throws: as the other initialiser, `protection` and `accessibleTwice`.
    package init(
        flags: UInt64?,
        accessible: String?,
        attribute: String? = nil
    ) throws(Refusal) {
        guard attribute == nil || (flags == nil && accessible == nil) else {
            throw .accessibleTwice
        }
        let word = accessible ?? attribute ?? Accessibility.whenUnlocked.rawValue
        guard let accessibility = Accessibility(word: word) else { throw .protection }
        try self.init(flags: Flags(rawValue: flags ?? 0), accessibility: accessibility)
    }

    /// Whether an item is gone once the enrolment is another (R67).
    package var isOfCurrentEnrolment: Bool { flags.contains(.biometryCurrentSet) }

    /// Whether an item is gone once there is no passcode (R69).
    package var needsPasscodeSet: Bool { accessibility == .whenPasscodeSet }
}
