import AgentKit
import LocalAuthClient
import Localization

/// A sensor as it is listed.
extension RemoteSensor {
    /// Without control characters: the texts come from another program and go to a terminal.
    var plain: RemoteSensor {
        var plain = self
        plain.name = plainText(name, limit: 64)
        plain.description = plainText(description, limit: 256)
        plain.strength = plainText(strength, limit: 32)
        plain.unavailability = plainText(unavailability, limit: 64)
        return plain
    }

    var json: JSON {
        .object([
            ("name", .string(name)), ("description", .string(description)),
            ("biometryType", .string(biometryName(biometryType))), ("strength", .string(strength)),
            ("available", .bool(isAvailable)), ("unavailability", .string(unavailability)),
            ("enrollStages", .int(Int64(enrollStages))),
        ])
    }

    var row: [String] {
        [
            name, biometryTitle(biometryType), strengthTitle(strength),
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
