// swift-format-ignore-file
// Expressions as authors of programs for Apple's systems write them. This file is compiled in Swift
// 5 mode and in Swift 6 mode.
import LocalAuthentication

/// A result of a snippet, for the test that runs it.
public struct Finding: Sendable {
    public let name: String
    public let isSo: Bool

    public init(_ name: String, _ isSo: Bool) {
        self.name = name
        self.isSo = isSo
    }
}

public enum Expressions {
    /// Types, raw values, both spellings, constants.
    public static func values() -> [Finding] {
        [
            Finding("policies", LAPolicy.deviceOwnerAuthenticationWithBiometrics.rawValue == 1),
            Finding("passcode", LAPolicy.deviceOwnerAuthentication.rawValue == 2),
            Finding("watch", LAPolicy.deviceOwnerAuthenticationWithWatch.rawValue == 3),
            Finding(
                "or watch",
                LAPolicy.deviceOwnerAuthenticationWithBiometricsOrWatch.rawValue == 4
            ),
            Finding("companion", LAPolicy(rawValue: 3) == .deviceOwnerAuthenticationWithCompanion),
            Finding(
                "or companion",
                LAPolicy(rawValue: 4) == .deviceOwnerAuthenticationWithBiometricsOrCompanion
            ),
            Finding("face", LABiometryType.faceID.rawValue == 1 << 1),
            Finding(
                "types",
                [LABiometryType.none, .touchID, .opticID].map(\.rawValue) == [0, 1, 4]
            ),
            Finding("credential", LACredentialType.applicationPassword.rawValue == 0),
            Finding("pin", LACredentialType.smartCardPIN.rawValue == -3),
            Finding("operation", LAAccessControlOperation.useKeyKeyExchange.rawValue == 5),
            Finding("companions", LACompanionType.watch.rawValue == 1),
            Finding("reuse", LATouchIDAuthenticationMaximumAllowableReuseDuration == 300),
            Finding("domain", LAErrorDomain == "com.apple.LocalAuthentication"),
            Finding("macro domain", kLAErrorDomain == LAError.errorDomain),
            Finding("macro", kLAErrorUserCancel == -2 && kLAErrorNotInteractive == -1004),
            Finding("macro policy", kLAPolicyDeviceOwnerAuthentication == 2),
            Finding("macro type", kLABiometryTypeFaceID == 2),
            Finding("macro credential", kLACredentialTypeApplicationPassword == 0),
            Finding("code", LAError.Code.biometryLockout.rawValue == -8),
            Finding("alias", LAError.Code.touchIDLockout == LAError.Code.biometryLockout),
            Finding("code of error", LAError(.appCancel).code == LAError.appCancel),
            Finding("code by number", LAError.Code(rawValue: -4) == .systemCancel),
            Finding("flags", SecAccessControlCreateFlags.applicationPassword.rawValue == 1 << 31),
            Finding(
                "old flag",
                SecAccessControlCreateFlags.touchIDCurrentSet == .biometryCurrentSet
            ),
            Finding("text", String(kSecClass) == "class"),
            Finding("status", errSecItemNotFound == -25300 && errSecUserCanceled == -128),
            Finding("no error", noErr == errSecSuccess),
            Finding(
                "sentence",
                SecCopyErrorMessageString(errSecDuplicateItem, nil) as String? != nil
            ),
        ]
    }

    /// The sentence for an error, with a typical switch over codes.
    public static func sentence(_ error: Error) -> String {
        guard let error = error as? LAError else { return "unknown" }
        switch error.code {
        case .authenticationFailed: return "failed"
        case .userCancel: return "cancel"
        case .userFallback: return "fallback"
        case .systemCancel: return "system"
        case .passcodeNotSet: return "passcode"
        case .appCancel: return "app"
        case .invalidContext: return "invalid"
        case .notInteractive: return "not interactive"
        case LAError.biometryNotAvailable: return "not available"
        case LAError.biometryNotEnrolled: return "not enrolled"
        case LAError.biometryLockout: return "lockout"
        default: return "other"
        }
    }

    /// A switch with implicit members, the usual style.
    public static func shortSentence(_ code: LAError.Code) -> String {
        switch code {
        case .biometryNotAvailable: return "not available"
        case .biometryNotEnrolled: return "not enrolled"
        case .biometryLockout: return "lockout"
        case .touchIDLockout: return "never reached"
        case .companionNotAvailable, .watchNotAvailable: return "companion"
        default: return "other"
        }
    }

    /// The symbol of a login button, for every type.
    public static func symbol(_ context: LAContext) -> String {
        switch context.biometryType {
        case .none: return "lock"
        case .touchID: return "touchid"
        case .faceID: return "faceid"
        case .opticID: return "opticid"
        @unknown default: return "lock"
        }
    }

    /// A switch with the older spellings and the C names.
    public static func oldSentence(_ error: NSError) -> String {
        switch Int32(error.code) {
        case kLAErrorUserCancel: return "cancel"
        case kLAErrorTouchIDLockout: return "lockout"
        default: break
        }
        switch error.code {
        case LAError.Code.touchIDNotEnrolled.rawValue: return "not enrolled"
        case LAError.touchIDNotAvailable.rawValue: return "not available"
        default: return "other"
        }
    }

    /// The usual ways to catch errors.
    public static func caught(_ error: Error) -> [String] {
        var ways: [String] = []
        do { throw error } catch LAError.userCancel { ways.append("pattern") } catch {}
        do { throw error } catch let e as LAError where e.code == .userCancel {
            ways.append("where")
        } catch {}
        do { throw error } catch let e as NSError { ways.append("\(e.domain) \(e.code)") }
        if let e = error as? LAError, case .userCancel = e.code { ways.append("if case") }
        if (error as NSError).code == LAError.userCancel.rawValue { ways.append("number") }
        return ways
    }

    /// Closures with the usual hop to the main queue.
    public static func closure(_ done: @escaping @Sendable (Bool, Error?) -> Void) {
        let context = LAContext()
        var error: NSError?
        context.localizedFallbackTitle = "Enter Password"
        context.localizedCancelTitle = "Cancel"
        context.touchIDAuthenticationAllowableReuseDuration =
            LATouchIDAuthenticationMaximumAllowableReuseDuration
        context.maxBiometryFailures = 5
        if context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) {
            context.evaluatePolicy(
                .deviceOwnerAuthenticationWithBiometrics,
                localizedReason: "Log in to your account"
            ) { success, error in
                DispatchQueue.global().async { done(success, error) }
            }
        } else {
            done(false, error)
        }
    }

    public static func awaiting() async throws -> Bool {
        let context = LAContext()
        guard context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil) else {
            throw LAError(.biometryNotAvailable)
        }
        return try await context.evaluatePolicy(
            .deviceOwnerAuthentication,
            localizedReason: "Log in to your account"
        )
    }

    /// A typical mock of a context.
    public class MockContext: LAContext {
        public override var biometryType: LABiometryType { .faceID }

        public override func canEvaluatePolicy(
            _ policy: LAPolicy,
            error: NSErrorPointer
        ) -> Bool {
            error?.pointee = NSError(
                domain: LAErrorDomain,
                code: LAError.Code.biometryLockout.rawValue
            )
            return false
        }

        public override func evaluatePolicy(
            _ policy: LAPolicy,
            localizedReason: String,
            reply: @escaping (Bool, Error?) -> Void
        ) {
            reply(true, nil)
        }
    }

    /// A protocol for injection, with a retroactive conformance of LAContext.
    public static func mocked() async throws -> [Finding] {
        let mock = MockContext()
        var error: NSError?
        let asked = mock.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error)
        let granted = try await mock.evaluatePolicy(
            .deviceOwnerAuthentication,
            localizedReason: "Test"
        )
        let checking: any Checking = mock
        return [
            Finding("mocked refusal", !asked && (error as Error?) as? LAError != nil),
            Finding("mocked type", mock.biometryType == .faceID),
            Finding("mocked closure reaches async", granted),
            Finding(
                "mocked protocol",
                !checking.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil)
            ),
        ]
    }
}

public protocol Checking {
    func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool
    var biometryType: LABiometryType { get }
}

extension LAContext: Checking {}
