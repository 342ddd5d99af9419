@_exported public import Contract
package import DBus

extension Sensor1 {
    /// The prefix of all sensors' bus names, such as `org.localauth.Sensor1.NAME`.
    public static let namespace = interface
}

extension RefusalCode {
    /// The error name with which Evaluate refuses.
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

    /// Returns nil if the error is no refusal.
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

    package var errorName: DBusError.Name { .init(rawValue: Self.namespace + rawValue) }

    /// Returns nil for any other error.
    package init?(_ name: DBusError.Name) {
        guard name.rawValue.hasPrefix(Self.namespace) else { return nil }
        self.init(rawValue: String(name.rawValue.dropFirst(Self.namespace.count)))
    }
}
