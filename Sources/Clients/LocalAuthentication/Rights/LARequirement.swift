public import Foundation
internal import Security

/// The proof that a right requires.
public final class LAAuthenticationRequirement: NSObject, Sendable {
    enum Kind: String {
        case presence
        case biometry
        case biometryCurrentSet
    }

    let kind: Kind

    init(_ kind: Kind) {
        self.kind = kind
    }

    /// Biometry or the password.
    public static let `default` = LAAuthenticationRequirement(.presence)
    /// Biometry; fails without a sensor or without an enrolment.
    public static let biometry = LAAuthenticationRequirement(.biometry)
    /// Biometry with an unchanged enrolment.
    ///
    /// The reference is the enrolment at the time of saving, or for an unsaved ``LARight`` at its
    /// first success.
    public static let biometryCurrentSet = LAAuthenticationRequirement(.biometryCurrentSet)

    /// Biometry, or the fallback's proof.
    public static func biometry(
        fallback: LABiometryFallbackRequirement
    ) -> LAAuthenticationRequirement {
        LAAuthenticationRequirement(.presence)
    }

    var policy: LAPolicy {
        kind == .presence
            ? .deviceOwnerAuthentication : .deviceOwnerAuthenticationWithBiometrics
    }

    var flags: SecAccessControlCreateFlags {
        switch kind {
        case .presence: .userPresence
        case .biometry: .biometryAny
        case .biometryCurrentSet: .biometryCurrentSet
        }
    }
}

/// The proof that replaces biometry if biometry isn't possible.
public final class LABiometryFallbackRequirement: NSObject, Sendable {
    /// The password.
    public static let `default` = LABiometryFallbackRequirement()
    /// The password.
    public static let devicePasscode = LABiometryFallbackRequirement()

    private override init() {
        super.init()
    }
}
