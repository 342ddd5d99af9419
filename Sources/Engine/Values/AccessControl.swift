/// The protection of an item or a key: a valid combination of flags and accessibility.
///
/// Source: R60 to R65, R69.
package struct AccessControl: Hashable, Sendable {
    /// The proofs that the user must give.
    ///
    /// Raw values are Apple's.
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt64

        package init(rawValue: UInt64) {
            self.rawValue = rawValue
        }

        /// Biometry or the password: policy 2 (R67).
        package static let userPresence = Flags(rawValue: 1 << 0)
        /// Biometry; the item survives changes of the enrolment.
        package static let biometryAny = Flags(rawValue: 1 << 1)
        /// Biometry; any change of the enrolment deletes the item.
        package static let biometryCurrentSet = Flags(rawValue: 1 << 3)
        /// The password alone.
        package static let devicePasscode = Flags(rawValue: 1 << 4)
        /// A companion.
        package static let companion = Flags(rawValue: 1 << 5)
        /// Any of the constraints is enough.
        package static let or = Flags(rawValue: 1 << 14)
        /// Every constraint is needed, which is also the default without an operator (R63).
        package static let and = Flags(rawValue: 1 << 15)
        /// Guards the use of a private key.
        package static let privateKeyUsage = Flags(rawValue: 1 << 30)
        /// Also requires the app's own password, in addition to every other flag (R64).
        package static let applicationPassword = Flags(rawValue: 1 << 31)

        package static let known: Flags = [
            .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or,
            .and, .privateKeyUsage, .applicationPassword,
        ]
    }

    /// The times at which an item is readable.
    ///
    /// Raw values are Apple's; a trailing `u` means "this device only".
    package enum Accessibility: String, Sendable, CaseIterable {
        /// While the device is unlocked.
        case whenUnlocked = "ak"
        /// Once the device was unlocked.
        case afterFirstUnlock = "ck"
        /// While the device is unlocked, on this device.
        case whenUnlockedThisDeviceOnly = "aku"
        /// Once the device was unlocked, on this device.
        case afterFirstUnlockThisDeviceOnly = "cku"
        /// Only while the user has a password (R69).
        case whenPasscodeSet = "akpu"

        /// Creates an accessibility from Apple's raw value.
        ///
        /// The deprecated `dk` and `dku` read as `ak`.
        package init?(word: String) {
            switch word {
            case "dk", "dku": self = .whenUnlocked
            default: self.init(rawValue: word)
            }
        }
    }

    package enum Refusal: Error, Hashable, Sendable, CaseIterable, CustomStringConvertible {
        /// `or` and `and` together (R60).
        case twoOperators
        /// Both biometric flags (R61).
        case twoBiometries
        /// `userPresence` with another constraint or an operator (R62).
        case userPresenceCombined
        /// An unknown accessibility (R65).
        case protection
        case unknownFlags
        /// An access control and an accessibility for the same item (R70).
        case accessibleTwice

        /// The message that people see; Apple's text where Apple has one.
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

    /// The access control that requires no proof (R65).
    package static let none = AccessControl(unchecked: [])

    private init(unchecked flags: Flags) {
        self.flags = flags
        accessibility = .whenUnlocked
    }

    /// Creates an access control after checking that its parts are compatible.
    ///
    /// - Throws: The first violation of R65, R60, R61, R62, in this order, which is Apple's.
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

    /// Creates an access control from its wire values.
    ///
    /// - Parameters:
    ///   - flags: The flag bits; nil requires no authentication (R65).
    ///   - accessible: The accessibility in the access control; nil means `ak`.
    ///   - attribute: The accessibility among the attributes, for an item without an access
    ///     control (R70).
    /// - Throws: `Refusal`, as the other initialiser, and `protection` or `accessibleTwice`.
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

    /// Whether a change of the enrolment deletes the item (R67).
    package var isOfCurrentEnrolment: Bool { flags.contains(.biometryCurrentSet) }

    /// Whether removing the user's password deletes the item (R69).
    package var needsPasscodeSet: Bool { accessibility == .whenPasscodeSet }
}
