import AuthEngine
import DBus
import LocalAuthBus

/// An Enroll call, from its arrival to its reply.
@BusActor
final class DeviceEnrolment {
    let client: Client
    let authorization: Authorization
    private let sensor: SensorLink
    private var sources: [EventSource] = []
    private var operation: UInt64?
    /// The session that the caller must stay in; nil before the look-up, or if any session is
    /// allowed.
    private var session: String?
    private var answer: CheckedContinuation<Result<String, DBusError>, Never>?
    /// The error that ended the enrolment from outside, if any.
    private(set) var failure: DBusError?

    init(client: Client, authorization: Authorization, sensor: SensorLink) {
        self.client = client
        self.sensor = sensor
        self.authorization = authorization
        sources = [
            client.peer.onLeave { [weak self] in
                self?.end(DBusError(.appCancel, "The caller left."))
            },
            EventLoop.shared.schedule(after: authorization.options.timeout) { [weak self] in
                self?.end(DBusError(.systemCancel, "The time for this enrolment is over."))
            },
        ]
    }

    var isRunning: Bool { operation != nil }

    /// Determines the caller's session: users who enrol themselves must sit at the machine (L2).
    ///
    /// Root, and administrators that polkit lets enrol another user, may be in any session.
    ///
    /// - Throws: BiometryNotAvailable, NotInteractive, SystemCancel, or the error that ended the
    ///   enrolment meanwhile.
    func findSession(_ evaluations: Evaluations) async throws(DBusError) {
        let peer = client.peer
        guard peer.uid != 0, !authorization.options.isForOther else { return }
        let facts = await evaluations.facts.findPlace(of: peer, isDecision: true)
        if let failure { throw failure }
        if let refusal = evaluations.engine.enrolmentRefusal(of: peer.uid, facts) {
            throw DBusError(refusal)
        }
        session = facts.session
    }

    /// Ends the enrolment if it belongs to the session; nil means every session.
    func interrupted(_ session: String?, _ refusal: Refusal) {
        if session == nil || session == self.session { end(DBusError(refusal)) }
    }

    /// Checks that the caller stayed in its session to the end, even if a signal was lost (L4).
    ///
    /// - Throws: Why the new template must not stay.
    func checkSession(_ facts: FactFinder) async throws(DBusError) {
        guard session != nil else { return }
        if await !facts.revalidate(client.peer.uid).hasMissedNoLock {
            end(DBusError(.systemCancel, Absence.unknown.refusal.message))
        }
        if let failure { throw failure }
    }

    /// Starts the enrolment on the sensor and waits for the new template's id.
    ///
    /// - Throws: AppCancel, SystemCancel, or an error of Sensor1.
    func enroll(
        _ label: String,
        tell: @escaping @BusActor (_ kind: SensorEventKind, _ detail: [String: Variant]) -> Void
    ) async throws(DBusError) -> String {
        if let failure { throw failure }
        let uid = authorization.options.uid
        let result = await withCheckedContinuation { answer in
            self.answer = answer
            operation = sensor.operations.enroll(uid: uid, label: label) { [weak self] progress in
                self?.received(progress, tell)
            }
        }
        operation = nil
        return try result.get()
    }

    /// Closes the prompt, cancels the sensor's operation, and lets Enroll fail with this error.
    func end(_ error: DBusError) {
        guard failure == nil else { return }
        failure = error
        authorization.end()
        guard let operation else { return }
        sensor.operations.cancel(operation: operation)
        finish(.failure(error))
    }

    /// Cancels the timeout and stops watching the caller, after success or failure.
    func close() {
        for source in sources { source.cancel() }
        sources = []
    }

    private func received(
        _ progress: SensorProgress,
        _ tell: @BusActor (_ kind: SensorEventKind, _ detail: [String: Variant]) -> Void
    ) {
        guard answer != nil else { return }
        switch progress {
        case .stage(let stage, let stages):
            tell(.stage, ["stage": .uint32(stage), "stages": .int32(stages)])
        case .hinted(let hint): tell(.hint, ["hint": .string(hint)])
        case .busy(let program):
            tell(.busy, ["by": .string(program)])
        case .ready: tell(.ready, [:])
        case .finished(let template): finish(.success(template))
        case .refused(let error): finish(.failure(error))
        case .ended, .templateRemoved: finish(.failure(DBusError(sensor: .sensorDisconnected)))
        }
    }

    private func finish(_ result: Result<String, DBusError>) {
        answer?.resume(returning: result)
        answer = nil
    }
}
