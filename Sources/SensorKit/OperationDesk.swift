import DBus
import LocalAuthBus

/// At most one operation at a time, and the Cancel calls that arrived before their operation.
@BusActor final class OperationDesk {
    private static let rememberedCancels = 16

    private let connection: Connection
    private let notes: FaultNotes
    private var current: SensorOperation?
    private var isClosed = false
    private var early: [UInt64] = []
    private var earlyCaller: String?

    init(connection: Connection, notes: FaultNotes) {
        self.connection = connection
        self.notes = notes
    }

    /// Starts an operation; the answer comes when `body` has ended.
    ///
    /// - Throws: Canceled when its Cancel has come already, Busy while another one runs.
    func start(
        _ number: UInt64,
        user: UInt32,
        caller: Peer,
        _ body:
            @escaping @BusActor @Sendable (SensorOperation) async throws(SensorFault) -> String
    ) throws(DBusError) -> Answer<String> {
        if earlyCaller == caller.name, early.contains(number) { throw SensorFault.canceled.error }
        guard isIdle, !isClosed else { throw SensorFault.busy.error }
        let operation = SensorOperation(
            number: number,
            user: user,
            caller: caller,
            connection: connection
        )
        current = operation
        // Not the answer's own task: the operation ends when the driver ends it, even if the caller
        // has gone.
        let task = onLoop { [weak self, notes] in
            operation.result = await Self.result(of: operation, notes, body)
            if self?.current === operation { self?.current = nil }
        }
        operation.onCancel { task.cancel() }
        let leaving = caller.onLeave { operation.cancel() }
        return .later { () async throws(DBusError) -> String in
            await task.value
            leaving.cancel()
            return try operation.answer()
        }
    }

    func cancel(_ number: UInt64, caller: Peer) {
        if let current, current.number == number, current.caller === caller {
            current.cancel()
            return
        }
        // Operation numbers are unique only within one caller.
        if earlyCaller != caller.name { early = [] }
        earlyCaller = caller.name
        early.append(number)
        if early.count > Self.rememberedCancels { early.removeFirst() }
    }

    /// Whether no operation runs, also none that nobody waits for any more.
    var isIdle: Bool { current == nil }

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
