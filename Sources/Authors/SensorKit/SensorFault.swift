import DBus
import LocalAuthBus

/// The cause why an operation ended without a result.
///
/// A fault never counts as a miss; a driver reports misses with ``SensorOperation/noMatch()``.
public enum SensorFault: Error, Hashable, Sendable {
    case canceled
    /// Another program uses the sensor.
    case busy
    /// Another program uses the sensor; a sentence for the user names it.
    case inUse(String)
    /// No template is enrolled for this user, or under this id.
    case noTemplates
    /// The sensor has no room for another template.
    case full
    /// The finger or face is enrolled already.
    case duplicate
    case disconnected
    /// The sensor lacks a permission; a sentence for the user names it, and says how to grant it.
    case denied(String)
    /// Any other fault, as a sentence for the user.
    case failed(String)

    /// The driver's own message.
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
