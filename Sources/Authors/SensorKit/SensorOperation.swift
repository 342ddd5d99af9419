public import DBus
import LocalAuthBus

/// A running Verify or Enroll, through which the driver reports events to the daemon.
@BusActor public final class SensorOperation {
    /// The user to verify or enrol.
    public nonisolated let user: UInt32
    /// The calling daemon.
    public nonisolated let caller: Peer
    /// Whether the driver may update a template from a match that the password confirms.
    nonisolated let mayUpdateTemplate: Bool
    /// Whether the operation was canceled; its later reports are dropped.
    public private(set) var isCanceled = false

    /// Whether the sensor has started to look.
    private(set) var isReady = false
    /// The program that holds the device, or empty if unknown; nil if no other program holds it.
    private(set) var holder: String?

    let number: UInt64
    var result: Result<String, DBusError>?
    /// The update for the template after a confirmed match.
    private var templateUpdate: UnconfirmedMatch.TemplateUpdate?
    private let signals: Sensor1Signals
    private let host: SensorHost1Proxy
    private var cancelations: [@BusActor () -> Void] = []
    /// The number of misses so far.
    private var attempts: UInt32 = 0
    /// The call that reports the last miss.
    private var telling: Task<Void, Never>?
    private let changes = ConditionVariable()

    /// The time that the daemon has to answer, or to cancel after the last attempt.
    private static let patience = Duration.seconds(5)
    /// The pause before a failed report is retried.
    private static let pauseAfterError = Duration.milliseconds(250)

    init(
        number: UInt64,
        user: UInt32,
        mayUpdateTemplate: Bool,
        caller: Peer,
        connection: Connection
    ) {
        self.mayUpdateTemplate = mayUpdateTemplate
        self.number = number
        self.user = user
        self.caller = caller
        signals = Sensor1Signals(connection, path: Sensor1.path)
        host = SensorHost1Proxy(connection, destination: caller.name, path: SensorHost1.path)
    }

    /// Calls `body` once when the operation is canceled, or at once if it is canceled already.
    ///
    /// The driver's task is canceled as well; use this for waits that task cancellation does not
    /// end.
    public func onCancel(_ body: @escaping @BusActor () -> Void) {
        if isCanceled { body() } else { cancelations.append(body) }
    }

    /// Reports that the sensor has started to look.
    public func ready() {
        isReady = true
        holder = nil
        tell(.ready, [:])
    }

    /// Reports that another program holds the device; the driver waits for it, then calls
    /// ``ready()``.
    ///
    /// The driver may call this on every retry: only changes are sent.
    ///
    /// - Parameter program: The program's name, if known.
    public func busy(by program: String = "") {
        guard holder != program else { return }
        holder = program
        tell(.busy, ["by": .string(program)])
    }

    /// Sends a hint to the user.
    public func hint(_ hint: SensorHint) { tell(.hint, ["hint": .string(hint.rawValue)]) }

    /// Reports a miss of Verify; returns once the daemon has counted it and allows another attempt.
    ///
    /// The driver must not look before this returns. Because a signal may be lost, the report is a
    /// call, retried until answered. Fingers and faces presented meanwhile do not count.
    ///
    /// - Throws: ``SensorFault/canceled`` without attempts left, or after Cancel.
    public func noMatch() async throws(SensorFault) {
        attempts += 1
        while !isCanceled {
            guard let left = await tellNoMatch() else {
                _ = await changes.wait(atMost: Self.pauseAfterError) { self.isCanceled }
                continue
            }
            if left > 0, !isCanceled { return }
            // The daemon sends Cancel next.
            _ = await changes.wait(atMost: Self.patience) { self.isCanceled }
            break
        }
        throw .canceled
    }

    /// The number of attempts left; nil without an answer.
    private func tellNoMatch() async -> UInt32? {
        let (number, attempt, host) = (number, attempts, host)
        var left: UInt32?
        let call = onLoop {
            left = try? await host.noMatch(
                operation: number,
                attempt: attempt,
                timeout: Self.patience
            )
        }
        telling = call
        await call.value
        telling = nil
        return left
    }

    /// Registers an update that runs if the password confirms this Verify's match.
    ///
    /// `learn` adds the new data to the matching template, and returns whether it did. The
    /// operation releases `learn` 30 s after the match or at the next operation. If the daemon does
    /// not allow updates, `learn` is released at once.
    public func whenConfirmed(
        _ learn: @escaping @BusActor @Sendable () async throws(SensorFault) -> Bool
    ) {
        if mayUpdateTemplate { templateUpdate = learn }
    }

    /// Takes the update out of the operation, because the closure may retain the operation.
    func takeTemplateUpdate() -> UnconfirmedMatch.TemplateUpdate? {
        let taken = templateUpdate
        templateUpdate = nil
        return taken
    }

    /// Reports the number of finished enrolment stages; `total` is -1 if unknown.
    public func stage(_ done: UInt32, of total: Int32) {
        tell(.stage, ["stage": .uint32(done), "stages": .int32(total)])
    }

    func cancel() {
        guard !isCanceled else { return }
        isCanceled = true
        telling?.cancel()
        changes.notifyAll()
        let bodies = cancelations
        cancelations = []
        for body in bodies { body() }
    }

    /// The reply to the caller: always `Canceled` after Cancel.
    func answer() throws(DBusError) -> String {
        guard !isCanceled, let result else { throw SensorFault.canceled.error }
        return try result.get()
    }

    private func tell(_ kind: SensorEventKind, _ detail: [String: Variant]) {
        guard !isCanceled else { return }
        signals.event(operation: number, kind: kind.rawValue, detail: detail, to: caller.name)
    }
}
