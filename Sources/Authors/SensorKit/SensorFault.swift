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
        switch self {
        case .canceled: DBusError(.sensorCanceled, "The operation was canceled.")
        case .busy: DBusError(.sensorBusy, "The sensor is busy.")
        case .inUse(let message): DBusError(.sensorBusy, message)
        case .noTemplates: DBusError(.sensorNoTemplates, "There is no such template.")
        case .full: DBusError(.sensorFull, "There is no room for another template.")
        case .duplicate: DBusError(.sensorDuplicate, "This is enrolled already.")
        case .disconnected: DBusError(.sensorDisconnected, "The sensor is not connected.")
        case .denied(let message): DBusError(.sensorDenied, message)
        case .failed(let message): DBusError(.sensorFailed, message)
        }
    }
}
