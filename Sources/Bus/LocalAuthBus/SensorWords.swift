extension Sensor1 {
    /// Every sensor has a bus name of its own below this one: `org.localauth.Sensor1.NAME`.
    public static let namespace = interface
}

/// Why a sensor can't be used: the words of `Device1.Unavailability` and `Sensor1.Unavailability`.
///
/// On the wire a sensor that can be used has the empty string.
public enum Unavailability: String, CaseIterable, Hashable, Sendable {
    /// The device is not there.
    case noHardware = "no-hardware"
    /// Its program is being started, or has not said yet what it is.
    case starting
    /// It sits under the closed lid.
    case lidClosed = "lid-closed"
    /// The machine sleeps.
    case suspended
    /// Its program ended without being asked to.
    case crashed
    /// It does not work.
    case failed
    /// It shares no protocol version with the service.
    case incompatible
    /// Its program runs as a user who may not be a sensor.
    case untrusted
    /// The caller is in a remote session.
    case remoteSession = "remote-session"
}

/// How a sensor is: the words of `Sensor1.Health`.
public enum HealthState: String, CaseIterable, Hashable, Sendable {
    /// It works.
    case ok
    /// It works, but less well than it should.
    case degraded
    /// It does not work.
    case failed
}

/// What happens while a sensor runs an operation: the kinds of `Sensor1.Event`.
public enum SensorEventKind: String, CaseIterable, Hashable, Sendable {
    /// It looks.
    case ready
    /// What the person should do better.
    case hint
    /// How far an enrolment is.
    case stage
    /// Another program has the device: it is waited for, and `ready` follows.
    case busy
}
