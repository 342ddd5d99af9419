package import DBus
internal import Foundation
internal import LocalAuthBus
package import LocalAuthClient

/// An error of the keychain: Apple's status code, and a sentence.
package struct KeychainFailure: Error, Hashable, Sendable {
    package let status: OSStatus
    package let message: String
    /// The number of the error in Apple's framework for prompts; nil for a keychain's own error.
    private let promptCode: Int?

    package init(_ status: OSStatus, _ message: String, promptCode: Int? = nil) {
        self.status = status
        self.message = message
        self.promptCode = promptCode ?? (status == errSecUserCanceled ? -2 : nil)
    }

    /// The error for an operation that an access control does not contain.
    ///
    /// Apple's names of operations are `osgn` for signing, `ock` for deriving secrets and `od` for
    /// reading.
    package static func notInAccessControl(_ operation: String) -> KeychainFailure {
        let text = "ACL operation is not allowed: '\(operation)'"
        return KeychainFailure(errSecAuthFailed, text, promptCode: -1009)
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
        // The service has discarded the context.
        .unknownObject: errSecAuthFailed,
        .noServer: errSecNotAvailable,
        .disconnected: errSecNotAvailable,
        .timeout: errSecNotAvailable,
        .noReply: errSecNotAvailable,
        .nameHasNoOwner: errSecNotAvailable,
        .serviceUnknown: errSecNotAvailable,
    ]

    /// Converts a bus error by the table of the contract.
    ///
    /// Other errors become `errSecInternalComponent`: an app would count `errSecAuthFailed` as a
    /// failed attempt of the user.
    package init(_ error: DBusError) {
        self.init(Self.statuses[error.name] ?? errSecInternalComponent, error.message)
    }

    package init(_ absence: BlockingFailure) {
        let isMisuse = absence == .onLoop
        self.init(isMisuse ? errSecInternalComponent : errSecNotAvailable, absence.message)
    }

    /// The error for key calls, in which a cancellation has the prompt's error domain.
    package var keyError: NSError {
        guard let promptCode else { return NSError(status: status, message) }
        return NSError(
            domain: "com.apple.LocalAuthentication",
            code: promptCode,
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

/// Converts bus errors of `body`.
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
