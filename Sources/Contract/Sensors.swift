/// The biometry of a sensor; raw values are Apple's.
public enum BiometryType: UInt32, Sendable, CaseIterable {
    /// No biometry: a companion device, or no sensor.
    case none = 0
    /// A finger.
    case fingerprint = 1
    /// A face.
    case face = 2
    /// An iris.
    case iris = 4
}

/// The resistance of a sensor to attacks, weakest first.
public enum Strength: String, Sendable, CaseIterable, Comparable {
    /// For comfort only, such as an RGB webcam.
    case convenience
    /// Resists a casual attempt.
    case weak
    /// Resists a determined attempt; good enough for secrets.
    case strong

    /// Compares by resistance.
    public static func < (left: Strength, right: Strength) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .convenience: 0
        case .weak: 1
        case .strong: 2
        }
    }
}

/// The cause why a sensor can't be used, in `Device1.Unavailability` and `Sensor1.Unavailability`.
///
/// On the wire a sensor that can be used has the empty string.
public enum Unavailability: String, CaseIterable, Hashable, Sendable {
    /// The device is absent.
    case noHardware = "no-hardware"
    /// The program of the sensor starts, or has not yet said its properties.
    case starting
    /// The lid over the sensor is closed.
    case lidClosed = "lid-closed"
    /// The machine sleeps.
    case suspended
    /// The program of the sensor ended with a fault.
    case crashed
    /// The sensor has a fault.
    case failed
    /// The sensor and the service have no common protocol version.
    case incompatible
    /// The user of the program may not own the sensor's name.
    case untrusted
    /// The caller is in a remote session.
    case remoteSession = "remote-session"
}

/// The state of a sensor, in `Sensor1.Health`.
public enum HealthState: String, CaseIterable, Hashable, Sendable {
    /// The sensor works.
    case ok
    /// The sensor works with limits.
    case degraded
    /// The sensor does not work.
    case failed
}

/// An event of an operation: the kinds of `Sensor1.Event`.
public enum SensorEventKind: String, CaseIterable, Hashable, Sendable {
    /// The sensor looks.
    case ready
    /// Advice to the person.
    case hint
    /// The progress of an enrolment.
    case stage
    /// Another program uses the device; `ready` follows.
    case busy
}

/// Advice of a sensor to the person before it.
///
/// A newer sensor may send other words; the service passes them on.
public enum SensorHint: String, Sendable, CaseIterable {
    /// The person is too far away.
    case moveCloser = "move-closer"
    /// The person is too close.
    case moveAway = "move-away"
    /// The person is not in the middle.
    case center
    /// Too little light.
    case tooDark = "too-dark"
    /// Too much light.
    case tooBright = "too-bright"
    /// The person moves too much.
    case holdStill = "hold-still"
    /// The swipe ended too early.
    case swipeTooShort = "swipe-too-short"
    /// The swipe was too fast.
    case tooFast = "too-fast"
    /// Lift the finger and put it down again.
    case liftAndRetry = "lift-and-retry"
    /// The sensor is dirty.
    case cleanSensor = "clean-sensor"
    /// The person looks elsewhere.
    case lookAtCamera = "look-at-camera"
    /// The person's eyes seem closed.
    case openEyes = "open-eyes"
    /// Two people are equally close.
    case onePerson = "one-person"
    /// Touch the key.
    case confirmPresence = "confirm-presence"
    /// Turn the head to its left.
    case turnLeft = "turn-left"
    /// Turn the head to its right.
    case turnRight = "turn-right"
}

/// The error of an operation: the last word of `Sensor1.Error.*`.
public enum SensorFailure: String, CaseIterable, Hashable, Sendable {
    /// The operation was canceled.
    case canceled = "Canceled"
    /// Another operation uses the sensor.
    case busy = "Busy"
    /// The user lacks the template, or has none.
    case noTemplates = "NoTemplates"
    /// The sensor has no room for another template.
    case full = "Full"
    /// The finger or face has a template already.
    case duplicate = "Duplicate"
    /// The device is gone.
    case disconnected = "Disconnected"
    /// The system refuses the sensor what it needs.
    case denied = "Denied"
    /// Another fault.
    case failed = "Failed"

    /// The cause in the event `sensor-failed`.
    public enum Cause: String, CaseIterable, Hashable, Sendable {
        /// The system refuses the sensor what it needs.
        case denied
        /// The device is gone.
        case missing
        /// Another fault.
        case failed
    }

    /// The cause in the event `sensor-failed`; nil: the sensor is not at fault.
    public var cause: Cause? {
        switch self {
        case .denied: .denied
        case .disconnected: .missing
        case .failed: .failed
        case .canceled, .busy, .noTemplates, .full, .duplicate: nil
        }
    }
}
