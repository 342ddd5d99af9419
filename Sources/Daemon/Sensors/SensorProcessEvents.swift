import DBus
import LocalAuthBus

/// Receives events of a sensor's process.
@BusActor
protocol SensorProcessEvents: AnyObject {
    /// Called when the sensor is missing or broken: its operations have ended, and its lists are
    /// void.
    func lost(_ reason: Unavailability)
    /// Called when the sensor gave up its name.
    ///
    /// Operations that had begun have ended; others go to the successor or fail. The lists stay
    /// valid after an exit without a fault.
    func left()
    /// Called when another process owns the name, before it lists templates.
    func arrived()
    /// Called when the sensor reports that it can't be used: its operations have ended.
    func stopped(_ reason: Unavailability)
    /// Called when the machine's state prevents use of the sensor: its operations must be canceled.
    func impeded()
    /// Called when the sensor's properties or state change.
    func changed()
    /// Called when the sensor announces a change of a user's templates.
    func templatesChanged(uid: UInt32)
    func received(operation: UInt64, kind: String, detail: [String: Variant])
}

extension Unavailability? {
    /// The value on the wire; empty without a cause.
    var wire: String { self?.rawValue ?? "" }
}
