import AuthEngine
import Contract
import DBus
import LocalAuthBus

/// What a sensor says of itself, bounded.
struct SensorProperties: Equatable {
    /// Without these nothing is known of a sensor.
    private static let needed: Set<String> = ["BiometryType", "Strength", "Present"]

    var versions: Set<UInt32> = []
    var description = ""
    var type = BiometryType.none
    var strength = Strength.convenience
    var isPresent = false
    /// Why it says that it can't be used; nil when it doesn't.
    var unavailability: Unavailability?
    var enrollStages: Int32 = -1
    /// Whether it sits under the lid; nil when it doesn't say.
    var isBuiltIn: Bool?
    /// What a person is asked to do, in its own words, by language; empty: it has none.
    var instructions: [String: String] = [:]
    /// The most languages, and the longest name of one.
    private static let (languages, languageLimit) = (64, 16)
    /// The longest instruction, in characters.
    private static let instructionLimit = 80

    /// Whether these are all that a sensor must say.
    static func isComplete(_ properties: [String: Variant]) -> Bool {
        needed.isSubset(of: properties.keys)
    }

    /// The mistake of a sensor without them, for people.
    static let incompleteness = "It does not say its type, its strength and its presence."

    /// What is wrong with a property, for people.
    static func fault(of property: String) -> String {
        "Its property \(property) has a wrong type, or a value that does not exist."
    }

    /// Takes over the versions alone: what else another version means is not known.
    ///
    /// - Returns: false when they are of a wrong type.
    mutating func updateVersions(_ properties: [String: Variant]) -> Bool {
        guard let value = properties["ProtocolVersions"] else { return true }
        guard case .array(element: .uint32, let list) = value, list.count <= 64 else {
            return false
        }
        versions = Set(list.compactMap(\.asUInt32))
        return true
    }

    /// Takes over what is known of `properties`.
    ///
    /// - Returns: The first property whose value is of a wrong type or none of those that exist;
    ///   nil when there is none.
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
                // A word that the contract doesn't have is a fault of the sensor.
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
