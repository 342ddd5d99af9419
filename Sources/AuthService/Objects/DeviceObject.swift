import AuthEngine
import DBus
import LocalAuthBus

/// One sensor as clients see it: `…/sensor/<name>`.
@BusActor
final class SensorObject: Device1Service {
    /// The longest label, in bytes.
    static let longestLabel = 256
    /// What clients are told of when it changes.
    private static let changing = [
        "Description", "BiometryType", "Strength", "Available", "Unavailability", "EnrollStages",
    ]

    let sensor: SensorLink
    let path: ObjectPath
    private unowned let service: AuthService
    private var enrolments: [DeviceEnrolment] = []
    private var announced: [Variant] = []

    init(sensor: SensorLink, service: AuthService, path: ObjectPath) {
        self.sensor = sensor
        self.service = service
        self.path = path
    }

    func export(on connection: Connection) {
        announced = values
        connection.export(path, [Device1Interface(self)], managed: true)
    }

    /// Tells everybody what changed.
    func announce() {
        let before = announced
        announced = values
        let names = zip(Self.changing, zip(before, announced)).filter { $1.0 != $1.1 }.map(\.0)
        guard !names.isEmpty else { return }
        service.connection.propertiesChanged(path, Device1Interface(self), names)
    }

    private var values: [Variant] {
        [
            .string(sensor.facts.description), .uint32(sensor.facts.type.rawValue),
            .string(sensor.facts.strength.rawValue), .bool(sensor.isUsable),
            .string(sensor.unavailability), .int32(sensor.facts.enrollStages),
        ]
    }

    // MARK: - Templates

    func listTemplates(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[Template]> {
        let options = try DeviceOptions(options, of: call.peer)
        return .later { [self] () throws(DBusError) in try await templates(of: options.uid) }
    }

    /// The templates of a user, asked for anew.
    private func templates(of uid: UInt32) async throws(DBusError) -> [Template] {
        guard sensor.isUsable else { throw sensor.unavailable }
        await service.enrolments.refresh(uid)
        guard sensor.isUsable, let list = sensor.lists[uid] else { throw sensor.unavailable }
        return list
    }

    private func require(_ id: String, of uid: UInt32) async throws(DBusError) {
        guard try await templates(of: uid).contains(where: { $0.id == id }) else {
            throw SensorLink.cleaned(DBusError(.sensorNoTemplates, ""))
        }
    }

    func enroll(
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        let options = try DeviceOptions(options, of: call.peer)
        let label = try Self.checked(label)
        guard sensor.isUsable else { throw sensor.unavailable }
        try checkNotEnrolling()
        let client = service.client(of: call.peer)
        guard service.hasRoom(for: client) else {
            throw .exceeded("this connection waits for too many answers at once")
        }
        let enrolment = DeviceEnrolment(
            client: client,
            options: options,
            sensor: sensor,
            service: service
        )
        enrolments.append(enrolment)
        return .later { [self] () throws(DBusError) in
            defer { forget(enrolment) }
            do throws(DBusError) {
                let reason = "add to what \(sensor.name) knows"
                try await authorize(enrolment.authorization, call, reason)
            } catch {
                throw enrolment.failure ?? error
            }
            try checkNotEnrolling()
            let signals = Device1Signals(service.connection, path: path)
            let id = try await enrolment.run(label) { kind, detail in
                signals.event(kind: kind, detail: detail, to: call.peer.name)
            }
            await service.enrolments.refresh(options.uid)
            return id
        }
    }

    private func checkNotEnrolling() throws(DBusError) {
        guard !enrolments.contains(where: \.isRunning) else {
            throw SensorLink.cleaned(DBusError(.sensorBusy, ""))
        }
    }

    /// Ends every enrolment before the service stops.
    func stop() {
        for enrolment in enrolments {
            enrolment.end(DBusError(.systemCancel, "The authentication service stops."))
        }
    }

    private func forget(_ enrolment: DeviceEnrolment) {
        enrolment.close()
        enrolments.removeAll { $0 === enrolment }
    }

    func cancelEnroll(call: IncomingCall) throws(DBusError) -> Answer<Void> {
        for enrolment in enrolments where enrolment.client.peer === call.peer {
            enrolment.end(DBusError(.appCancel, "The enrolment was canceled."))
        }
        return .now(())
    }

    func renameTemplate(
        id: String,
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let uid = try DeviceOptions(options, of: call.peer).uid
        let label = try Self.checked(label)
        try Self.check(id: id)
        return .later { [self] () throws(DBusError) in
            try await require(id, of: uid)
            try await sensor.change { proxy throws(DBusError) in
                try await proxy.renameTemplate(
                    uid: uid,
                    id: id,
                    label: label,
                    timeout: SensorLink.longPatience
                )
            }
        }
    }

    func removeTemplate(
        id: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let options = try DeviceOptions(options, of: call.peer)
        let uid = options.uid
        try Self.check(id: id)
        return .later { [self] () throws(DBusError) in
            try await require(id, of: uid)
            let authorization = Authorization(options: options, service: service)
            try await authorize(authorization, call, "remove from what \(sensor.name) knows")
            try await sensor.change { proxy throws(DBusError) in
                try await proxy.removeTemplate(uid: uid, id: id, timeout: SensorLink.longPatience)
            }
            await service.enrolments.refresh(uid)
        }
    }

    func removeAllTemplates(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<UInt32> {
        let options = try DeviceOptions(options, of: call.peer)
        let uid = options.uid
        guard sensor.isUsable else { throw sensor.unavailable }
        return .later { [self] () throws(DBusError) in
            let authorization = Authorization(options: options, service: service)
            try await authorize(authorization, call, "make \(sensor.name) forget you")
            let removed = try await sensor.change { proxy throws(DBusError) in
                try await proxy.removeAllTemplates(uid: uid, timeout: SensorLink.longPatience)
            }
            await service.enrolments.refresh(uid)
            return removed
        }
    }

    /// A passcode within the last minute, or one now.
    private func authorize(
        _ authorization: Authorization,
        _ call: IncomingCall,
        _ reason: String
    ) async throws(DBusError) {
        let audience = Evaluation.Audience(
            peer: call.peer,
            path: path,
            interface: Device1Proxy.interface,
            serial: call.serial
        )
        try await authorization.ask(reason, audience)
        guard !call.peer.hasLeft else {
            throw DBusError(.appCancel, "The caller left.")
        }
    }

    private static func checked(_ label: String) throws(DBusError) -> String {
        guard label.utf8.count <= longestLabel else {
            throw .invalid("the label is over 256 bytes")
        }
        return DisplayText.cleaned(label, limit: longestLabel)
    }

    private static func check(id: String) throws(DBusError) {
        guard SensorLink.isIdentifier(id) else { throw .invalid("no template has such an id") }
    }

    // MARK: - Properties

    func name(for peer: Peer?) throws(DBusError) -> String { sensor.name }

    func description(for peer: Peer?) throws(DBusError) -> String { sensor.facts.description }

    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32 { sensor.facts.type.rawValue }

    func strength(for peer: Peer?) throws(DBusError) -> String { sensor.facts.strength.rawValue }

    func available(for peer: Peer?) throws(DBusError) -> Bool {
        try unavailability(for: peer).isEmpty
    }

    func unavailability(for peer: Peer?) throws(DBusError) -> String {
        let isRemote = peer.map(service.sessions.isRemote) ?? false
        return sensor.isUsable && isRemote ? "remote-session" : sensor.unavailability
    }

    func enrollStages(for peer: Peer?) throws(DBusError) -> Int32 { sensor.facts.enrollStages }
}
