import ClientTestSupport
import DBus
import Foundation
import LocalAuthBus
import Testing

@testable import Security

/// Tests the status codes of keychain calls, without the service.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct StatusTests {
    @Test("Every status has its number and a sentence")
    func statuses() {
        let known: [(OSStatus, Int32)] = [
            (errSecSuccess, 0), (errSecUnimplemented, -4), (errSecIO, -36), (errSecParam, -50),
            (errSecAllocate, -108), (errSecUserCanceled, -128), (errSecNotAvailable, -25291),
            (errSecAuthFailed, -25293), (errSecDuplicateItem, -25299),
            (errSecItemNotFound, -25300), (errSecInteractionNotAllowed, -25308),
            (errSecDecode, -26275), (errSecMissingEntitlement, -34018),
            (errSecInvalidRecord, -67701), (errSecInvalidEncoding, -67853),
            (errSecCoreFoundationUnknown, -4960), (errSecMobileMeNoRequestPending, -67664),
            (errSecCertificateDuplicateExtension, -67903),
            (errSecMissingQualifiedCertStatement, -67904),
        ]
        for (status, number) in known {
            #expect(status == number)
            #expect(SecCopyErrorMessageString(status, nil) != nil)
        }
        // The numbers of SecBase.h in this range have no gap.
        for status in OSStatus(-67904)...(-67585) {
            #expect(SecCopyErrorMessageString(status, nil) != nil, "\(status)")
        }
        #expect(SecCopyErrorMessageString(12345, nil) == nil)
    }

    @Test("Without the service calls fail at once")
    func away() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { _ in
            let query = [kSecClass as String: kSecClassGenericPassword] as CFDictionary
            #expect(SecItemCopyMatching(query, nil) == errSecNotAvailable)
            #expect(SecItemAdd(query, nil) == errSecNotAvailable)
            #expect(SecItemDelete(query) == errSecNotAvailable)
            #expect(SecItemUpdate(query, [:] as NSDictionary) == errSecNotAvailable)
        }
    }

    @Test("An invalid dictionary is refused without a prompt")
    func malformed() {
        let wrong: [([String: Any], OSStatus)] = [
            ([kSecClass as String: 5], errSecParam),
            ([kSecClass as String: "none"], errSecNoSuchClass),
            ([kSecClass as String: kSecClassKey, kSecAttrPort as String: "x"], errSecNoSuchAttr),
            ([kSecClass as String: kSecClassKey, "nosuch": "x"], errSecParam),
            ([kSecClass as String: kSecClassKey, "nosu": "x"], errSecNoSuchAttr),
            ([kSecClass as String: kSecClassKey, kSecReturnData as String: 1], errSecParam),
            ([kSecClass as String: kSecClassKey, kSecReturnData as String: "yes"], errSecParam),
            ([kSecMatchLimit as String: 0], errSecParam),
            ([kSecUseAuthenticationContext as String: "x"], errSecParam),
            ([kSecAttrAccessControl as String: "ak"], errSecParam),
            ([kSecUseAuthenticationUI as String: "maybe"], errSecParam),
            ([kSecAttrKeyType as String: kSecAttrKeyTypeRSA], errSecParam),
            ([:], errSecParam),
            ([kSecClass as String: kSecClassKey, kSecAttrServer as String: "x"], errSecNoSuchAttr),
            (
                [kSecClass as String: kSecClassGenericPassword, kSecAttrPath as String: "x"],
                errSecNoSuchAttr
            ),
            (
                [kSecClass as String: kSecClassInternetPassword, kSecMatchPolicy as String: "x"],
                errSecUnimplemented
            ),
            ([kSecClass as String: kSecClassKey, kSecAttrPort as String: 0.5], errSecParam),
        ]
        for (query, status) in wrong {
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == status, "\(query)")
        }
    }

    @Test("An unknown error is not an authentication failure; a refused authentication is")
    func failures() {
        let statuses: [(DBusError.Name, OSStatus)] = [
            (.failed, errSecInternalComponent), ("org.example.Unheard", errSecInternalComponent),
            (.unknownMethod, errSecInternalComponent), (.timeout, errSecNotAvailable),
            (.disconnected, errSecNotAvailable), (.limitsExceeded, errSecAllocate),
            (.keychainAuthFailed, errSecAuthFailed), (.authenticationFailed, errSecAuthFailed),
            (.biometryLockout, errSecAuthFailed), (.invalidContext, errSecAuthFailed),
            (.passcodeNotSet, errSecAuthFailed), (.unknownObject, errSecAuthFailed),
            (.biometryNotAvailable, errSecAuthFailed), (.biometryNotEnrolled, errSecAuthFailed),
            (.biometryNotPaired, errSecAuthFailed), (.biometryDisconnected, errSecAuthFailed),
            (.companionNotAvailable, errSecAuthFailed), (.userFallback, errSecAuthFailed),
            (.keychainDuplicate, errSecDuplicateItem), (.keychainNotFound, errSecItemNotFound),
            (.keychainInteractionNotAllowed, errSecInteractionNotAllowed),
            (.notInteractive, errSecInteractionNotAllowed),
            (.keychainUserCanceled, errSecUserCanceled), (.userCancel, errSecUserCanceled),
            (.systemCancel, errSecUserCanceled), (.appCancel, errSecUserCanceled),
            (.keychainParameter, errSecParam), (.invalidArgs, errSecParam),
            (.keychainDecode, errSecDecode), (.keychainNotAvailable, errSecNotAvailable),
            (.notSupported, errSecUnimplemented), (.accessDenied, errSecMissingEntitlement),
            (.noReply, errSecNotAvailable), (.nameHasNoOwner, errSecNotAvailable),
            (.serviceUnknown, errSecNotAvailable), (.noServer, errSecNotAvailable),
        ]
        for (name, status) in statuses {
            #expect(KeychainFailure(DBusError(name, "x")).status == status, "\(name)")
        }
    }
}
