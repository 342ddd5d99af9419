// swift-format-ignore-file
// The code blocks of the article “Moving an app from Apple”; a test compares both.
import LocalAuthentication

public enum Article {
    public enum Outcome: Equatable, Sendable {
        case granted
        case refused
        case password(because: String)
    }

    public static func logIn() async -> Outcome {
        let context = LAContext()
        var error: NSError?
        let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics
        guard context.canEvaluatePolicy(biometry, error: &error) else {
            return .password(because: error?.localizedDescription ?? "")
        }
        do {
            try await context.evaluatePolicy(biometry, localizedReason: "Log in to your account")
            return .granted
        } catch LAError.userFallback {
            return .password(because: "You chose the password.")
        } catch {
            return .refused
        }
    }

    public static func follow(_ right: LARight) async {
        for await state in right.stateUpdates {
            print("The right is now \(state)")
            if state == .authorized { break }
        }
    }

    final class EnrolmentObserver: NSObject, LAEnvironment.Observer {
        func environment(
            _ environment: LAEnvironment,
            stateDidChangeFromOldState oldState: LAEnvironment.State
        ) {
            if environment.state.biometry?.stateHash != oldState.biometry?.stateHash {
                print("The enrolment has changed.")
            }
        }
    }

    public static func store() -> OSStatus {
        var error: Unmanaged<CFError>?
        let control = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault,
            kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
            .biometryCurrentSet,
            &error
        )
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "com.example.notes",
            kSecAttrAccessControl as String: control as Any,
            kSecValueData as String: Data("secret".utf8),
        ]
        let status = SecItemAdd(item as CFDictionary, nil)
        return status
    }
}
