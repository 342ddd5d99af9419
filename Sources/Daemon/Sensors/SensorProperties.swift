import AuthEngine
import Contract
import DBus
import LocalAuthBus

/// A sensor's own properties, within bounds.
struct SensorProperties: Equatable {
    /// The properties that every sensor must have.
    private static let needed: Set<String> = ["BiometryType", "Strength", "Present"]

    var versions: Set<UInt32> = []
    var description = ""
    var type = BiometryType.none
    var strength = Strength.convenience
    var isPresent = false
    /// The obstacle that the sensor reports, if any.
    var unavailability: Unavailability?
    var enrollStages: Int32 = -1
    /// Whether the sensor is under the lid; nil if the sensor does not say.
    var isBuiltIn: Bool?
    /// Instructions for people by language, in the sensor's words; empty if there are none.
    var instructions: [String: String] = [:]
    /// The most languages, and the longest name of a language in bytes.
    private static let (languages, languageLimit) = (64, 16)
    private static let instructionLimit = 80

    /// Whether these contain all required properties.
    static func isComplete(_ properties: [String: Variant]) -> Bool {
        needed.isSubset(of: properties.keys)
    }

    /// The fault of a sensor without the required properties, for people.
    static let incompleteness = "It does not say its type, its strength and its presence."

    /// The fault of a sensor with a wrong property, for people.
    static func fault(of property: String) -> String {
        "Its property \(property) has a wrong type, or a value that does not exist."
    }

    /// Updates only the versions, because another version may define the other properties
    /// differently.
    ///
    /// - Returns: False if the type is wrong.
    mutating func updateVersions(_ properties: [String: Variant]) -> Bool {
        guard let value = properties["ProtocolVersions"] else { return true }
        guard case .array(element: .uint32, let list) = value, list.count <= 64 else {
            return false
        }
        versions = Set(list.compactMap(\.asUInt32))
        return true
    }

    /// Updates the known properties.
    ///
    /// - Returns: The first property with a wrong type or an unknown value; nil if all are valid.
    mutating func update(_ properties: [String: Variant]) -> String? {
        for (name, value) in properties.sorted(by: { $0.key < $1.key }) {
            switch name {
            case "Description":
                guard let text = value.asString else { return name }
                description = DisplayText.cleaned(text, limit: DisplayText.titleLimit)
            case "BiometryType":
                guard let type = value.asUInt32.flatMap(BiometryType.init) else { return name }
                self.type = type
            case "Strength":
                guard let strength = value.asString.flatMap(Strength.init) else { return name }
                self.strength = strength
            case "Present":
                guard let isPresent = value.asBool else { return name }
                self.isPresent = isPresent
            case "Unavailability":
                guard let word = value.asString else { return name }
                // An unknown word is a fault of the sensor.
                unavailability = word.isEmpty ? nil : Unavailability(rawValue: word) ?? .failed
            case "EnrollStages":
                guard let stages = value.asInt32 else { return name }
                enrollStages = max(-1, min(stages, 1000))
            case "BuiltIn":
                guard let isBuiltIn = value.asBool else { return name }
                self.isBuiltIn = isBuiltIn
            case "Instructions":
                guard let texts = Self.instructions(value) else { return name }
                instructions = texts
            default: break
            }
        }
        return nil
    }

    private static func instructions(_ value: Variant) -> [String: String]? {
        guard let texts = value.asTexts, texts.count <= languages,
            texts.keys.allSatisfy({ 1...languageLimit ~= $0.utf8.count })
        else { return nil }
        return texts.mapValues { DisplayText.cleaned($0, limit: instructionLimit) }
            .filter { !$0.value.isEmpty }
    }
}
