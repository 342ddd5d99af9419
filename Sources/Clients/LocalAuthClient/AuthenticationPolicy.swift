@_exported public import enum Contract.BiometryType
@_exported public import enum Contract.Mechanism
@_exported public import enum Contract.Policy
@_exported public import enum Contract.Strength

/// The proof that an evaluation needs.
public typealias AuthenticationPolicy = Policy

/// The resistance of a sensor to deception.
public typealias BiometryStrength = Strength

/// Options of one evaluation, fixed when it starts.
public struct AuthenticationOptions: Hashable, Sendable {
    /// The title of the fallback button; nil: the default; empty: no button.
    public var fallbackTitle: String?
    /// The title of the cancel button; nil: the default.
    public var cancelTitle: String?
    /// Whether to fail with `notInteractive` instead of showing a prompt.
    public var isInteractionNotAllowed = false
    /// The maximum age of a biometric unlock that replaces a prompt.
    ///
    /// Zero disables reuse. The service clamps values to 300 s.
    public var reuseDuration = Duration.zero
    /// The time after which the evaluation ends with `systemCancel`; nil: 120 s; at most 600 s.
    public var timeout: Duration?
    /// The lowest accepted strength; nil: any.
    public var minimumStrength: BiometryStrength?
    /// The names of the sensors that may be used; nil: all.
    public var sensors: [String]?
    /// Whether the user has to confirm a face match; nil: only if the sensor isn't strong.
    public var requiresConfirmation: Bool?
    /// The parent window of the prompt, in the notation of the desktop portals.
    public var parentWindow: String?

    public init() {}
}

/// The proof that ended a successful evaluation.
public struct AuthenticationSuccess: Hashable, Sendable {
    public typealias Mechanism = Contract.Mechanism

    /// The way in which the user proved presence; nil if unknown to this version.
    public let mechanism: Mechanism?
    /// The kind of biometry; `none` without a sensor.
    public let biometryType: BiometryType
    /// The sensor's name; empty without a sensor.
    public let sensor: String
    /// The sensor's strength; nil without a sensor.
    public let strength: BiometryStrength?
    /// A digest of the enrolment that changes whenever the enrolment does; nil without biometry.
    public let domainState: [UInt8]?
}
