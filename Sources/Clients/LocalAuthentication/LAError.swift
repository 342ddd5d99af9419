// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// The domain of the errors of this module.
public let LAErrorDomain: String = "com.apple.LocalAuthentication"

/// Why an evaluation failed, or why it could not succeed.
///
/// It arrives as `LAError` and as `NSError`, whichever a program asks for.
public struct LAError: _BridgedStoredNSError, Hashable, Sendable {
    /// What went wrong; the raw values are Apple's.
    @frozen
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error that has these codes.
        public typealias _ErrorType = LAError

        /// The attempts are used up.
        case authenticationFailed = -1
        /// The person canceled.
        case userCancel = -2
        /// The person chose the fallback.
        case userFallback = -3
        /// The system canceled.
        case systemCancel = -4
        /// The person has no passcode.
        case passcodeNotSet = -5
        /// There is no usable sensor; the older name of `biometryNotAvailable`.
        case touchIDNotAvailable = -6
        /// Nothing is enrolled; the older name of `biometryNotEnrolled`.
        case touchIDNotEnrolled = -7
        /// A passcode is needed first; the older name of `biometryLockout`.
        case touchIDLockout = -8
        /// The app invalidated the context.
        case appCancel = -9
        /// The context had been invalidated before.
        case invalidContext = -10
        /// There is no companion device.
        case companionNotAvailable = -11
        /// The sensor is not paired.
        case biometryNotPaired = -12
        /// The sensor is not connected.
        case biometryDisconnected = -13
        /// Kept for the table.
        case invalidDimensions = -14
        /// A prompt would be needed and is not possible.
        case notInteractive = -1004

        /// There is no usable sensor, or no service.
        public static let biometryNotAvailable = Code.touchIDNotAvailable
        /// Nothing is enrolled.
        public static let biometryNotEnrolled = Code.touchIDNotEnrolled
        /// A passcode is needed before biometry is accepted again.
        public static let biometryLockout = Code.touchIDLockout
        /// The older name of `companionNotAvailable`.
        public static let watchNotAvailable = Code.companionNotAvailable
    }

    /// The error as Foundation has it.
    public let _nsError: NSError

    /// An error from Foundation's; its domain is ``LAErrorDomain``.
    public init(_nsError error: NSError) {
        precondition(error.domain == LAErrorDomain)
        _nsError = error
    }

    /// Equal when the code and the sentence are: Foundation's own comparison traps on Linux.
    public static func == (left: LAError, right: LAError) -> Bool {
        left._nsError.code == right._nsError.code
            && left.localizedDescription == right.localizedDescription
    }

    /// By the code.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.code)
    }

    /// The domain of the errors.
    public static var errorDomain: String { LAErrorDomain }

    /// The domain, as Foundation asks for it.
    public static var _nsErrorDomain: String { LAErrorDomain }
}

extension LAError: _ObjectiveCBridgeable {
    /// What it is bridged to: with this, every cast between the two works on Linux as well.
    public typealias _ObjectiveCType = NSError

    /// The error as Foundation has it.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// An error from Foundation's; its domain is ``LAErrorDomain``.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        result = LAError(_nsError: source)
    }

    /// The same when the domain is this module's.
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSError,
        result: inout LAError?
    ) -> Bool {
        guard source.domain == LAErrorDomain else { return false }
        result = LAError(_nsError: source)
        return true
    }

    /// The same, or a failed authentication when there is no error.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        guard let source else { return LAError(.authenticationFailed) }
        return LAError(_nsError: source)
    }
}
