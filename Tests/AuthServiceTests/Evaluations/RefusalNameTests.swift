import AuthEngine
import DBus
import LocalAuthBus
import Testing

@testable import AuthService
@testable import KeychainStore

@Suite("Names of errors")
struct RefusalNameTests {
    @Test("Each code of a refusal has its own error name")
    func errorNames() {
        let names: [RefusalCode: DBusError.Name] = [
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
            .invalidDimensions: "org.localauth.Error.InvalidDimensions",
            .notInteractive: "org.localauth.Error.NotInteractive",
            .limitsExceeded: "org.freedesktop.DBus.Error.LimitsExceeded",
        ]
        for code in RefusalCode.allCases {
            let error = DBusError(Refusal(code, "why"))
            #expect(error.name == names[code], "\(code)")
            #expect(error.message == "why")
        }
    }

    @Test("Each refusal of the keychain has the contract's error name")
    func keychainNames() {
        let names: [KeychainError.Code: DBusError.Name] = [
            .duplicate: "org.localauth.Keychain1.Error.Duplicate",
            .notFound: "org.localauth.Keychain1.Error.NotFound",
            .authFailed: "org.localauth.Keychain1.Error.AuthFailed",
            .parameter: "org.localauth.Keychain1.Error.Parameter",
            .decode: "org.localauth.Keychain1.Error.Decode",
            .notAvailable: "org.localauth.Keychain1.Error.NotAvailable",
            .limitsExceeded: "org.freedesktop.DBus.Error.LimitsExceeded",
            // An unknown code, as a later version may have.
            KeychainError.Code(rawValue: "later"): "org.localauth.Keychain1.Error.NotAvailable",
        ]
        for (code, name) in names {
            let error = DBusError(KeychainError(code, "why"))
            #expect(error.name == name, "\(code.rawValue)")
            #expect(error.message == "why")
        }
    }

    @Test("R68: each refused authentication for an item has its keychain error")
    func keychainRefusals() {
        let failed: DBusError.Name = "org.localauth.Keychain1.Error.AuthFailed"
        let canceled: DBusError.Name = "org.localauth.Keychain1.Error.UserCanceled"
        let names: [RefusalCode: DBusError.Name] = [
            .authenticationFailed: failed, .userCancel: canceled, .userFallback: failed,
            .systemCancel: canceled, .passcodeNotSet: failed, .biometryNotAvailable: failed,
            .biometryNotEnrolled: failed, .biometryLockout: failed, .appCancel: canceled,
            .invalidContext: failed, .companionNotAvailable: failed, .biometryNotPaired: failed,
            .biometryDisconnected: failed, .invalidDimensions: failed,
            .notInteractive: "org.localauth.Keychain1.Error.InteractionNotAllowed",
            .limitsExceeded: "org.freedesktop.DBus.Error.LimitsExceeded",
        ]
        for code in RefusalCode.allCases {
            let error = DBusError(keychain: Refusal(code, "why"))
            #expect(error.name == names[code], "\(code)")
            #expect(error.message == "why")
        }
    }

    @Test("Each sensor error has its name and text, and unknown errors become Failed")
    func sensorNames() {
        let words = [
            "Canceled": "The operation was canceled.", "Busy": "The sensor is busy.",
            "NoTemplates": "The template does not exist.",
            "Full": "There is no room for another template.",
            "Duplicate": "This is enrolled already.",
            "Disconnected": "The sensor is not connected.",
            "Denied": "The sensor is not allowed to.", "Failed": "The sensor failed.",
        ]
        for (word, text) in words {
            let name = DBusError.Name(rawValue: "org.localauth.Sensor1.Error.\(word)")
            // A reason equal to the service's own text is not repeated.
            for error in [DBusError(sensor: name), DBusError(sensor: DBusError(name, text))] {
                #expect(error.name == name)
                #expect(error.message == text, "\(word)")
            }
        }
        let others: [DBusError.Name] = [
            "org.localauth.Sensor1.Error.Later", "org.freedesktop.DBus.Error.NoReply",
            "org.localauth.Error.UserCancel",
        ]
        for name in others {
            let error = DBusError(sensor: DBusError(name, "its words"))
            #expect(error.name == "org.localauth.Sensor1.Error.Failed", "\(name)")
            #expect(error.message == "The sensor failed.", "\(name)")
        }
    }

    @Test("A sensor's own reason is shown only for Failed and Denied")
    func sensorReasons() {
        let told = [
            "Failed": "The sensor failed: its words", "Busy": "The sensor is busy.",
            "Denied": "The sensor is not allowed to: its words",
            "Disconnected": "The sensor is not connected.",
        ]
        for (word, text) in told {
            let name = DBusError.Name(rawValue: "org.localauth.Sensor1.Error.\(word)")
            #expect(DBusError(sensor: DBusError(name, "its words")).message == text, "\(word)")
        }
    }

    @Test("Three sensor errors are faults, and prompt and app get their kind")
    func faults() {
        let faults: [DBusError.Name: (SensorFailure, cause: String)] = [
            "org.localauth.Sensor1.Error.Denied": (.denied, "denied"),
            "org.localauth.Sensor1.Error.Disconnected": (.disconnected, "missing"),
            "org.localauth.Sensor1.Error.Failed": (.failed, "failed"),
        ]
        for (name, (failure, cause)) in faults {
            #expect(SensorFault(DBusError(name, "why")) == SensorFault(failure, "why"))
            #expect(failure.cause?.rawValue == cause)
        }
        for word in ["Canceled", "Busy", "NoTemplates", "Full", "Duplicate", "Later"] {
            let name = DBusError.Name(rawValue: "org.localauth.Sensor1.Error.\(word)")
            #expect(SensorFault(DBusError(name, "why")) == nil, "\(word)")
        }
    }
}
