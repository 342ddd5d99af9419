import AuthEngine
import DBus
import LocalAuthBus
import Testing

@testable import AuthService

@Suite("The names of errors")
struct RefusalNameTests {
    @Test("Each code of a refusal is an error of its own name")
    func errorNames() {
        let names: [Refusal.Code: DBusError.Name] = [
            .authenticationFailed: "org.localauth.Error.AuthenticationFailed",
            .userCancel: "org.localauth.Error.UserCancel",
            .userFallback: "org.localauth.Error.UserFallback",
            .systemCancel: "org.localauth.Error.SystemCancel",
            .passcodeNotSet: "org.localauth.Error.PasscodeNotSet",
            .biometryNotAvailable: "org.localauth.Error.BiometryNotAvailable",
            .biometryNotEnrolled: "org.localauth.Error.BiometryNotEnrolled",
            .biometryLockout: "org.localauth.Error.BiometryLockout",
            .appCancel: "org.localauth.Error.AppCancel",
            .invalidContext: "org.localauth.Error.InvalidContext",
            .companionNotAvailable: "org.localauth.Error.CompanionNotAvailable",
            .biometryNotPaired: "org.localauth.Error.BiometryNotPaired",
            .biometryDisconnected: "org.localauth.Error.BiometryDisconnected",
            .notInteractive: "org.localauth.Error.NotInteractive",
            .limitsExceeded: "org.freedesktop.DBus.Error.LimitsExceeded",
        ]
        for code in Refusal.Code.allCases {
            let error = DBusError(Refusal(code, "why"))
            #expect(error.name == names[code], "\(code)")
            #expect(error.message == "why")
        }
    }
}
