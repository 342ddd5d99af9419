import AuthEngine
import DBus

/// Receives events of sessions and sleep, and tells what the service is doing.
@BusActor
protocol SessionEvents: AnyObject {
    func happened(_ event: Event)
    func surroundingsChanged(_ surroundings: Surroundings)
    /// Called when a session ended; nil means the sessions assumed without a login manager.
    func sessionEnded(_ session: String?)
    /// Called when sessions came or went, so that a process may be in another session.
    func sessionsRearranged()
    /// Called when callers may have become able or unable to get a prompt.
    func callersChanged()
    func wokeUp()
    /// Waits until no sensor runs an operation, so that the machine may sleep.
    func sensorsIdle() async
    /// The times of users' passwords, without a logout since.
    var passcodes: [UInt32: Instant] { get }
}
