public import Foundation
internal import Security

/// What a right asks of the person.
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

    /// Biometry or the passcode.
    public static let `default` = LAAuthenticationRequirement(.presence)
    /// Biometry; fails without a sensor, and when nothing is enrolled.
    public static let biometry = LAAuthenticationRequirement(.biometry)
    /// Biometry with the enrolment that there was when the right was saved; of an ``LARight`` that
    /// isn't saved, with the one of its first success.
    public static let biometryCurrentSet = LAAuthenticationRequirement(.biometryCurrentSet)

    /// Biometry, or else what the fallback asks for.
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

/// The fallback when biometry isn't possible.
public final class LABiometryFallbackRequirement: NSObject, Sendable {
    /// The passcode.
    public static let `default` = LABiometryFallbackRequirement()
    /// The passcode.
    public static let devicePasscode = LABiometryFallbackRequirement()

    private override init() {
        super.init()
    }
}
