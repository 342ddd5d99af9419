/// An event of an evaluation: the kinds of `Context1.Event`, `Authentication1.Event` and
/// `Agent1.Update`.
public enum EventKind: String, CaseIterable, Hashable, Sendable {
    /// The prompt is up.
    case promptShown = "prompt-shown"
    /// A sensor looks.
    case sensorReady = "sensor-ready"
    /// Another program uses the sensor; the evaluation waits for it.
    case sensorBusy = "sensor-busy"
    /// A sensor gave up; the detail has the cause.
    case sensorFailed = "sensor-failed"
    /// Advice to the person.
    case hint
    /// A miss.
    case noMatch = "no-match"
    /// The prompt has its fallback button now.
    case fallbackAvailable = "fallback-available"
    /// A match waits for the person's confirmation.
    case confirmationRequired = "confirmation-required"
    /// The prompt asks for the password now.
    case passcodeRequired = "passcode-required"
    /// A wrong password.
    case passcodeRejected = "passcode-rejected"
    /// The prompt asks for the app's own password now; only agents hear this.
    case applicationPasswordRequired = "application-password-required"
    /// The proof is complete; only agents hear this.
    case success
}

/// The stage of a prompt: `stage` of `Agent1.Begin`.
public enum PromptStage: String, CaseIterable, Hashable, Sendable {
    /// The sensors look.
    case biometry
    /// The prompt asks for the password of the account.
    case passcode
    /// The prompt asks for the app's own password.
    case applicationPassword = "application-password"
}

/// The outcome of a prompt, in `Agent1.End`.
public enum PromptOutcome: String, CaseIterable, Hashable, Sendable {
    /// The proof is complete.
    case success
    /// The attempts are used up.
    case failed
    /// The person canceled, or the caller gave up.
    case canceled
    /// The person chose the fallback.
    case fallback
    /// Biometry is locked now.
    case lockout
    /// A deadline, a stop or another prompt came first.
    case system
}

/// The cause of a request for the password: `cause` of `passcode-required`.
///
/// Callers never choose it.
public enum PasscodeCauseWord: String, CaseIterable, Hashable, Sendable {
    /// A boot or a logout (L11).
    case boot
    /// Too long without any unlock (L11).
    case hours
    /// Too long without a password, even with biometry (L11).
    case hoursWithBiometry = "hours-with-biometry"
    /// An administrator required it.
    case remote
    /// A program of the user required it.
    case program
    /// The stored state was damaged (L17).
    case damaged
    /// Too many attempts failed, over all evaluations (R3).
    case lockout
    /// The attempts of this evaluation are used up.
    case attempts
    /// The person chose the password.
    case fallback
    /// The last sensor gave up.
    case sensorFailed = "sensor-failed"
    /// The verifier gave no verdict.
    case verifierFailed = "verifier-failed"
    /// The delay after wrong passwords is over (L10).
    case delayOver = "delay-over"
    /// The prompt asks for the app's own password.
    case applicationPassword = "application-password"
    /// The access control needs the password too.
    case accessControl = "access-control"
}
