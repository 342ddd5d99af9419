import AuthEngine
import DBus
import LocalAuthBus

/// One Enroll call, from its arrival to its answer.
@BusActor
final class DeviceEnrolment {
    let client: Client
    let authorization: Authorization
    private let sensor: SensorLink
    private var sources: [EventSource] = []
    private var operation: UInt64?
    /// The session that the caller has to stay in; nil: it isn't known yet, or it may be anywhere.
    private var session: String?
    private var answer: CheckedContinuation<Result<String, DBusError>, Never>?
    /// Why it was ended from outside; nil: it was not.
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

    /// Whether the sensor is at it.
    var isRunning: Bool { operation != nil }

    /// Finds out where the caller sits: whoever enrols itself sits at the machine (L2).
    ///
    /// Root, and whom polkit lets enrol somebody else, may be anywhere.
    ///
    /// - Throws: BiometryNotAvailable, NotInteractive, SystemCancel, or why it was ended meanwhile.
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

    /// What ends a session's prompts ends its enrolments; nil: those of every session.
    func interrupted(_ session: String?, _ refusal: Refusal) {
        if session == nil || session == self.session { end(DBusError(refusal)) }
    }

    /// Makes sure that the caller was there to the end, also by what nobody told of (L4).
    ///
    /// - Throws: Why a template that was made meanwhile is not to stay.
    func checkSession(_ facts: FactFinder) async throws(DBusError) {
        guard session != nil else { return }
        if await !facts.revalidate(client.peer.uid).isPlaceKnown {
            end(DBusError(.systemCancel, Absence.unknown.refusal.message))
        }
        if let failure { throw failure }
    }

    /// Has the sensor enrol.
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

    /// The prompt goes, the sensor is told to stop, and Enroll is answered with this error.
    func end(_ error: DBusError) {
        guard failure == nil else { return }
        failure = error
        authorization.end()
        guard let operation else { return }
        sensor.operations.cancel(operation: operation)
        finish(.failure(error))
    }

    /// It is over, one way or another.
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
