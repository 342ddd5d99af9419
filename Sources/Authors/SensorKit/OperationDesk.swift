import DBus
import LocalAuthBus

/// At most one operation at a time, and the Cancel calls that arrived before their operation.
@BusActor final class OperationDesk {
    private static let rememberedCancels = 16
    /// How often the bus is asked whether the caller of what runs is still there.
    private static let interval = Duration.seconds(3)

    private let connection: Connection
    private let notes: FaultNotes
    private var current: SensorOperation?
    private var isClosed = false
    /// What the last match showed.
    private let kept = KeptMatch()
    /// Ends with the present operation.
    private var task: Task<Void, Never>?
    private var watch: EventSource?
    private var early: [UInt64] = []
    private var earlyCaller: String?

    init(connection: Connection, notes: FaultNotes) {
        self.connection = connection
        self.notes = notes
    }

    /// Runs an operation to its end.
    ///
    /// - Throws: Canceled when its Cancel has come already, Busy while another one runs.
    func run(
        _ number: UInt64,
        user: UInt32,
        mayLearn: Bool = false,
        caller: Peer,
        _ body:
            @escaping @BusActor @Sendable (SensorOperation) async throws(SensorFault) -> String
    ) async throws(DBusError) -> String {
        // Another daemon's operation has nobody who waits for it any more.
        if let current, current.caller !== caller { await endIfLeft(current) }
        guard isIdle, !isClosed else { throw SensorFault.busy.error }
        if earlyCaller == caller.name, early.contains(number) { throw SensorFault.canceled.error }
        let operation = SensorOperation(
            number: number,
            user: user,
            mayLearn: mayLearn,
            caller: caller,
            connection: connection
        )
        kept.drop()
        current = operation
        // Not the call's own task: the operation ends when the driver ends it, even if the caller
        // has gone.
        let task = onLoop { [weak self, notes] in
            operation.result = await Self.result(of: operation, notes, body)
            if self?.current === operation { self?.current = nil }
        }
        self.task = task
        operation.onCancel { task.cancel() }
        let leaving = caller.onLeave { operation.cancel() }
        watchCaller()
        await task.value
        leaving.cancel()
        let lesson = operation.takeLesson()
        let template = try operation.answer()
        if let lesson { kept.keep(lesson, of: number, for: caller) }
        return template
    }

    /// How to learn from a match of this caller's that its passcode has just confirmed; nil: there
    /// is nothing to learn from, or not any more.
    func lesson(of number: UInt64, caller: Peer) -> KeptMatch.Lesson? {
        isIdle ? kept.take(number, for: caller) : nil
    }

    /// The signal that a caller has left may get lost, and its operation would run on.
    private func watchCaller() {
        guard watch == nil, current != nil else { return }
        watch = EventLoop.shared.schedule(after: Self.interval) { [weak self] in
            guard let self else { return }
            watch = nil
            guard current != nil else { return }
            onLoop {
                await self.connection.catchUpWithNames()
                self.watchCaller()
            }
        }
    }

    private func endIfLeft(_ operation: SensorOperation) async {
        await connection.catchUpWithNames()
        if operation.isCanceled, current === operation { await task?.value }
    }

    /// Cancels the operation that runs; false: this is none of this caller's.
    func cancel(_ number: UInt64, caller: Peer) -> Bool {
        guard let current, current.number == number, current.caller === caller else { return false }
        current.cancel()
        return true
    }

    /// Cancels an operation that has not begun, if its number comes.
    func cancelEarly(_ number: UInt64, caller: Peer) {
        guard !cancel(number, caller: caller) else { return }
        // Operation numbers are unique only within one caller.
        if earlyCaller != caller.name { early = [] }
        earlyCaller = caller.name
        early.append(number)
        if early.count > Self.rememberedCancels { early.removeFirst() }
    }

    /// Whether no operation runs, also none that nobody waits for any more.
    var isIdle: Bool { current == nil }

    /// The program that has the device which an operation waits for; nil: none does.
    var holder: String? { current?.holder }

    /// Starts nothing from now on.
    func close() { isClosed = true }

    func cancelCurrent() { current?.cancel() }

    private static func result(
        of operation: SensorOperation,
        _ notes: FaultNotes,
        _ body: @BusActor @Sendable (SensorOperation) async throws(SensorFault) -> String
    ) async -> Result<String, DBusError> {
        do throws(SensorFault) {
            let id = try await body(operation)
            notes.worked(.operation)
            return .success(id)
        } catch {
            if !operation.isCanceled { notes.failed(error, .operation) }
            // The sensor has looked, so it works.
            if operation.isReady, error.sentence == nil { notes.worked(.operation) }
            return .failure(error.error)
        }
    }
}
