import Foundation
import LocalAuthentication
import Testing

/// Tests the two types of an error that programs use.
struct LAErrorTests {
    private let error: any Error = LAError(.userCancel, userInfo: ["hint": "none"])
    private let foundations = NSError(domain: LAErrorDomain, code: -8)

    @Test("The domain is Apple's")
    func domain() {
        #expect(LAErrorDomain == "com.apple.LocalAuthentication")
        #expect(LAError.errorDomain == LAErrorDomain)
        #expect((error as NSError).domain == LAErrorDomain)
    }

    @Test("An LAError is an NSError, with its code and user info")
    func isNSError() throws {
        let bridged = try #require((error as Any) as? NSError)
        #expect(bridged.code == -2)
        #expect(bridged.userInfo["hint"] as? String == "none")
    }

    @Test("Only an NSError of Apple's domain casts to LAError")
    func fromNSError() {
        let known: any Error = foundations
        #expect((known as? LAError)?.code == .biometryLockout)
        let other: any Error = NSError(domain: NSCocoaErrorDomain, code: -8)
        #expect(other as? LAError == nil)
    }

    @Test("A thrown LAError is caught as NSError, and a thrown NSError as LAError")
    func thrown() {
        func fail(_ error: any Error) throws { throw error }
        do {
            try fail(error)
            Issue.record("nothing was thrown")
        } catch let caught as NSError {
            #expect(caught.code == -2)
        }
        do {
            try fail(foundations)
            Issue.record("nothing was thrown")
        } catch LAError.biometryLockout {
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("Both spellings of a code match the same error")
    func spellings() {
        let error = LAError(_nsError: foundations)
        for pattern in [LAError.Code.touchIDLockout, .biometryLockout, LAError.biometryLockout] {
            #expect(error.code ~= pattern)
        }
        #expect(error.errorCode == -8)
        #expect(Int32(error.errorCode) == kLAErrorBiometryLockout)
        #expect(kLAErrorBiometryLockout == kLAErrorTouchIDLockout)
    }

    @Test("The service's sentence is the localized description")
    func message() {
        let error = LAError(.appCancel, userInfo: [NSLocalizedDescriptionKey: "It was the app."])
        #expect(error.localizedDescription == "It was the app.")
        #expect((error as any Error).localizedDescription == "It was the app.")
        #expect((error as NSError).localizedDescription == "It was the app.")
    }

    @Test("Equal errors are equal")
    func equality() {
        #expect(LAError(.userCancel) == LAError(.userCancel))
        #expect(LAError(.userCancel) != LAError(.appCancel))
        #expect(Set([LAError(.userCancel), LAError(.userCancel)]).count == 1)
    }
}
