package import DBus
package import LocalAuthBus

/// Imitates a sensor's object of the service: a fingerprint sensor with three enrolment stages.
@BusActor package final class StandInSensor {
    package var name: String
    package var description = "A stand-in."
    /// The cause of the unavailability; empty if the sensor can be used.
    package var unavailability = ""
    /// The error that the list of templates returns; nil for the templates.
    package var listError: DBusError?
    /// The sensor's own instructions for the user.
    package var instructions: [String: String] = [:]
    package private(set) var templates: [Template] = []
    /// Updates that confirmed matches added.
    package var learned: [LearnedEntry] = []

    private let connection: Connection
    private let path: ObjectPath

    package init(_ name: String, at service: StandInService) {
        self.name = name
        connection = service.connection
        path = ObjectPath(unchecked: TestDaemon.root.rawValue + "/sensor/" + name)
        connection.export(path, [Device1Interface(self)], managed: true)
    }

    /// Removes the object from the bus.
    package func remove() { connection.unexport(path) }

    private func forget(_ ids: (Template) -> Bool) -> UInt32 {
        let count = templates.count
        templates.removeAll(where: ids)
        return UInt32(count - templates.count)
    }
}

extension StandInSensor: Device1Service {
    package func listTemplates(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[Template]> {
        if let listError { throw listError }
        return .now(templates)
    }

    package func listLearned(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[LearnedEntry]> {
        .now(learned)
    }

    package func removeLearned(
        id: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        learned.removeAll { $0.id == id }
        return .now(())
    }

    package func enroll(
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        let signals = Device1Signals(connection, path: path)
        for stage in UInt32(1)...3 {
            signals.event(
                kind: "stage",
                detail: ["stage": .uint32(stage), "stages": .int32(3)],
                to: call.peer.name
            )
        }
        let id = "template\(templates.count + 1)"
        templates.append(Template(id: id, label: label, created: 1_700_000_000))
        return .now(id)
    }

    package func cancelEnroll(call: IncomingCall) throws(DBusError) -> Answer<Void> { .now(()) }

    package func renameTemplate(
        id: String,
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        .now(())
    }

    package func removeTemplate(
        id: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        _ = forget { $0.id == id }
        return .now(())
    }

    package func removeAllTemplates(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<UInt32> {
        .now(forget { _ in true })
    }

    package func name(for peer: Peer?) throws(DBusError) -> String { name }
    package func description(for peer: Peer?) throws(DBusError) -> String { description }
    package func biometryType(for peer: Peer?) throws(DBusError) -> UInt32 { 1 }
    package func strength(for peer: Peer?) throws(DBusError) -> String { "strong" }
    package func available(for peer: Peer?) throws(DBusError) -> Bool {
        unavailability.isEmpty
    }
    package func unavailability(for peer: Peer?) throws(DBusError) -> String { unavailability }
    package func enrollStages(for peer: Peer?) throws(DBusError) -> Int32 { 3 }
    package func instructions(for peer: Peer?) throws(DBusError) -> [String: String] {
        instructions
    }
}
