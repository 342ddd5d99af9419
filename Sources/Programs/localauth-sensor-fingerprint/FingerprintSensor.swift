import DBus
import Fingerprint
import LocalAuthBus
import SensorKit

/// One fingerprint reader as a sensor: its claim, its operation and its lists of fingers.
@BusActor final class FingerprintSensor: Sensor {
    let name: String
    let host: SensorHost
    let readers: Readers
    /// The reader behind this sensor; nil when there is none yet.
    private(set) var key: FprintReader.Key?
    private(set) var properties: SensorProperties
    let changes = ConditionVariable()
    /// The claim that is held now.
    var session: FprintSession?
    /// Whether a Verify or Enroll runs.
    var isOperating = false
    /// Whether the reader is claimed or being claimed.
    var isTaken = false
    /// How many claims are being released.
    var closing = 0
    /// The fingers of each user when they were last listed.
    var lists: [UInt32: EnrolledFingers] = [:]

    /// How long the process waits at its end for a claim to be released.
    static let stopPatience = Duration.milliseconds(600)

    init(_ name: String, host: SensorHost, readers: Readers) {
        self.name = name
        self.host = host
        self.readers = readers
        properties = SensorProperties(
            description: "Fingerprint reader",
            biometryType: .fingerprint,
            strength: .strong
        )
        properties.maximumTemplates = UInt32(Finger.allCases.count)
        properties.isPresent = false
        properties.unavailability = .noHardware
    }

    var health: SensorHealth {
        if let fault = readers.directory.fault { return .failed(fault.text) }
        return properties.isPresent ? .ok : .degraded("No fingerprint reader is connected.")
    }

    /// Takes over the description of the reader; nil when it is gone.
    func show(_ reader: FprintReader?) {
        if let reader {
            key = reader.key
            properties.description = reader.key.name
            properties.enrollStages = reader.enrollStages
        }
        properties.isPresent = reader != nil
        properties.unavailability = reader == nil ? .noHardware : nil
        host.propertiesChanged()
        lookAround()
    }

    /// Wakes whoever waits: the reader or sleep has changed, or the operation was canceled.
    func lookAround() {
        changes.notifyAll()
        session?.interrupt()
    }

    /// A claim, or the removal of what a canceled enrolment left, is to be finished.
    var mayEnd: Bool { !isTaken && closing == 0 }

    func stop() async {
        _ = await changes.wait(atMost: Self.stopPatience) { !self.isOperating && self.closing == 0 }
    }
}
