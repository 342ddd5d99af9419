import AgentKit
import LocalAuthClient
import Localization

extension RemoteSensor {
    var json: JSON {
        .object([
            ("name", .string(name)), ("description", .string(description)),
            ("biometryType", .string(biometryName(biometryType))), ("strength", .string(strength)),
            ("available", .bool(isAvailable)), ("unavailability", .string(unavailability)),
            ("enrollStages", .int(Int64(enrollStages))),
        ])
    }

    static var titles: [String] {
        [
            localized("NAME"), localized("TYPE"), localized("STRENGTH"), localized("STATE"),
            localized("DESCRIPTION"),
        ]
    }

    var row: [String] {
        [
            name, biometryTitle(biometryType), strengthTitle(strength),
            stateTitle, description,
        ]
    }
}

func biometryName(_ type: UInt32) -> String {
    switch BiometryType(rawValue: type) {
    case BiometryType.none?: "companion"
    case .fingerprint: "fingerprint"
    case .face: "face"
    case .iris: "iris"
    case nil: "unknown"
    }
}
