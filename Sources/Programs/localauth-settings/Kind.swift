#if Prompt
import AgentKit
import LocalAuthBus
import LocalAuthClient
import Localization

/// The window's words for a kind of sensor.
struct Kind {
    /// The template's kind: “Fingerprint”.
    let title: String
    /// The button that begins an enrolment: “Add Fingerprint”.
    let add: String
    /// The sentence after an enrolment.
    let added: String
}

extension RemoteSensor {
    var kind: Kind {
        switch BiometryType(rawValue: biometryType) {
        case .fingerprint:
            Kind(
                title: localized("Fingerprint"),
                add: localized("Add Fingerprint"),
                added: localized("The fingerprint was added.")
            )
        case .face:
            Kind(
                title: localized("Face"),
                add: localized("Add Face"),
                added: localized("The face was added.")
            )
        case .iris:
            Kind(
                title: localized("Iris"),
                add: localized("Add Iris"),
                added: localized("The iris was added.")
            )
        case BiometryType.none?, nil:
            Kind(
                title: localized("Security key"),
                add: localized("Add Security Key"),
                added: localized("The security key was added.")
            )
        }
    }

    var title: String { description.isEmpty ? name : description }

    /// Whether the sensor can be used, as a sentence.
    var readiness: String {
        guard isAvailable else { return localized("Not ready: %1$s", stateTitle) }
        if Strength(rawValue: strength) == .strong { return localized("Ready") }
        return BiometryType(rawValue: biometryType) == .face
            ? localized("Ready. A photograph, or somebody who looks like you, may pass.")
            : localized("Ready. Some apps also need your password.")
    }
}
#endif
