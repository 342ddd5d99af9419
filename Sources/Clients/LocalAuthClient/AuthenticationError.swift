internal import Contract

/// An error that ends an authentication.
public struct AuthenticationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The cause, for programs; raw values are Apple's.
    ///
    /// Later versions may add codes.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int

        /// Creates a code from its number, known or unknown.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }
    }

    public let code: Code
    /// A sentence for the user, with the next step if known.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code.rawValue): \(message)" }
}

extension AuthenticationError.Code {
    init(_ code: RefusalCode) {
        self.init(rawValue: Int(code.rawValue))
    }

    /// The user has no attempts left.
    public static let authenticationFailed = Self(.authenticationFailed)
    public static let userCancel = Self(.userCancel)
    /// The user chose the fallback, which the app has to provide.
    public static let userFallback = Self(.userFallback)
    /// The system canceled: the session was locked, the service ended or the deadline passed.
    public static let systemCancel = Self(.systemCancel)
    /// The user has no password.
    public static let passcodeNotSet = Self(.passcodeNotSet)
    /// No sensor is usable, or the service is not available.
    public static let biometryNotAvailable = Self(.biometryNotAvailable)
    /// The user is not enrolled on any sensor.
    public static let biometryNotEnrolled = Self(.biometryNotEnrolled)
    /// The user has to enter the password before biometry is accepted again.
    public static let biometryLockout = Self(.biometryLockout)
    public static let appCancel = Self(.appCancel)
    /// The app invalidated the session earlier.
    public static let invalidContext = Self(.invalidContext)
    public static let companionNotAvailable = Self(.companionNotAvailable)
    public static let biometryNotPaired = Self(.biometryNotPaired)
    /// The sensor with the user's templates is not connected.
    public static let biometryDisconnected = Self(.biometryDisconnected)
    /// Exists for completeness; the service never sends it.
    public static let invalidDimensions = Self(.invalidDimensions)
    /// The evaluation needs a prompt, which is not possible or not allowed.
    public static let notInteractive = Self(.notInteractive)
}
