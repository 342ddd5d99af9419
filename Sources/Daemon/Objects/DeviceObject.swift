import AuthEngine
import Contract
import DBus
import LocalAuthBus

/// A sensor as clients see it: `…/sensor/<name>`.
@BusActor
final class DeviceObject: Device1Service {
    /// The longest label, in bytes.
    static let longestLabel = 256
    /// Properties with change signals.
    private static let changing = [
        "Description", "BiometryType", "Strength", "Available", "Unavailability", "EnrollStages",
        "Instructions",
    ]

    let sensor: SensorLink
    let path: ObjectPath
    private let connection: Connection
    private let evaluations: Evaluations
    private let enrolments: Enrolments
    private let sessions: Sessions
    private let administration: Administration
    private(set) var calls: [DeviceEnrolment] = []
    private var announced: [Variant] = []

    init(
        sensor: SensorLink,
        connection: Connection,
        evaluations: Evaluations,
        enrolments: Enrolments,
        sessions: Sessions,
        administration: Administration
    ) {
        self.sensor = sensor
        self.connection = connection
        self.evaluations = evaluations
        self.enrolments = enrolments
        self.sessions = sessions
        self.administration = administration
        path = Self.path(of: sensor)
    }

    static func path(of sensor: SensorLink) -> ObjectPath {
        ObjectPath(unchecked: Authentication1.path.rawValue + "/sensor/" + sensor.name)
    }

    func export() {
        announced = values
        connection.export(path, [Device1Interface(self)], managed: true) { [sensor] _, _ in
            guard sensor.process.hasPendingChange else { return nil }
            return { await sensor.process.awaitPendingChange() }
        }
    }

    func announce() {
        let before = announced
        announced = values
        let names = zip(Self.changing, zip(before, announced)).filter { $1.0 != $1.1 }.map(\.0)
        guard !names.isEmpty else { return }
        connection.propertiesChanged(path, Device1Interface(self), names)
    }

    private var values: [Variant] {
        [
            .string(sensor.facts.description), .uint32(sensor.facts.type.rawValue),
            .string(sensor.facts.strength.rawValue), .bool(sensor.isUsable),
            .string(sensor.unavailability.wire), .int32(sensor.facts.enrollStages),
            .texts(sensor.facts.instructions),
        ]
    }

    // MARK: - Templates

    func listTemplates(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[Template]> {
        let options = try self.options(options, of: call)
        return .later { [self] () throws(DBusError) in
            try await authorization(.remove, options).admit(call.peer)
            return try await templates(of: options.uid)
        }
    }

    private func options(
        _ options: [String: Variant],
        of call: IncomingCall
    ) throws(DBusError) -> DeviceOptions {
        evaluations.clients.unknownOptions.take(options, of: call)
        return try DeviceOptions(options, of: call.peer)
    }

    /// Returns the templates of a user after querying the sensor.
    private func templates(of uid: UInt32) async throws(DBusError) -> [Template] {
        try checkUsable()
        await enrolments.refresh(uid)
        guard sensor.isUsable, let list = sensor.templates[uid] else {
            throw sensor.process.refusal
        }
        return list
    }

    func listLearned(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[LearnedEntry]> {
        let options = try self.options(options, of: call)
        return .later { [self] () throws(DBusError) in
            try await authorization(.remove, options).admit(call.peer)
            return try await learned(of: options.uid)
        }
    }

    /// Returns the learned entries of a user, for templates that the sensor lists anew.
    private func learned(of uid: UInt32) async throws(DBusError) -> [LearnedEntry] {
        guard try await !templates(of: uid).isEmpty else { return [] }
        return try await sensor.templates.learned(of: uid)
    }

    private func checkUsable() throws(DBusError) {
        guard sensor.isUsable else { throw sensor.process.refusal }
    }

    private func require(_ id: String, of uid: UInt32) async throws(DBusError) {
        guard try await templates(of: uid).contains(where: { $0.id == id }) else {
            throw DBusError(sensor: .sensorNoTemplates)
        }
    }

    func enroll(
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        let options = try self.options(options, of: call)
        let label = try Self.checked(label)
        guard sensor.isUsable else {
            return .later { [sensor] () throws(DBusError) in
                throw await sensor.process.explainedRefusal()
            }
        }
        try checkNotEnrolling()
        return .later { [self] () throws(DBusError) in
            // Create this only after the call is admitted, so that a refused call leaves no state
            // behind.
            let enrolment = DeviceEnrolment(
                client: evaluations.clients[call.peer],
                authorization: authorization(.enroll, options),
                sensor: sensor
            )
            calls.append(enrolment)
            defer { forget(enrolment) }
            do throws(DBusError) {
                try await enrolment.findSession(evaluations)
                let reason = "add a fingerprint, a face or a key to \(sensor.name)"
                try await authorize(enrolment.authorization, call, reason)
            } catch {
                throw enrolment.failure ?? error
            }
            try checkNotEnrolling()
            let signals = Device1Signals(connection, path: path)
            let id = try await enrolment.enroll(label) { kind, detail in
                signals.event(kind: kind.rawValue, detail: detail, to: call.peer.name)
            }
            do throws(DBusError) {
                try await enrolment.checkSession(evaluations.facts)
            } catch {
                // The owner of the new template is uncertain, so remove it.
                await sensor.templates.discard(id, of: options.uid).value
                throw error
            }
            await enrolments.refresh(options.uid)
            return id
        }
    }

    private func remove(_ id: String, of uid: UInt32) async throws(DBusError) {
        try await sensor.templates.change(of: uid) { proxy throws(DBusError) in
            try await proxy.removeTemplate(uid: uid, id: id, timeout: SensorTemplates.patience)
        }
    }

    private func checkNotEnrolling() throws(DBusError) {
        guard !calls.contains(where: \.isRunning) else {
            throw DBusError(sensor: .sensorBusy)
        }
    }

    /// Ends all enrolments when the service stops.
    func stop() {
        for enrolment in calls {
            enrolment.end(DBusError(.systemCancel, "The authentication service stops."))
        }
    }

    /// Ends the session's enrolments after a lock or a switch; nil, for sleep, ends all enrolments.
    func interrupted(_ session: String?, _ refusal: Refusal) {
        for enrolment in calls { enrolment.interrupted(session, refusal) }
    }

    private func forget(_ enrolment: DeviceEnrolment) {
        enrolment.close()
        calls.removeAll { $0 === enrolment }
    }

    func cancelEnroll(call: IncomingCall) throws(DBusError) -> Answer<Void> {
        for enrolment in calls where enrolment.client.peer === call.peer {
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
        let options = try self.options(options, of: call)
        let uid = options.uid
        let label = try Self.checked(label)
        try Self.check(id: id)
        return .later { [self] () throws(DBusError) in
            try await authorization(.enroll, options).admit(call.peer)
            try await require(id, of: uid)
            try await sensor.templates.change(of: uid) { proxy throws(DBusError) in
                try await proxy.renameTemplate(
                    uid: uid,
                    id: id,
                    label: label,
                    timeout: SensorTemplates.patience
                )
            }
        }
    }

    func removeTemplate(
        id: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let options = try self.options(options, of: call)
        let uid = options.uid
        try Self.check(id: id)
        return .later { [self] () throws(DBusError) in
            try await authorizeRemoval(options, call) { () throws(DBusError) in
                try await self.require(id, of: uid)
            }
            try await remove(id, of: uid)
            await enrolments.refresh(uid)
        }
    }

    func removeLearned(
        id: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let options = try self.options(options, of: call)
        let uid = options.uid
        try Self.check(id: id)
        return .later { [self] () throws(DBusError) in
            try await authorizeRemoval(options, call) { () throws(DBusError) in
                guard try await self.learned(of: uid).contains(where: { $0.id == id }) else {
                    throw DBusError(sensor: .sensorNoTemplates)
                }
            }
            let patience = SensorTemplates.patience
            try await sensor.templates.change(of: uid) { proxy throws(DBusError) in
                do throws(DBusError) {
                    try await proxy.removeLearned(uid: uid, id: id, timeout: patience)
                } catch {
                    if SensorTemplates.leavesChangeUnknown(error) {
                        enrolments.learned(of: uid, at: sensor.name, .removed, lostReply: error)
                    }
                    throw error
                }
            }
            enrolments.learned(of: uid, at: sensor.name, .removed)
        }
    }

    func removeAllTemplates(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<UInt32> {
        let options = try self.options(options, of: call)
        let uid = options.uid
        try checkUsable()
        return .later { [self] () throws(DBusError) in
            let authorization = authorization(.remove, options)
            let reason = "remove everything of yours from \(sensor.name)"
            try await authorize(authorization, call, reason)
            do throws(DBusError) {
                let removed = try await sensor.templates.change(of: uid) {
                    proxy throws(DBusError) in
                    try await proxy.removeAllTemplates(uid: uid, timeout: SensorTemplates.patience)
                }
                await enrolments.refresh(uid)
                return removed
            } catch {
                // Some templates may have been removed despite the error.
                sensor.templates.changed(of: uid)
                await enrolments.refresh(uid)
                throw error
            }
        }
    }

    private func authorization(
        _ action: Administration.Action,
        _ options: DeviceOptions
    ) -> Authorization {
        Authorization(
            action,
            options: options,
            administration: administration,
            evaluations: evaluations
        )
    }

    /// Requires a password within the last minute, or polkit's authorization for another user.
    private func authorize(
        _ authorization: Authorization,
        _ call: IncomingCall,
        _ reason: String
    ) async throws(DBusError) {
        let audience = Audience(peer: call.peer, source: .device(path, serial: call.serial))
        try await authorization.ask(reason, audience)
        guard !call.peer.hasLeft else {
            throw DBusError(.appCancel, "The caller left.")
        }
    }

    /// Authorizes a removal if the caller may remove and `isThere` finds an entry.
    ///
    /// Callers without permission do not learn which entries exist.
    private func authorizeRemoval(
        _ options: DeviceOptions,
        _ call: IncomingCall,
        isThere: @BusActor () async throws(DBusError) -> Void
    ) async throws(DBusError) {
        let authorization = authorization(.remove, options)
        try await authorization.admit(call.peer)
        try await isThere()
        if !options.isForOther {
            let reason = "remove a fingerprint, a face or a key from \(sensor.name)"
            try await authorize(authorization, call, reason)
        }
    }

    private static func checked(_ label: String) throws(DBusError) -> String {
        guard label.utf8.count <= longestLabel else {
            throw .invalid("the label is over 256 bytes")
        }
        return DisplayText.cleaned(label, limit: longestLabel)
    }

    private static func check(id: String) throws(DBusError) {
        guard SensorTemplates.isIdentifier(id) else { throw .invalid("no template has such an id") }
    }

    // MARK: - Properties

    func name(for peer: Peer?) throws(DBusError) -> String { sensor.name }

    func description(for peer: Peer?) throws(DBusError) -> String { sensor.facts.description }

    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32 { sensor.facts.type.rawValue }

    func strength(for peer: Peer?) throws(DBusError) -> String { sensor.facts.strength.rawValue }

    func available(for peer: Peer?) throws(DBusError) -> Bool {
        unavailability(of: peer) == nil
    }

    func unavailability(for peer: Peer?) throws(DBusError) -> String {
        unavailability(of: peer).wire
    }

    private func unavailability(of peer: Peer?) -> Unavailability? {
        let isRemote = peer.map(sessions.isRemote) ?? false
        return sensor.isUsable && isRemote ? .remoteSession : sensor.unavailability
    }

    func enrollStages(for peer: Peer?) throws(DBusError) -> Int32 { sensor.facts.enrollStages }

    func instructions(for peer: Peer?) throws(DBusError) -> [String: String] {
        sensor.facts.instructions
    }
}
