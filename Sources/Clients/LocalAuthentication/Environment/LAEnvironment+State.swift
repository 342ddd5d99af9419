public import Foundation

extension LAEnvironment {
    /// What could authenticate a user at one moment.
    public final class State: NSObject, NSCopying, Sendable {
        private let reading: EnvironmentReading

        init(_ reading: EnvironmentReading) {
            self.reading = reading
        }

        /// Biometry; nil without a sensor.
        public var biometry: MechanismBiometry? {
            reading.domain.biometryType == .none ? nil : MechanismBiometry(reading)
        }

        /// The passcode.
        public var userPassword: MechanismUserPassword? { MechanismUserPassword(reading) }

        /// Companion devices, one for each kind.
        public var companions: [MechanismCompanion] {
            reading.domain.hasCompanion ? [MechanismCompanion(reading)] : []
        }

        /// All of them.
        public var allMechanisms: [Mechanism] {
            let own: [Mechanism?] = [biometry, userPassword]
            return own.compactMap(\.self) + companions
        }

        /// Returns itself: a state is immutable.
        public func copy(with zone: NSZone? = nil) -> Any { self }

        /// Whether both say the same.
        public override func isEqual(_ object: Any?) -> Bool {
            (object as? State)?.reading == reading
        }

        /// Equal for equal states.
        public override var hash: Int { reading.hashValue }
    }

    /// A way to authenticate.
    ///
    /// The subclasses add constants only; the compiler can't check a class with subclasses.
    public class Mechanism: NSObject, @unchecked Sendable {
        /// Whether an evaluation with it could succeed now.
        public let isUsable: Bool
        /// What people call it.
        public let localizedName: String
        /// The name of its symbol.
        public let iconSystemName: String

        fileprivate init(isUsable: Bool, name: String, icon: String) {
            self.isUsable = isUsable
            localizedName = name
            iconSystemName = icon
        }
    }

    /// Biometry.
    ///
    /// Constants only, as above.
    public final class MechanismBiometry: Mechanism, @unchecked Sendable {
        /// What the sensor looks at, whether it can be used now or not.
        public let biometryType: LABiometryType
        /// Whether the user is enrolled.
        public let isEnrolled: Bool
        /// Whether a passcode is needed first.
        public let isLockedOut: Bool
        /// Changes whenever the enrolment does; empty when nothing is enrolled.
        public let stateHash: Data
        /// Whether the lid covers the sensor.
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

    /// The passcode.
    ///
    /// Constants only, as above.
    public final class MechanismUserPassword: Mechanism, @unchecked Sendable {
        /// Whether there is one.
        public let isSet: Bool

        fileprivate init(_ reading: EnvironmentReading) {
            isSet = reading.passcodeCode == 0
            super.init(isUsable: isSet, name: "Password", icon: "ellipsis.rectangle")
        }
    }

    /// A companion device.
    ///
    /// Constants only, as above.
    public final class MechanismCompanion: Mechanism, @unchecked Sendable {
        /// What kind.
        public let type: LACompanionType
        /// Changes whenever it does; nil when there is none.
        ///
        /// It is the hash of biometry and companions together, so it changes with the biometric
        /// enrolment as well.
        public let stateHash: Data?

        fileprivate init(_ reading: EnvironmentReading) {
            type = .watch
            stateHash = reading.domain.combined
            super.init(isUsable: true, name: "Companion", icon: "applewatch")
        }
    }
}
