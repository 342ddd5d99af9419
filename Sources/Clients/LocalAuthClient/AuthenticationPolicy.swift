@_exported public import enum Contract.BiometryType
@_exported public import enum Contract.Mechanism
@_exported public import enum Contract.Policy
@_exported public import enum Contract.Strength

/// The proof that an evaluation needs.
public typealias AuthenticationPolicy = Policy

/// How hard it is to deceive a sensor.
public typealias BiometryStrength = Strength

/// How one evaluation differs from the ordinary one.
///
/// All of it is fixed when the evaluation starts.
public struct AuthenticationOptions: Hashable, Sendable {
    /// The title of the fallback button; nil: the default; empty: no button.
    public var fallbackTitle: String?
    /// The title of the cancel button; nil: the default.
    public var cancelTitle: String?
    /// Whether to answer `notInteractive` in place of a prompt.
    public var isInteractionNotAllowed = false
    /// The age of a biometric unlock of the device that is accepted in place of a prompt.
    ///
    /// Zero: none; more than 300 s behaves as 300 s.
    public var reuseDuration = Duration.zero
    /// When the evaluation ends with `systemCancel`; nil: 120 s; at most 600 s.
    public var timeout: Duration?
    /// The least strength that is accepted; nil: any.
    public var minimumStrength: BiometryStrength?
    /// The sensors that may be used, by name; nil: all.
    public var sensors: [String]?
    /// Whether a face match has to be confirmed; nil: when the sensor isn't strong.
    public var requiresConfirmation: Bool?
    /// The window that the prompt belongs to, as the desktop's portals name it.
    public var parentWindow: String?

    /// The ordinary evaluation.
    public init() {}
}

/// Who is there, and how that was proved.
public struct AuthenticationSuccess: Hashable, Sendable {
    /// How it was proved.
    public typealias Mechanism = Contract.Mechanism

    /// How it was proved; nil: in a way that this version doesn't know.
    public let mechanism: Mechanism?
    /// What the sensor looked at; `none` without one.
    public let biometryType: BiometryType
    /// The sensor's name; empty without one.
    public let sensor: String
    /// The sensor's strength; nil without one.
    public let strength: BiometryStrength?
    /// Represents the enrolment: the bytes change whenever it does; nil without biometry.
    public let domainState: [UInt8]?
}
