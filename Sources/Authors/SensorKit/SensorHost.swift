public import DBus
import LocalAuthBus

/// The driver's channel to the bus outside of operations.
@BusActor public final class SensorHost {
    /// The connection that serves the sensor.
    public let connection: Connection

    let signals: Sensor1Signals
    private weak var sensor: (any Sensor)?
    private var interface: (any ServedInterface)?
    private var announced: SensorProperties?
    private var hasLeft = false

    /// The time that the daemon has to answer before the process exits.
    private static let patience = Duration.milliseconds(250)

    init(_ connection: Connection) {
        self.connection = connection
        signals = Sensor1Signals(connection, path: Sensor1.path)
    }

    /// Announces a change of templates that neither Enroll nor Remove made; those announce it
    /// themselves.
    public func templatesChanged(of user: UInt32) {
        signals.templatesChanged(uid: user)
    }

    /// Announces the properties that have changed.
    public func propertiesChanged() {
        guard let sensor, let interface, let old = announced else { return }
        let new = sensor.properties
        announced = new
        let changed = [
            ("Description", old.description != new.description),
            ("BiometryType", old.biometryType != new.biometryType),
            ("Strength", old.strength != new.strength),
            ("Present", old.isPresent != new.isPresent),
            ("Unavailability", old.unavailability != new.unavailability),
            ("EnrollStages", old.enrollStages != new.enrollStages),
            ("MaxTemplates", old.maximumTemplates != new.maximumTemplates),
            ("Instructions", old.instructions != new.instructions),
        ]
        .filter(\.1).map(\.0)
        guard !changed.isEmpty else { return }
        connection.propertiesChanged(Sensor1.path, interface, changed)
    }

    /// Releases the bus name before the process exits, so that the daemon can tell this from a
    /// crash.
    ///
    /// Returns once the daemon has received the change.
    func leave(_ daemon: DaemonCaller) async {
        guard let sensor, !hasLeft else { return }
        hasLeft = true
        try? await connection.giveUpName(Self.busName(of: sensor))
        await daemon.waitUntilNotified(within: Self.patience)
    }

    private static func busName(of sensor: any Sensor) -> String {
        Sensor1.namespace + "." + sensor.name
    }

    func serve(_ sensor: any Sensor, _ object: SensorObject) throws(DBusError) {
        let interface = Sensor1Interface(object)
        self.sensor = sensor
        self.interface = interface
        announced = sensor.properties
        connection.export(Sensor1.path, [interface] + sensor.interfaces)
        try connection.requestName(Self.busName(of: sensor))
    }
}
