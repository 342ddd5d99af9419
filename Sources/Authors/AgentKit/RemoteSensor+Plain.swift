package import LocalAuthClient
internal import Localization

/// A sensor as people see it.
extension RemoteSensor {
    /// Without control characters: the texts come from another program and go to people.
    package var plain: RemoteSensor {
        var plain = self
        plain.name = plainText(name, limit: 64)
        plain.description = plainText(description, limit: 256)
        plain.strength = plainText(strength, limit: 32)
        plain.unavailability = plainText(unavailability, limit: 64)
        return plain
    }

    /// Whether it can be used, or why not.
    package var stateTitle: String {
        isAvailable ? localized("ready") : unavailabilityTitle(unavailability)
    }
}
