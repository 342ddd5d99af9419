/// The first byte of an answer: CTAP's code of a failure.
package struct CTAPStatus: Error, Hashable, Sendable {
    package let rawValue: UInt8

    static let invalidCommand = Self(rawValue: 0x01)
    static let invalidParameter = Self(rawValue: 0x02)
    static let unexpectedType = Self(rawValue: 0x11)
    static let invalidCBOR = Self(rawValue: 0x12)
    static let missingParameter = Self(rawValue: 0x14)
    static let credentialExcluded = Self(rawValue: 0x19)
    static let unsupportedAlgorithm = Self(rawValue: 0x26)
    static let operationDenied = Self(rawValue: 0x27)
    static let keyStoreFull = Self(rawValue: 0x28)
    static let unsupportedOption = Self(rawValue: 0x2b)
    static let invalidOption = Self(rawValue: 0x2c)
    static let keepaliveCanceled = Self(rawValue: 0x2d)
    static let noCredentials = Self(rawValue: 0x2e)
    static let userActionTimeout = Self(rawValue: 0x2f)
    static let notAllowed = Self(rawValue: 0x30)
    static let pinAuthInvalid = Self(rawValue: 0x33)
    static let pinNotSet = Self(rawValue: 0x35)
    static let uvBlocked = Self(rawValue: 0x3c)
    static let invalidSubcommand = Self(rawValue: 0x3e)
    static let uvInvalid = Self(rawValue: 0x3f)
    static let other = Self(rawValue: 0x7f)
}

/// The cause why a vault did not do its work.
package enum VaultFault: Error, Hashable, Sendable {
    /// ``PasskeyVault/cancelVerification()`` ended it.
    case canceled
    /// The person chose to cancel.
    case denied
    /// The attempts of this prompt are used up.
    case failed
    /// No further attempt is taken for some time.
    case locked
    case timedOut
    /// No prompt is possible, for example in a locked session.
    case unattended
    case full
    case unreachable(String)

    /// The code for the program that waits.
    ///
    /// Chromium ends a ceremony at `operationDenied` alone, and waits for another security key at
    /// other codes.
    var status: CTAPStatus {
        switch self {
        case .canceled: .keepaliveCanceled
        case .denied, .failed, .locked, .unattended: .operationDenied
        case .timedOut: .userActionTimeout
        case .full: .keyStoreFull
        case .unreachable: .other
        }
    }

    /// The code for a program that repeats a refused request.
    ///
    /// Firefox repeats a request at `operationDenied` and ends the ceremony at all other codes.
    var repeatedStatus: CTAPStatus {
        switch self {
        case .failed: .uvInvalid
        case .locked: .uvBlocked
        default: .notAllowed
        }
    }
}
