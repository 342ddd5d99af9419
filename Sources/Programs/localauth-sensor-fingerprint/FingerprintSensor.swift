import DBus
import Fingerprint
import LocalAuthBus
import SensorKit

/// A fingerprint reader as a sensor: its claim, its operation and its lists of fingers.
@BusActor final class FingerprintSensor: Sensor {
    let name: String
    let host: SensorHost
    let readers: Readers
    /// The reader behind this sensor; nil until a reader is connected.
    private(set) var key: FprintReader.Key?
    private(set) var properties: SensorProperties
    let changes = ConditionVariable()
    var session: FprintSession?
    var isOperating = false
    /// Whether the reader is claimed or being claimed.
    var isTaken = false
    var closing = 0
    /// Each user's fingers, as last listed.
    var lists: [UInt32: EnrolledFingers] = [:]

    /// Time for a claim to be released when the process exits.
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

    /// Adopts a reader's description; nil when the reader is gone.
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

    /// Wakes all waiting tasks after a change of the reader or of sleep, or after Cancel.
    func lookAround() {
        changes.notifyAll()
        session?.interrupt()
    }

    /// False while a claim, or the removal of a canceled enrolment's print, is unfinished.
    var mayEnd: Bool { !isTaken && closing == 0 }

    func stop() async {
        _ = await changes.wait(atMost: Self.stopPatience) { !self.isOperating && self.closing == 0 }
    }
}
