public import DBus
import LocalAuthBus

/// One running Verify or Enroll: who asked, and what the sensor reports to them meanwhile.
@BusActor public final class SensorOperation {
    /// The user whose templates are meant.
    public nonisolated let user: UInt32
    /// Who asked: the daemon.
    public nonisolated let caller: Peer
    /// Whether a match may be learned from, if the passcode confirms it.
    nonisolated let mayLearn: Bool
    /// Whether the operation was canceled; then nothing that it says is passed on.
    public private(set) var isCanceled = false

    /// Whether the sensor has looked.
    private(set) var isReady = false
    /// The program that has the device, empty where nobody knows which; nil: it is ours.
    private(set) var holder: String?

    let number: UInt64
    var result: Result<String, DBusError>?
    /// How to learn from the match.
    private var lesson: KeptMatch.Lesson?
    private let signals: Sensor1Signals
    private let host: SensorHost1Proxy
    private var cancelations: [@BusActor () -> Void] = []
    /// How many failed attempts there were.
    private var attempts: UInt32 = 0
    /// The call that tells of the last one.
    private var telling: Task<Void, Never>?
    private let changes = ConditionVariable()

    /// How long the daemon may take to answer, or to cancel what it has no attempts for.
    private static let patience = Duration.seconds(5)
    /// How long after an error it is called again.
    private static let pauseAfterError = Duration.milliseconds(250)

    init(
        number: UInt64,
        user: UInt32,
        mayLearn: Bool,
        caller: Peer,
        connection: Connection
    ) {
        self.mayLearn = mayLearn
        self.number = number
        self.user = user
        self.caller = caller
        signals = Sensor1Signals(connection, path: Sensor1.path)
        host = SensorHost1Proxy(connection, destination: caller.name, path: SensorHost1.path)
    }

    /// Calls `body` once when the operation is canceled, or at once if it already was.
    ///
    /// The driver's task is canceled as well; this is for drivers that wait for something else.
    public func onCancel(_ body: @escaping @BusActor () -> Void) {
        if isCanceled { body() } else { cancelations.append(body) }
    }

    /// The sensor looks now.
    public func ready() {
        isReady = true
        holder = nil
        tell(.ready, [:])
    }

    /// Another program has the device; the driver waits until it is free, and then is ``ready()``.
    ///
    /// May be called as often as the driver tries: only what is new is told.
    ///
    /// - Parameter program: Which program that is, as far as the driver can say.
    public func busy(by program: String = "") {
        guard holder != program else { return }
        holder = program
        tell(.busy, ["by": .string(program)])
    }

    /// Something to tell people.
    public func hint(_ hint: SensorHint) { tell(.hint, ["hint": .string(hint.rawValue)]) }

    /// One failed attempt of Verify; returns when the daemon has counted it and there is another.
    ///
    /// The driver looks at nothing before this returns: a signal could get lost, so the attempt is
    /// told by a call, again and again until it is answered. What comes meanwhile is no attempt.
    ///
    /// - Throws: ``SensorFault/canceled`` when there is no attempt left, or Cancel came.
    public func noMatch() async throws(SensorFault) {
        attempts += 1
        while !isCanceled {
            guard let left = await tellNoMatch() else {
                _ = await changes.wait(atMost: Self.pauseAfterError) { self.isCanceled }
                continue
            }
            if left > 0, !isCanceled { return }
            // Cancel follows.
            _ = await changes.wait(atMost: Self.patience) { self.isCanceled }
            break
        }
        throw .canceled
    }

    /// The attempts that are left; nil: no answer.
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

    /// Calls `learn` if the person's passcode confirms the match of this Verify; it adds what was
    /// seen to the template that matched, and answers whether it did.
    ///
    /// What it holds is let go of 30 s after the match, and as soon as another operation begins.
    /// It is let go of at once where the daemon didn't say that it may be learned from.
    public func whenConfirmed(
        _ learn: @escaping @BusActor @Sendable () async throws(SensorFault) -> Bool
    ) {
        if mayLearn { lesson = learn }
    }

    /// Hands out how to learn from the match, and lets go of it: it may hold this operation.
    func takeLesson() -> KeptMatch.Lesson? {
        let taken = lesson
        lesson = nil
        return taken
    }

    /// The number of enrolment stages that are done; `total` -1: unknown.
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

    /// What the caller is answered: after Cancel only `Canceled`.
    func answer() throws(DBusError) -> String {
        guard !isCanceled, let result else { throw SensorFault.canceled.error }
        return try result.get()
    }

    private func tell(_ kind: SensorEventKind, _ detail: [String: Variant]) {
        guard !isCanceled else { return }
        signals.event(operation: number, kind: kind.rawValue, detail: detail, to: caller.name)
    }
}
