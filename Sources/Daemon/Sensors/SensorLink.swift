import AuthEngine
import BusGuard
import DBus
import LocalAuthBus

/// One sensor of the bus: its program, what that was asked to do, and whom it knows.
@BusActor
final class SensorLink: SensorProcessEvents {
    /// The last element of its bus name.
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
        templates = SensorTemplates(process: process) { await events.listAnew($0) }
        operations = SensorOperations(process: process, templates: templates)
        process.events = self
        templates.isEnrolling = { [weak operations] in operations?.isEnrolling($0) == true }
    }

    /// What it says of itself.
    var facts: SensorProperties { process.facts }

    /// Whether `facts` are what a trusted sensor of a common version said, now or before.
    var isKnown: Bool { process.isKnown }

    /// Why it can't be used; nil when it can.
    var unavailability: Unavailability? { process.unavailability }

    var isUsable: Bool { process.isUsable }

    /// Whether it still is what a plan rests on, as it says when it is asked now.
    func isStill(_ fact: SensorFact) async -> Bool {
        guard let proxy = process.proxy else { return false }
        return await process.revalidate(proxy) && fits(fact)
    }

    /// Whether it is what a plan rests on, by what it said last.
    func fits(_ fact: SensorFact) -> Bool {
        facts.type == fact.type && facts.strength >= fact.strength
    }

    /// The sensor is none any more; what ran on it ended.
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

/// What the service wants to hear of its sensors.
@BusActor
protocol SensorEvents: AnyObject {
    /// What a sensor says of itself, or its state, has changed.
    func sensorChanged(_ sensor: SensorLink)
    /// Another process is the sensor now, whatever it says of itself.
    func sensorArrived(_ sensor: SensorLink)
    /// The bus knows a sensor no more.
    func sensorRemoved(_ sensor: SensorLink)
    /// A sensor says that a user's templates changed.
    func templatesChanged(_ sensor: SensorLink, uid: UInt32)
    /// A user's templates are to be known as they are now.
    func listAnew(_ uid: UInt32) async
}
