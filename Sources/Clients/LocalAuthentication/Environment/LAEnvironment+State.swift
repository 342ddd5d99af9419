public import Foundation

extension LAEnvironment {
    /// A snapshot of the mechanisms that could authenticate a user.
    public final class State: NSObject, NSCopying, Sendable {
        private let reading: EnvironmentReading

        init(_ reading: EnvironmentReading) {
            self.reading = reading
        }

        /// The biometric mechanism; nil without a sensor.
        public var biometry: MechanismBiometry? {
            reading.domain.biometryType == .none ? nil : MechanismBiometry(reading)
        }

        /// The user's password.
        public var userPassword: MechanismUserPassword? { MechanismUserPassword(reading) }

        /// The companion devices, one entry for each kind.
        public var companions: [MechanismCompanion] {
            reading.domain.hasCompanion ? [MechanismCompanion(reading)] : []
        }

        public var allMechanisms: [Mechanism] {
            let own: [Mechanism?] = [biometry, userPassword]
            return own.compactMap(\.self) + companions
        }

        /// Returns itself, because a state is immutable.
        public func copy(with zone: NSZone? = nil) -> Any { self }

        public override func isEqual(_ object: Any?) -> Bool {
            (object as? State)?.reading == reading
        }

        public override var hash: Int { reading.hashValue }
    }

    /// A mechanism for authentication.
    ///
    /// SAFETY: `@unchecked Sendable` because a superclass can't be checked. Subclasses add
    /// constants only.
    public class Mechanism: NSObject, @unchecked Sendable {
        /// Whether an evaluation with this mechanism could succeed now.
        public let isUsable: Bool
        public let localizedName: String
        /// The name of the mechanism's symbol.
        public let iconSystemName: String

        fileprivate init(isUsable: Bool, name: String, icon: String) {
            self.isUsable = isUsable
            localizedName = name
            iconSystemName = icon
        }
    }

    /// The biometric mechanism.
    ///
    /// SAFETY: constants only, as in ``Mechanism``.
    public final class MechanismBiometry: Mechanism, @unchecked Sendable {
        /// The kind of the strongest sensor, usable or not.
        public let biometryType: LABiometryType
        public let isEnrolled: Bool
        /// Whether the password is required before the next biometric attempt.
        public let isLockedOut: Bool
        /// A digest that changes whenever the enrolment does; empty without an enrolment.
        public let stateHash: Data
        /// Whether the closed lid covers the sensor.
        public let builtInSensorInaccessible: Bool

        fileprivate init(_ reading: EnvironmentReading) {
            biometryType = reading.domain.biometryType
            isEnrolled = reading.domain.biometry != nil
            isLockedOut = reading.biometryCode == Int32(LAError.Code.biometryLockout.rawValue)
            stateHash = reading.domain.biometry ?? Data()
            builtInSensorInaccessible = reading.isLidClosed
            let (name, icon) =
                switch reading.domain.biometryType {
                case .faceID: ("Face", "faceid")
                case .opticID: ("Iris", "opticid")
                default: ("Fingerprint", "touchid")
                }
            super.init(isUsable: reading.biometryCode == 0, name: name, icon: icon)
        }
    }

    /// The password mechanism.
    ///
    /// SAFETY: constants only, as in ``Mechanism``.
    public final class MechanismUserPassword: Mechanism, @unchecked Sendable {
        public let isSet: Bool

        fileprivate init(_ reading: EnvironmentReading) {
            isSet = reading.passcodeCode == 0
            super.init(isUsable: isSet, name: "Password", icon: "ellipsis.rectangle")
        }
    }

    /// A companion device.
    ///
    /// SAFETY: constants only, as in ``Mechanism``.
    public final class MechanismCompanion: Mechanism, @unchecked Sendable {
        public let type: LACompanionType
        /// A digest that changes whenever the companions do; nil without a companion.
        ///
        /// The digest covers biometry as well, so it also changes with the biometric enrolment.
        public let stateHash: Data?

        fileprivate init(_ reading: EnvironmentReading) {
            type = .watch
            stateHash = reading.domain.combined
            super.init(isUsable: true, name: "Companion", icon: "applewatch")
        }
    }
}
