import DBus
import LocalAuthBus
import SensorKit

/// A sensor without hardware: performs queued outcomes, or waits for a touch.
@BusActor final class SimulatedSensor: Sensor {
    static let stages: UInt32 = 5
    static let maximumPending = 256

    let name: String
    let host: SensorHost
    var properties: SensorProperties
    private let start: SensorProperties
    var pending: [Outcome] = []
    var touches: [Bool] = []
    var enrolled = EnrolledTemplates()
    /// Ends the running operation, like Cancel.
    var fault: SensorFault?
    var isRunning = false
    let changes = ConditionVariable()
    private lazy var control = SimulatedSensor1Interface(SimulatedObject(self))

    var interfaces: [any ServedInterface] { [control] }

    init(host: SensorHost, name: String, type: SensorProperties.BiometryType) {
        self.host = host
        self.name = name
        properties = SensorProperties(
            description: "Simulated sensor",
            biometryType: type,
            strength: .strong
        )
        properties.enrollStages = Int32(Self.stages)
        properties.maximumTemplates = 64
        start = properties
    }

    static func type(named word: String) -> SensorProperties.BiometryType {
        switch word {
        case "face": .face
        case "iris": .iris
        case "companion": .companion
        default: .fingerprint
        }
    }

    /// False once a test has changed state, which is in memory only.
    var mayEnd: Bool { properties == start && pending.isEmpty && enrolled.users.isEmpty }

    // MARK: Driven from outside

    func queue(_ outcomes: [Outcome]) {
        pending += outcomes
        pendingChanged()
        changes.notifyAll()
    }

    /// Touches the sensor.
    ///
    /// Without a running operation the touch is lost.
    func touch(matching: Bool) {
        guard isRunning, touches.count < Self.maximumPending else { return }
        touches.append(matching)
        changes.notifyAll()
    }

    func setPresent(_ isPresent: Bool) {
        properties.isPresent = isPresent
        properties.unavailability = isPresent ? nil : .noHardware
        host.propertiesChanged()
        if !isPresent { interrupt(.disconnected) }
    }

    func reset() {
        let users = enrolled.users
        enrolled = EnrolledTemplates()
        pending = []
        properties = start
        interrupt(.failed("The simulated sensor was reset."))
        pendingChanged()
        host.propertiesChanged()
        for user in users { host.templatesChanged(of: user) }
    }

    private func interrupt(_ fault: SensorFault) {
        guard isRunning else { return }
        self.fault = fault
        changes.notifyAll()
    }

    func pendingChanged() {
        host.connection.propertiesChanged(SimulatedSensor1.path, control, ["Pending"])
    }

    // MARK: Templates

    func templates(of user: UInt32) -> [Template] { enrolled[user] }

    func rename(_ id: String, of user: UInt32, to label: String) throws(SensorFault) {
        try enrolled.rename(id, of: user, to: label)
    }

    func remove(_ id: String, of user: UInt32) throws(SensorFault) {
        try enrolled.remove(id, of: user)
    }

    func removeAll(of user: UInt32) throws(SensorFault) -> UInt32 {
        try enrolled.removeAll(of: user)
    }
}
