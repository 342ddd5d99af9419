import DBus

/// A mistake in the settings that the administrator has not corrected yet.
@BusActor
struct ConfigurationMistake {
    let error: ConfigurationError
    /// Whether the service has no earlier settings to use, and so refuses calls.
    let isRefusing: Bool
    let watch: FolderWatch

    nonisolated static let remedy: Sentence = "Correct that line: the file is read again at once."

    /// The sentence for callers (L29).
    var message: String { "The settings have a mistake: \(error)" }
}
