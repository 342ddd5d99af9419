import AgentKit
import DBus
import Localization

/// A sensor as the service describes it.
struct SensorRow: Sendable {
    let path: ObjectPath
    let name: String
    let description: String
    let type: UInt32
    let strength: String
    let isAvailable: Bool
    let unavailability: String
    let stages: Int32

    init(_ path: ObjectPath, _ properties: [String: Variant]) {
        self.path = path
        name = plainText(properties["Name"]?.asString ?? "", limit: 64)
        description = plainText(properties["Description"]?.asString ?? "", limit: 256)
        type = properties["BiometryType"]?.asUInt32 ?? 0
        strength = plainText(properties["Strength"]?.asString ?? "", limit: 32)
        isAvailable = properties["Available"]?.asBool ?? false
        unavailability = plainText(properties["Unavailability"]?.asString ?? "", limit: 64)
        stages = properties["EnrollStages"]?.asInt32 ?? -1
    }

    var json: JSON {
        .object([
            ("name", .string(name)), ("description", .string(description)),
            ("biometryType", .string(biometryName(type))), ("strength", .string(strength)),
            ("available", .bool(isAvailable)), ("unavailability", .string(unavailability)),
            ("enrollStages", .int(Int64(stages))),
        ])
    }

    var row: [String] {
        [
            name, biometryTitle(type), strengthTitle(strength),
            isAvailable ? localized("ready") : unavailabilityTitle(unavailability), description,
        ]
    }
}

func biometryName(_ type: UInt32) -> String {
    switch type {
    case 0: "companion"
    case 1: "fingerprint"
    case 2: "face"
    case 4: "iris"
    default: "unknown"
    }
}
