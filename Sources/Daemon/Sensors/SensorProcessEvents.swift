import DBus
import LocalAuthBus

/// What the program behind a sensor does, for what depends on it.
@BusActor
protocol SensorProcessEvents: AnyObject {
    /// It is gone or broken, for this reason: what runs has ended, and what it listed is void.
    func lost(_ reason: Unavailability)
    /// It gave up its name: what it had begun has ended; the rest is lost, or the next one's. What
    /// it listed stands if it ended in good order.
    func left()
    /// Another process has the name: it has listed nothing yet.
    func arrived()
    /// It can't be used, for this reason: what runs has ended.
    func stopped(_ reason: Unavailability)
    /// The surroundings keep it from being used: what runs is to be canceled.
    func impeded()
    /// What it says of itself, or its state, has changed.
    func changed()
    /// It says that a user's templates changed.
    func templatesChanged(uid: UInt32)
    /// It sent `Event`.
    func received(operation: UInt64, kind: String, detail: [String: Variant])
}

extension Unavailability? {
    /// As the contract has it.
    var wire: String { self?.rawValue ?? "" }
}
