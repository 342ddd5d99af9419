import DBus
import LocalAuthBus

/// Allows at most one operation at a time, and records Cancel calls that arrive before their
/// operation.
@BusActor final class OperationSlot {
    private static let rememberedCancels = 16
    /// The interval at which the slot checks that the operation's caller is still on the bus.
    private static let interval = Duration.seconds(3)

    private let connection: Connection
    private let faultLog: FaultLog
    private var current: SensorOperation?
    private var isClosed = false
    private let kept = UnconfirmedMatch()
    /// The task of the current operation.
    private var task: Task<Void, Never>?
    private var watch: EventSource?
    private var early: [UInt64] = []
    private var earlyCaller: String?

    init(connection: Connection, faultLog: FaultLog) {
        self.connection = connection
        self.faultLog = faultLog
    }

    /// Runs an operation to its end.
    ///
    /// - Throws: Canceled if Cancel arrived first, Busy while another operation runs.
    func run(
        _ number: UInt64,
        user: UInt32,
        mayUpdateTemplate: Bool = false,
        caller: Peer,
        _ body:
            @escaping @BusActor @Sendable (SensorOperation) async throws(SensorFault) -> String
    ) async throws(DBusError) -> String {
        // A former daemon's operation is orphaned if its caller has left the bus.
        if let current, current.caller !== caller { await endIfLeft(current) }
        guard isIdle, !isClosed else { throw SensorFault.busy.error }
        if earlyCaller == caller.name, early.contains(number) { throw SensorFault.canceled.error }
        let operation = SensorOperation(
            number: number,
            user: user,
            mayUpdateTemplate: mayUpdateTemplate,
            caller: caller,
            connection: connection
        )
        kept.drop()
        current = operation
        // Use a separate task: the operation lasts until the driver ends it, even if the caller has
        // gone.
        let task = onLoop { [weak self, faultLog] in
            operation.result = await Self.result(of: operation, faultLog, body)
            if self?.current === operation { self?.current = nil }
        }
        self.task = task
        operation.onCancel { task.cancel() }
        let leaving = caller.onLeave { operation.cancel() }
        watchCaller()
        await task.value
        leaving.cancel()
        let update = operation.takeTemplateUpdate()
        let template = try operation.answer()
        if let update { kept.keep(update, of: number, for: caller) }
        return template
    }

    /// Returns the update of the caller's match that a password has confirmed; nil if there is no
    /// update or it has expired.
    func templateUpdate(of number: UInt64, caller: Peer) -> UnconfirmedMatch.TemplateUpdate? {
        isIdle ? kept.take(number, for: caller) : nil
    }

    /// Polls the bus, because the signal that a caller left may be lost, and its operation would
    /// run on.
    private func watchCaller() {
        guard watch == nil, current != nil else { return }
        watch = EventLoop.shared.schedule(after: Self.interval) { [weak self] in
            guard let self else { return }
            watch = nil
            guard current != nil else { return }
            onLoop {
                await self.connection.refreshNames()
                self.watchCaller()
            }
        }
    }

    private func endIfLeft(_ operation: SensorOperation) async {
        await connection.refreshNames()
        if operation.isCanceled, current === operation { await task?.value }
    }

    /// Cancels the running operation; returns false unless this caller started it under this
    /// number.
    func cancel(_ number: UInt64, caller: Peer) -> Bool {
        guard let current, current.number == number, current.caller === caller else { return false }
        current.cancel()
        return true
    }

    /// Records a Cancel for an operation that has not started yet.
    func cancelEarly(_ number: UInt64, caller: Peer) {
        guard !cancel(number, caller: caller) else { return }
        // Operation numbers are unique only within one caller.
        if earlyCaller != caller.name { early = [] }
        earlyCaller = caller.name
        early.append(number)
        if early.count > Self.rememberedCancels { early.removeFirst() }
    }

    /// Whether no operation runs, orphaned operations included.
    var isIdle: Bool { current == nil }

    /// The program that holds the device; nil if the operation does not wait for the device.
    var holder: String? { current?.holder }

    /// Refuses all new operations.
    func close() { isClosed = true }

    func cancelCurrent() { current?.cancel() }

    private static func result(
        of operation: SensorOperation,
        _ faultLog: FaultLog,
        _ body: @BusActor @Sendable (SensorOperation) async throws(SensorFault) -> String
    ) async -> Result<String, DBusError> {
        do throws(SensorFault) {
            let id = try await body(operation)
            faultLog.worked(.operation)
            return .success(id)
        } catch {
            if !operation.isCanceled { faultLog.failed(error, .operation) }
            // The sensor has looked, so it works.
            if operation.isReady, error.sentence == nil { faultLog.worked(.operation) }
            return .failure(error.error)
        }
    }
}
