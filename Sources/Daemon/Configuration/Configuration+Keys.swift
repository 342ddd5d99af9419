import AuthEngine
import Contract

extension Configuration {
    struct Key: Sendable {
        typealias Name = SettingsFile.Name

        let name: Name
        /// The allowed values, as text for people.
        let range: String
        /// Sets a value; false if the value is not allowed.
        let set: @Sendable (_ value: String, inout Configuration) -> Bool

        static let all: [Key] =
            [
                choice(
                    "Biometry",
                    "PasscodeAfterBoot",
                    \.passcodeAfterBoot,
                    [("yes", true), ("no", false)]
                ),
                number("Biometry", "PasscodeAfterHours", \.passcodeAfterHours, 0...720),
                number(
                    "Biometry",
                    "PasscodeAfterHoursWithBiometry",
                    \.passcodeAfterHoursWithBiometry,
                    0...720
                ),
                number("Biometry", "LockoutAttempts", \.lockoutAttempts, 1...20),
                number("Biometry", "AttemptsFingerprint", \.attemptsFingerprint, 1...10),
                number("Biometry", "AttemptsFace", \.attemptsFace, 1...10),
                choice(
                    "Biometry",
                    "FaceConfirmation",
                    \.faceConfirmation,
                    [("auto", .automatic), ("always", .always), ("never", .never)]
                ),
                choice(
                    "Biometry",
                    "FaceLearning",
                    \.faceLearning,
                    [("yes", true), ("no", false)]
                ),
                choice(
                    "Biometry",
                    "KeychainStrength",
                    \.keychainStrength,
                    [("strong", .strong), ("weak", .weak), ("convenience", .convenience)]
                ),
                number("Biometry", "SuccessMinutes", \.successMinutes, 1...480),
                number("Passcode", "Attempts", \.passcodeAttempts, 1...10),
                names("Sensors", "Disabled", \.disabledSensors),
                number(
                    "Limits",
                    "ContextsPerConnection",
                    \.contextsPerConnection,
                    1...1_000_000
                ),
                number("Limits", "ContextsPerUser", \.contextsPerUser, 1...1_000_000),
                number("Limits", "PendingPerConnection", \.pendingPerConnection, 1...1_000_000),
                number("Limits", "QueuePerSession", \.queuePerSession, 1...1_000_000),
                number("Limits", "ItemsPerUser", \.itemsPerUser, 1...1_000_000),
            ]

        private typealias Field<Value> = any WritableKeyPath<Configuration, Value> & Sendable

        private static func number(
            _ section: String,
            _ word: String,
            _ field: Field<Int>,
            _ range: ClosedRange<Int>
        ) -> Key {
            Key(
                name: Name(section: section, word: word),
                range: "a whole number from \(range.lowerBound) to \(range.upperBound)"
            ) { value, configuration in
                // Digits only, because Int would accept a sign.
                guard value.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                    let number = Int(value), range.contains(number)
                else {
                    return false
                }
                configuration[keyPath: field] = number
                return true
            }
        }

        private static func choice<Value: Sendable>(
            _ section: String,
            _ word: String,
            _ field: Field<Value>,
            _ choices: [(word: String, value: Value)]
        ) -> Key {
            Key(
                name: Name(section: section, word: word),
                range: choices.map(\.word).joined(separator: ", ")
            ) { value, configuration in
                guard let choice = choices.first(where: { $0.word == value }) else { return false }
                configuration[keyPath: field] = choice.value
                return true
            }
        }

        private static func names(
            _ section: String,
            _ word: String,
            _ field: Field<Set<String>>
        ) -> Key {
            Key(
                name: Name(section: section, word: word),
                range: "names of sensors (letters, digits, _), separated by spaces"
            ) { value, configuration in
                let names = value.split { $0 == " " || $0 == "\t" }.map(String.init)
                guard names.allSatisfy(SensorName.isValid) else { return false }
                configuration[keyPath: field] = Set(names)
                return true
            }
        }
    }
}
