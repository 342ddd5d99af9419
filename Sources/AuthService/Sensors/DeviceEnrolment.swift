import AuthEngine
import DBus
import LocalAuthBus

/// The options of Device1's methods, checked.
struct DeviceOptions {
    /// Whose templates the call is about: the caller's own, or those that root names.
    let uid: UInt32
    /// A context that may have been given a passcode.
    let context: ObjectPath?
    let timeout: Duration

    /// - Throws: InvalidArgs, AccessDenied.
    @BusActor
    init(_ options: [String: Variant], of peer: Peer) throws(DBusError) {
        let reader = OptionReader(options)
        let named = try reader.value("uid", \.asUInt32)
        guard named == nil || peer.uid == 0 else { throw .denied("option uid is for root") }
        guard named != UInt32.max else { throw .invalid("there is no such user") }
        uid = named ?? peer.uid
        context = try reader.value("context", \.asObjectPath)
        timeout = try EvaluateOptions(options.filter { $0.key == "timeout" }).timeout
    }
}

/// The passcode that comes before templates change.
@BusActor
final class Authorization {
    /// How long a passcode given earlier counts.
    static let freshness = Duration.seconds(60)

    let options: DeviceOptions
    /// No client sees this context; it is there to end the prompt.
    private let context: ContextID
    /// An enrolment counts among the calls of its connection, but not twice.
    private let isEnrolment: Bool
    private var isOver = false
    private let service: AuthService

    init(options: DeviceOptions, isEnrolment: Bool = false, service: AuthService) {
        self.options = options
        self.isEnrolment = isEnrolment
        self.service = service
        context = ContextID(service.nextID())
    }

    /// Returns when a passcode was given within the last minute; asks for one if it must.
    ///
    /// Root needs none.
    ///
    /// - Throws: UnknownObject for another's context, and how the prompt ended.
    func ask(_ reason: String, _ audience: Evaluation.Audience) async throws(DBusError) {
        let peer = audience.peer
        guard !isOver else { throw DBusError(.appCancel, "The call was canceled.") }
        guard peer.uid != 0 else { return }
        let client = service.client(of: peer)
        if let path = options.context {
            let lent = client.contexts.values.first { $0.path == path }
            guard let lent else {
                throw DBusError(.unknownObject, "no context of yours is there")
            }
            let age = service.engine.passcodeAge(of: lent.id, uid: peer.uid, at: service.now)
            if let age, age <= Self.freshness { return }
        }
        // Policy 2 without any sensor: the passcode, at once.
        var request = Request(
            id: EvaluationID(service.nextID()),
            client: client.id,
            context: context,
            uid: peer.uid,
            policy: .biometricsOrPasscode
        )
        request.sensors = []
        request.timeout = options.timeout
        client.preparing -= isEnrolment ? 1 : 0
        let outcome = await service.outcome(
            of: request,
            Evaluation.Text(reason: reason),
            audience
        )
        client.preparing += isEnrolment ? 1 : 0
        service.handle(.released(context))
        if case .refused(let refusal) = outcome { throw DBusError(refusal) }
    }

    /// Takes the prompt down; the answer is then AppCancel.
    func end() {
        isOver = true
        service.handle(.released(context))
    }
}

/// One Enroll call, from its arrival to its answer.
@BusActor
final class DeviceEnrolment {
    let client: Client
    let authorization: Authorization
    private let sensor: SensorLink
    private let service: AuthService
    private var sources: [EventSource] = []
    private var operation: UInt64?
    private var answer: CheckedContinuation<Result<String, DBusError>, Never>?
    /// Why it was ended from outside; nil: it was not.
    private(set) var failure: DBusError?

    init(client: Client, options: DeviceOptions, sensor: SensorLink, service: AuthService) {
        self.client = client
        self.sensor = sensor
        self.service = service
        authorization = Authorization(options: options, isEnrolment: true, service: service)
        sources = [
            client.peer.onLeave { [weak self] in
                self?.end(DBusError(.appCancel, "The caller left."))
            },
            EventLoop.shared.schedule(after: options.timeout) { [weak self] in
                self?.end(DBusError(.systemCancel, "The time for this enrolment is over."))
            },
        ]
        client.preparing += 1
    }

    /// Whether the sensor is at it.
    var isRunning: Bool { operation != nil }

    /// Has the sensor enrol.
    ///
    /// - Throws: AppCancel, SystemCancel, or an error of Sensor1.
    func run(
        _ label: String,
        tell: @escaping @BusActor (_ kind: String, _ detail: [String: Variant]) -> Void
    ) async throws(DBusError) -> String {
        if let failure { throw failure }
        // Far above the numbers of the engine's operations, so that the two never meet.
        let number = (1 << 62) + service.nextID()
        operation = number
        let uid = authorization.options.uid
        let result = await withCheckedContinuation { answer in
            self.answer = answer
            sensor.enroll(operation: number, uid: uid, label: label) { [weak self] progress in
                self?.heard(progress, tell)
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
        sensor.cancel(operation: operation)
        finish(.failure(error))
    }

    /// It is over, one way or another.
    func close() {
        for source in sources { source.cancel() }
        sources = []
        client.preparing -= 1
    }

    private func heard(
        _ progress: SensorProgress,
        _ tell: @BusActor (_ kind: String, _ detail: [String: Variant]) -> Void
    ) {
        guard answer != nil else { return }
        switch progress {
        case .stage(let stage, let stages):
            tell("stage", ["stage": .uint32(stage), "stages": .int32(stages)])
        case .hinted(let hint): tell("hint", ["hint": .string(hint)])
        case .ready, .mismatched: break
        case .finished(let template): finish(.success(template))
        case .refused(let error): finish(.failure(error))
        case .ended: finish(.failure(SensorLink.cleaned(DBusError(.sensorDisconnected, ""))))
        }
    }

    private func finish(_ result: Result<String, DBusError>) {
        answer?.resume(returning: result)
        answer = nil
    }
}
