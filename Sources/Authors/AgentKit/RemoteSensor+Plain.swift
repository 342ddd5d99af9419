package import LocalAuthClient
internal import Localization

/// Texts of a sensor for display.
extension RemoteSensor {
    /// A copy without control characters, because the texts come from another program.
    package var plain: RemoteSensor {
        var plain = self
        plain.name = plainText(name, limit: 64)
        plain.description = plainText(description, limit: 256)
        plain.strength = plainText(strength, limit: 32)
        plain.unavailability = plainText(unavailability, limit: 64)
        return plain
    }

    /// "ready", or the cause of the unavailability, in the user's language.
    package var stateTitle: String {
        isAvailable ? localized("ready") : unavailabilityTitle(unavailability)
    }
}
