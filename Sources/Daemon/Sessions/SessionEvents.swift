import AuthEngine
import DBus

/// What the service hears of sessions and sleep, and says about its own part in them.
@BusActor
protocol SessionEvents: AnyObject {
    /// Something happened that the engine has to know.
    func happened(_ event: Event)
    func surroundingsChanged(_ surroundings: Surroundings)
    /// A session ended; nil: those of the time without a login manager.
    func sessionEnded(_ session: String?)
    /// Sessions came or went: a process may be in another one than before.
    func sessionsRearranged()
    /// Whether callers can be asked may be another than before.
    func callersChanged()
    /// The machine is awake again.
    func wokeUp()
    /// Returns once no sensor runs anything, so that the machine may sleep.
    func sensorsIdle() async
    /// Those who gave a passcode, and have not logged out since.
    var usersWithPasscode: [UInt32] { get }
}
