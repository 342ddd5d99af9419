// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

public let LAErrorDomain: String = "com.apple.LocalAuthentication"

/// The reason why an evaluation failed or can't start.
///
/// Programs can catch it as `LAError` and as `NSError`.
public struct LAError: _BridgedStoredNSError, Hashable, Sendable {
    /// The cause; raw values are Apple's.
    @frozen
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        public typealias _ErrorType = LAError

        /// The user has no attempts left.
        case authenticationFailed = -1
        case userCancel = -2
        case userFallback = -3
        case systemCancel = -4
        /// The user has no password.
        case passcodeNotSet = -5
        /// No sensor is usable; the older name of `biometryNotAvailable`.
        case touchIDNotAvailable = -6
        /// The user is not enrolled; the older name of `biometryNotEnrolled`.
        case touchIDNotEnrolled = -7
        /// The password is required first; the older name of `biometryLockout`.
        case touchIDLockout = -8
        case appCancel = -9
        /// The app invalidated the context earlier.
        case invalidContext = -10
        case companionNotAvailable = -11
        case biometryNotPaired = -12
        /// The sensor with the user's templates is not connected.
        case biometryDisconnected = -13
        /// Exists for completeness; the service never sends it.
        case invalidDimensions = -14
        /// The evaluation needs a prompt, which is not possible or not allowed.
        case notInteractive = -1004

        /// No sensor is usable, or the service is not available.
        public static let biometryNotAvailable = Code.touchIDNotAvailable
        /// The user is not enrolled on any sensor.
        public static let biometryNotEnrolled = Code.touchIDNotEnrolled
        /// The user has to enter the password before biometry is accepted again.
        public static let biometryLockout = Code.touchIDLockout
        /// The older name of `companionNotAvailable`.
        public static let watchNotAvailable = Code.companionNotAvailable
    }

    public let _nsError: NSError

    /// Wraps an `NSError`, which must be in the domain ``LAErrorDomain``.
    public init(_nsError error: NSError) {
        precondition(error.domain == LAErrorDomain)
        _nsError = error
    }

    /// The cause; `authenticationFailed` for an unnamed number of Apple's, for example -1009.
    public var code: Code { Code(rawValue: _nsError.code) ?? .authenticationFailed }

    /// Compares code and description, because Foundation's own comparison traps on Linux.
    public static func == (left: LAError, right: LAError) -> Bool {
        left._nsError.code == right._nsError.code
            && left.localizedDescription == right.localizedDescription
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.code)
    }

    public static var errorDomain: String { LAErrorDomain }

    public static var _nsErrorDomain: String { LAErrorDomain }
}

extension LAError: _ObjectiveCBridgeable {
    /// Bridges to `NSError`: this conformance makes casts in both directions work on Linux.
    public typealias _ObjectiveCType = NSError

    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Wraps an `NSError`, which must be in the domain ``LAErrorDomain``.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        result = LAError(_nsError: source)
    }

    /// Wraps an `NSError`; false for another domain than ``LAErrorDomain``.
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSError,
        result: inout LAError?
    ) -> Bool {
        guard source.domain == LAErrorDomain else { return false }
        result = LAError(_nsError: source)
        return true
    }

    /// Wraps an `NSError`; nil becomes `authenticationFailed`.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        guard let source else { return LAError(.authenticationFailed) }
        return LAError(_nsError: source)
    }
}
