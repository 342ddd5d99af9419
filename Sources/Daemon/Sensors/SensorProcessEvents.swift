import DBus
import LocalAuthBus

/// Events of the program behind a sensor.
@BusActor
protocol SensorProcessEvents: AnyObject {
    /// The sensor is gone or broken: its operations have ended, and its lists are void.
    func lost(_ reason: Unavailability)
    /// The sensor gave up its name: operations that had begun have ended; the others are lost, or
    /// the successor's. Its lists stand if it ended in good order.
    func left()
    /// Another process has the name, and has listed nothing yet.
    func arrived()
    /// The sensor says that it can't be used: its operations have ended.
    func stopped(_ reason: Unavailability)
    /// The surroundings keep the sensor from being used: cancel its operations.
    func impeded()
    /// The properties of the sensor, or its state, have changed.
    func changed()
    /// The sensor says that a user's templates changed.
    func templatesChanged(uid: UInt32)
    /// The sensor sent `Event`.
    func received(operation: UInt64, kind: String, detail: [String: Variant])
}

extension Unavailability? {
    /// As the contract has it.
    var wire: String { self?.rawValue ?? "" }
}
