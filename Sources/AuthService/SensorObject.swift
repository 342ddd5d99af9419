import AuthEngine
import DBus
import LocalAuthBus

/// One sensor as clients see it: `…/sensor/<name>`.
@BusActor
final class SensorObject: Device1Service {
    /// How long a passcode given earlier allows a change of templates.
    static let passcodeFreshness = Duration.seconds(60)
    /// The longest label, in bytes.
    static let longestLabel = 256

    /// An enrolment that runs.
    private struct Enrolling {
        let operation: UInt64
        let peer: Peer
        let answer: CheckedContinuation<Result<String, DBusError>, Never>
        let leave: EventSource
    }

    private let sensor: SensorLink
    private unowned let service: AuthService
    private var path = ObjectPath(trusted: "/")
    private var enrolling: Enrolling?

    init(sensor: SensorLink, service: AuthService) {
        self.sensor = sensor
        self.service = service
    }

    func export(on connection: Connection, at path: ObjectPath) {
        self.path = path
        connection.export(path, [Device1Interface(self)], managed: true)
    }

    /// Tells everybody what may have changed.
    func announce() {
        service.connection.propertiesChanged(
            path,
            Device1Interface(self),
            [
                "Description", "BiometryType", "Strength", "Available", "Unavailability",
                "EnrollStages",
            ]
        )
    }

    // MARK: - Templates

    func listTemplates(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[Template]> {
        let uid = try subject(of: call, options)
        return .later { [self] () throws(DBusError) in
            guard let templates = await sensor.listTemplates(of: uid) else { throw unavailable }
            return templates
        }
    }

    func enroll(
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        let uid = try subject(of: call, options)
        let label = try Self.checked(label)
        guard sensor.isUsable else { throw unavailable }
        return .later { [self] () throws(DBusError) in
            try await authorize(call, options, "add to what \(sensor.name) recognises")
            guard !call.peer.hasLeft else { throw DBusError(.sensorCanceled, "the caller left") }
            guard enrolling == nil else {
                throw DBusError(.sensorBusy, "this sensor is enrolling already")
            }
            let id = try await enroll(label, uid: uid, for: call.peer).get()
            await service.enrolments.refresh(uid)
            return id
        }
    }

    private func enroll(
        _ label: String,
        uid: UInt32,
        for peer: Peer
    ) async -> Result<String, DBusError> {
        // Far above the numbers of the engine's operations, so that the two never meet.
        let operation = (1 << 62) + service.nextID()
        return await withCheckedContinuation { answer in
            let leave = peer.onLeave { [weak self] in self?.sensor.cancel(operation: operation) }
            enrolling = Enrolling(operation: operation, peer: peer, answer: answer, leave: leave)
            sensor.enroll(operation: operation, uid: uid, label: label) { [weak self] progress in
                self?.heard(progress)
            }
        }
    }

    private func heard(_ progress: SensorProgress) {
        guard let running = enrolling else { return }
        switch progress {
        case .stage(let stage, let stages):
            tell(running.peer, "stage", ["stage": .uint32(stage), "stages": .int32(stages)])
        case .hinted(let hint): tell(running.peer, "hint", ["hint": .string(hint)])
        case .ready, .mismatched: break
        case .finished(let template): finish(running, .success(template))
        case .refused(let error): finish(running, .failure(error))
        case .ended:
            finish(running, .failure(DBusError(.sensorCanceled, "The enrolment ended early.")))
        }
    }

    private func finish(_ running: Enrolling, _ result: Result<String, DBusError>) {
        enrolling = nil
        running.leave.cancel()
        running.answer.resume(returning: result)
    }

    private func tell(_ peer: Peer, _ kind: String, _ detail: [String: Variant]) {
        Device1Signals(service.connection, path: path)
            .event(kind: kind, detail: detail, to: peer.name)
    }

    func cancelEnroll(call: IncomingCall) throws(DBusError) -> Answer<Void> {
        if let enrolling, enrolling.peer === call.peer {
            sensor.cancel(operation: enrolling.operation)
            finish(enrolling, .failure(DBusError(.sensorCanceled, "The enrolment was canceled.")))
        }
        return .now(())
    }

    func renameTemplate(
        id: String,
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let uid = try subject(of: call, options)
        let label = try Self.checked(label)
        return .later { [self] () throws(DBusError) in
            try await proxy().renameTemplate(uid: uid, id: id, label: label)
        }
    }

    func removeTemplate(
        id: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let uid = try subject(of: call, options)
        return .later { [self] () throws(DBusError) in
            try await authorize(call, options, "remove from what \(sensor.name) recognises")
            try await proxy().removeTemplate(uid: uid, id: id)
            await service.enrolments.refresh(uid)
        }
    }

    func removeAllTemplates(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<UInt32> {
        let uid = try subject(of: call, options)
        return .later { [self] () throws(DBusError) in
            try await authorize(call, options, "make \(sensor.name) forget you")
            let removed = try await proxy().removeAllTemplates(uid: uid)
            await service.enrolments.refresh(uid)
            return removed
        }
    }

    // MARK: - Who may

    /// Whose templates the call is about: the caller's own, or those that root names.
    private func subject(
        of call: IncomingCall,
        _ options: [String: Variant]
    ) throws(DBusError) -> UInt32 {
        guard let uid = try OptionReader(options).value("uid", \.asUInt32) else {
            return call.peer.uid
        }
        guard call.peer.uid == 0 else { throw .denied("option uid is for root") }
        guard uid != UInt32.max else { throw .invalid("there is no user \(uid)") }
        return uid
    }

    /// A passcode within the last minute, or one now.
    ///
    /// Root needs none.
    private func authorize(
        _ call: IncomingCall,
        _ options: [String: Variant],
        _ reason: String
    ) async throws(DBusError) {
        let peer = call.peer
        guard peer.uid != 0 else { return }
        let client = service.client(of: peer)
        if let path = try OptionReader(options).value("context", \.asObjectPath) {
            let context = client.contexts.values.first { $0.path == path }
            guard let context else {
                throw DBusError(.unknownObject, "no context of yours is there")
            }
            let age = service.engine.passcodeAge(of: context.id, uid: peer.uid, at: service.now)
            if let age, age <= Self.passcodeFreshness { return }
        }
        // Policy 2 without any sensor: the passcode, at once.
        var request = Request(
            id: EvaluationID(service.nextID()),
            client: client.id,
            uid: peer.uid,
            policy: .biometricsOrPasscode
        )
        request.sensors = []
        let audience = Evaluation.Audience(
            peer: peer,
            path: path,
            interface: Device1Proxy.interface,
            serial: call.serial
        )
        let text = Evaluation.Text(reason: reason)
        if case .refused(let refusal) = await service.outcome(of: request, text, audience) {
            throw DBusError(refusal)
        }
    }

    private func proxy() throws(DBusError) -> Sensor1Proxy {
        guard sensor.isUsable, let proxy = sensor.proxy else { throw unavailable }
        return proxy
    }

    private var unavailable: DBusError {
        DBusError(
            .biometryNotAvailable,
            "The sensor \(sensor.name) can't be used now (\(sensor.unavailability))."
        )
    }

    private static func checked(_ label: String) throws(DBusError) -> String {
        guard label.utf8.count <= longestLabel else {
            throw .invalid("the label is over 256 bytes")
        }
        return DisplayText.cleaned(label, limit: longestLabel)
    }

    // MARK: - Properties

    func name(for peer: Peer?) throws(DBusError) -> String { sensor.name }

    func description(for peer: Peer?) throws(DBusError) -> String { sensor.facts.description }

    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32 { sensor.facts.type.rawValue }

    func strength(for peer: Peer?) throws(DBusError) -> String { sensor.facts.strength.rawValue }

    func available(for peer: Peer?) throws(DBusError) -> Bool { sensor.isUsable }

    func unavailability(for peer: Peer?) throws(DBusError) -> String { sensor.unavailability }

    func enrollStages(for peer: Peer?) throws(DBusError) -> Int32 { sensor.facts.enrollStages }
}
