import AuthEngine
import BusGuard
import DBus
import LocalAuthBus

/// A sensor on the bus: its process, its operations and its templates.
@BusActor
final class SensorLink: SensorProcessEvents {
    /// The last element of the sensor's bus name.
    let name: String
    let process: SensorProcess
    let operations: SensorOperations
    let templates: SensorTemplates
    private let events: any SensorEvents

    init(
        name: String,
        connection: Connection,
        neighbours: NeighbourGuard,
        devices: DeviceRecords?,
        events: any SensorEvents,
        trust: @escaping @BusActor () -> SensorTrust
    ) {
        self.name = name
        self.events = events
        process = SensorProcess(
            name: name,
            connection: connection,
            neighbours: neighbours,
            devices: devices,
            findTrust: trust
        )
        templates = SensorTemplates(process: process) { await events.refreshTemplates($0) }
        operations = SensorOperations(process: process, templates: templates)
        process.events = self
        templates.isEnrolling = { [weak operations] in operations?.isEnrolling($0) == true }
    }

    var facts: SensorProperties { process.facts }

    /// Whether `facts` come from a trusted sensor with a common protocol version, now or earlier.
    var isKnown: Bool { process.isKnown }

    /// Why the sensor can't be used; nil if it can.
    var unavailability: Unavailability? { process.unavailability }

    var isUsable: Bool { process.isUsable }

    /// Revalidates the sensor and returns whether it still fits a plan.
    func isStill(_ fact: SensorFact) async -> Bool {
        guard let proxy = process.proxy else { return false }
        return await process.revalidate(proxy) && fits(fact)
    }

    /// Whether the sensor's last properties fit a plan.
    func fits(_ fact: SensorFact) -> Bool {
        facts.type == fact.type && facts.strength >= fact.strength
    }

    func remove() {
        process.remove()
    }

    // MARK: - SensorProcessEvents

    func lost(_ reason: Unavailability) {
        operations.endAll(reason)
        templates.forget()
    }

    func left() {
        operations.endBegun()
    }

    func arrived() {
        templates.forget()
        events.sensorArrived(self)
    }

    func stopped(_ reason: Unavailability) {
        operations.endAll(reason)
    }

    func impeded() {
        operations.cancelAll()
    }

    func changed() {
        events.sensorChanged(self)
    }

    func templatesChanged(uid: UInt32) {
        templates.changed(of: uid)
        events.templatesChanged(self, uid: uid)
    }

    func received(operation: UInt64, kind: String, detail: [String: Variant]) {
        operations.received(operation: operation, kind: kind, detail: detail)
    }
}

@BusActor
protocol SensorEvents: AnyObject {
    func sensorChanged(_ sensor: SensorLink)
    /// Called when another process becomes the sensor, before it describes itself.
    func sensorArrived(_ sensor: SensorLink)
    func sensorRemoved(_ sensor: SensorLink)
    func templatesChanged(_ sensor: SensorLink, uid: UInt32)
    /// Refreshes a user's templates from all sensors.
    func refreshTemplates(_ uid: UInt32) async
}
