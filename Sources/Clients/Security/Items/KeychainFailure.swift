package import DBus
internal import Foundation
internal import LocalAuthBus
package import LocalAuthClient

/// Why the keychain refused: Apple's number, and a sentence.
package struct KeychainFailure: Error, Hashable, Sendable {
    package let status: OSStatus
    package let message: String

    package init(_ status: OSStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    private static let statuses: [DBusError.Name: OSStatus] = [
        .keychainDuplicate: errSecDuplicateItem,
        .keychainNotFound: errSecItemNotFound,
        .keychainAuthFailed: errSecAuthFailed,
        .keychainInteractionNotAllowed: errSecInteractionNotAllowed,
        .keychainUserCanceled: errSecUserCanceled,
        .keychainParameter: errSecParam,
        .keychainDecode: errSecDecode,
        .keychainNotAvailable: errSecNotAvailable,
        .invalidArgs: errSecParam,
        .limitsExceeded: errSecAllocate,
        .notSupported: errSecUnimplemented,
        .accessDenied: errSecMissingEntitlement,
        .notInteractive: errSecInteractionNotAllowed,
        .userCancel: errSecUserCanceled,
        .systemCancel: errSecUserCanceled,
        .appCancel: errSecUserCanceled,
        .authenticationFailed: errSecAuthFailed,
        .userFallback: errSecAuthFailed,
        .passcodeNotSet: errSecAuthFailed,
        .biometryNotAvailable: errSecAuthFailed,
        .biometryNotEnrolled: errSecAuthFailed,
        .biometryLockout: errSecAuthFailed,
        .biometryNotPaired: errSecAuthFailed,
        .biometryDisconnected: errSecAuthFailed,
        .companionNotAvailable: errSecAuthFailed,
        .invalidContext: errSecAuthFailed,
        // A context that the service doesn't have any more.
        .unknownObject: errSecAuthFailed,
        .noServer: errSecNotAvailable,
        .disconnected: errSecNotAvailable,
        .timeout: errSecNotAvailable,
        .noReply: errSecNotAvailable,
        .nameHasNoOwner: errSecNotAvailable,
        .serviceUnknown: errSecNotAvailable,
    ]

    /// A bus error by the table of the contract.
    ///
    /// One that isn't in it says nothing of the person: an app would count it as an attempt.
    package init(_ error: DBusError) {
        self.init(Self.statuses[error.name] ?? errSecInternalComponent, error.message)
    }

    package init(_ absence: NoAnswer) {
        let isMisuse = absence == .onLoop
        self.init(isMisuse ? errSecInternalComponent : errSecNotAvailable, absence.message)
    }

    /// As calls with keys tell it: a person who cancels is the prompt's error.
    var keyError: NSError {
        guard status == errSecUserCanceled else { return NSError(status: status, message) }
        return NSError(
            domain: "com.apple.LocalAuthentication",
            code: -2,
            userInfo: [NSLocalizedDescriptionKey: message]
        )
    }

    package init(_ error: AuthenticationError) {
        let status =
            switch error.code {
            case .appCancel, .userCancel, .systemCancel: errSecUserCanceled
            case .invalidContext: errSecAuthFailed
            default: errSecNotAvailable
            }
        self.init(status, error.message)
    }
}

/// Translates what the bus throws.
@BusActor
func onKeychain<Value: Sendable>(
    _ body: @BusActor () async throws(DBusError) -> Value
) async throws(KeychainFailure) -> Value {
    do throws(DBusError) {
        return try await body()
    } catch {
        throw KeychainFailure(error)
    }
}
