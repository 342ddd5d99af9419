@_exported public import Contract
package import DBus

extension Sensor1 {
    /// Every sensor has a bus name of its own below this one: `org.localauth.Sensor1.NAME`.
    public static let namespace = interface
}

extension RefusalCode {
    /// The name of the error with which Evaluate refuses.
    package var errorName: DBusError.Name {
        switch self {
        case .authenticationFailed: .authenticationFailed
        case .userCancel: .userCancel
        case .userFallback: .userFallback
        case .systemCancel: .systemCancel
        case .passcodeNotSet: .passcodeNotSet
        case .biometryNotAvailable: .biometryNotAvailable
        case .biometryNotEnrolled: .biometryNotEnrolled
        case .biometryLockout: .biometryLockout
        case .appCancel: .appCancel
        case .invalidContext: .invalidContext
        case .companionNotAvailable: .companionNotAvailable
        case .biometryNotPaired: .biometryNotPaired
        case .biometryDisconnected: .biometryDisconnected
        case .invalidDimensions: .invalidDimensions
        case .notInteractive: .notInteractive
        case .limitsExceeded: .limitsExceeded
        }
    }

    /// The code of an error by its name; nil: it is no refusal.
    package init?(_ name: DBusError.Name) {
        guard let code = Self.byName[name] else { return nil }
        self = code
    }

    private static let byName = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0.errorName, $0) }
    )
}

extension SensorFailure {
    private static let namespace = Sensor1.interface + ".Error."

    /// The name of the error that a sensor answers.
    package var errorName: DBusError.Name { .init(rawValue: Self.namespace + rawValue) }

    /// The failure that a sensor answered; nil: another error.
    package init?(_ name: DBusError.Name) {
        guard name.rawValue.hasPrefix(Self.namespace) else { return nil }
        self.init(rawValue: String(name.rawValue.dropFirst(Self.namespace.count)))
    }
}
