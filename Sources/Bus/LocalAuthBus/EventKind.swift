/// What happens during an evaluation: the kinds of `Context1.Event`, `Authentication1.Event` and
/// `Agent1.Update`.
public enum EventKind: String, CaseIterable, Hashable, Sendable {
    /// The prompt is up.
    case promptShown = "prompt-shown"
    /// A sensor looks.
    case sensorReady = "sensor-ready"
    /// Another program has a sensor, which is waited for.
    case sensorBusy = "sensor-busy"
    /// A sensor gave up, and why.
    case sensorFailed = "sensor-failed"
    /// What the person should do better.
    case hint
    /// A failed attempt.
    case noMatch = "no-match"
    /// The prompt has its fallback button now.
    case fallbackAvailable = "fallback-available"
    /// A match waits to be confirmed.
    case confirmationRequired = "confirmation-required"
    /// The passcode is asked for now.
    case passcodeRequired = "passcode-required"
    /// A wrong passcode.
    case passcodeRejected = "passcode-rejected"
    /// The app's own password is asked for now; for the prompt alone.
    case applicationPasswordRequired = "application-password-required"
    /// It was the user; for the prompt alone.
    case success
}
