public import DBus
import LocalAuthBus

/// One running Verify or Enroll: who asked, and what the sensor reports to them meanwhile.
@BusActor public final class SensorOperation {
    /// The user whose templates are meant.
    public nonisolated let user: UInt32
    /// Who asked: the daemon.
    public nonisolated let caller: Peer
    /// Whether the operation was canceled; then nothing that it says is passed on.
    public private(set) var isCanceled = false

    /// Whether the sensor has looked.
    private(set) var isReady = false

    let number: UInt64
    var result: Result<String, DBusError>?
    private let signals: Sensor1Signals
    private var cancelations: [@BusActor () -> Void] = []

    init(number: UInt64, user: UInt32, caller: Peer, signals: Sensor1Signals) {
        self.number = number
        self.user = user
        self.caller = caller
        self.signals = signals
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
        tell(.ready, [:])
    }

    /// Something to tell people.
    public func hint(_ hint: SensorHint) { tell(.hint, ["hint": .string(hint.rawValue)]) }

    /// One failed attempt of Verify.
    public func noMatch() { tell(.noMatch, [:]) }

    /// The number of enrolment stages that are done; `total` -1: unknown.
    public func stage(_ done: UInt32, of total: Int32) {
        tell(.stage, ["stage": .uint32(done), "stages": .int32(total)])
    }

    func cancel() {
        guard !isCanceled else { return }
        isCanceled = true
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
