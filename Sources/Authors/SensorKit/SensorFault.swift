import DBus
import LocalAuthBus

/// Why an operation of a sensor ended without a result.
///
/// None of them counts as a failed attempt: that is ``SensorOperation/noMatch()``.
public enum SensorFault: Error, Hashable, Sendable {
    /// The operation was canceled.
    case canceled
    /// Something else has the sensor.
    case busy
    /// Something else has the sensor: one sentence for people says what.
    case inUse(String)
    /// Nothing is enrolled for this user, or not under this id.
    case noTemplates
    /// No room for another template.
    case full
    /// This is enrolled already.
    case duplicate
    /// The hardware went away.
    case disconnected
    /// The sensor is not allowed what it needs: one sentence for people says what, and who can
    /// change it.
    case denied(String)
    /// Anything else: one sentence for people.
    case failed(String)

    /// What the driver says in its own words.
    var sentence: String? {
        switch self {
        case .inUse(let sentence), .denied(let sentence), .failed(let sentence): sentence
        case .canceled, .busy, .noTemplates, .full, .duplicate, .disconnected: nil
        }
    }

    var error: DBusError {
        let (failure, message): (SensorFailure, String) =
            switch self {
            case .canceled: (.canceled, "The operation was canceled.")
            case .busy: (.busy, "The sensor is busy.")
            case .inUse(let message): (.busy, message)
            case .noTemplates: (.noTemplates, "The template does not exist.")
            case .full: (.full, "There is no room for another template.")
            case .duplicate: (.duplicate, "This is enrolled already.")
            case .disconnected: (.disconnected, "The sensor is not connected.")
            case .denied(let message): (.denied, message)
            case .failed(let message): (.failed, message)
            }
        return DBusError(failure.errorName, message)
    }
}
