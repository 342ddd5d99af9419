internal import Contract

/// Why somebody was not authenticated.
public struct AuthenticationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong, for programs; raw values are Apple's.
    ///
    /// Later versions may know more codes.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The number, below zero.
        public let rawValue: Int

        /// A code by its number, known or not.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }
    }

    /// What went wrong, for programs.
    public let code: Code
    /// What went wrong, for people: one sentence, with what to do next where that is known.
    public let message: String

    /// An error by its parts.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the sentence.
    public var description: String { "\(code.rawValue): \(message)" }
}

extension AuthenticationError.Code {
    init(_ code: RefusalCode) {
        self.init(rawValue: Int(code.rawValue))
    }

    /// The attempts are used up.
    public static let authenticationFailed = Self(.authenticationFailed)
    /// The person canceled.
    public static let userCancel = Self(.userCancel)
    /// The person chose the fallback, which is the app's to offer.
    public static let userFallback = Self(.userFallback)
    /// The system canceled: the session was locked, the service ended, the deadline passed.
    public static let systemCancel = Self(.systemCancel)
    /// The person has no passcode.
    public static let passcodeNotSet = Self(.passcodeNotSet)
    /// There is no usable sensor, or no service.
    public static let biometryNotAvailable = Self(.biometryNotAvailable)
    /// The person is enrolled on no sensor.
    public static let biometryNotEnrolled = Self(.biometryNotEnrolled)
    /// A passcode is needed before biometry is accepted again.
    public static let biometryLockout = Self(.biometryLockout)
    /// The app invalidated the session.
    public static let appCancel = Self(.appCancel)
    /// The session had been invalidated before.
    public static let invalidContext = Self(.invalidContext)
    /// There is no companion device.
    public static let companionNotAvailable = Self(.companionNotAvailable)
    /// The sensor is not paired.
    public static let biometryNotPaired = Self(.biometryNotPaired)
    /// The sensor with the person's templates is not connected.
    public static let biometryDisconnected = Self(.biometryDisconnected)
    /// Kept for completeness; the service never answers it.
    public static let invalidDimensions = Self(.invalidDimensions)
    /// A prompt would be needed and is not possible.
    public static let notInteractive = Self(.notInteractive)
}
