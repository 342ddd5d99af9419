import DBus
import Fingerprint
import LocalAuthBus
import SensorKit

/// One reader as a sensor: what runs on it, and what waits for what.
@BusActor final class FingerprintSensor: Sensor {
    let name: String
    let host: SensorHost
    let readers: Readers
    /// The reader that it stands for; nil: none yet.
    private(set) var key: FprintReader.Key?
    private(set) var properties: SensorProperties
    let bell = Bell()
    /// The claim that is held now.
    var session: FprintSession?
    /// Whether a Verify or Enroll runs.
    var isOperating = false
    /// Whether somebody has the reader, or is about to.
    var isTaken = false
    /// Claims that are being given back.
    var closing = 0
    /// What each user had when it was last looked at.
    var lists: [UInt32: EnrolledFingers] = [:]

    /// How long the end of the process waits for a claim to be given back.
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
        properties.unavailability = "no-hardware"
    }

    var health: SensorHealth {
        if let fault = readers.directory.fault { return .failed(fault.text) }
        return properties.isPresent ? .ok : .degraded("No fingerprint reader is connected.")
    }

    /// The reader is there as described, or not at all.
    func show(_ reader: FprintReader?) {
        if let reader {
            key = reader.key
            properties.description = reader.key.name
            properties.enrollStages = reader.enrollStages
        }
        properties.isPresent = reader != nil
        properties.unavailability = reader == nil ? "no-hardware" : ""
        host.propertiesChanged()
        lookAround()
    }

    /// Something is different: the reader, sleep, or the operation is canceled.
    func lookAround() {
        bell.ring()
        session?.interrupt()
    }

    func stop() async {
        _ = await bell.wait(atMost: Self.stopPatience) { !self.isOperating && self.closing == 0 }
    }
}
