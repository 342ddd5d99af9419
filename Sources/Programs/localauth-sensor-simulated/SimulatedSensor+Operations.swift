import DBus
import Glibc
import LocalAuthBus
import SensorKit

extension SimulatedSensor {
    func verify(_ operation: SensorOperation) async throws(SensorFault) -> String {
        guard !templates(of: operation.user).isEmpty else { throw .noTemplates }
        begin(operation)
        defer { end() }
        while true {
            switch try await nextOutcome(operation) {
            case .match(let template):
                guard let id = template ?? templates(of: operation.user).first?.id else {
                    throw .noTemplates
                }
                return id
            case .noMatch: try await operation.noMatch()
            case let other: try await perform(other, operation)
            }
        }
    }

    func enroll(
        _ operation: SensorOperation,
        label: String
    ) async throws(SensorFault) -> String {
        begin(operation)
        defer { end() }
        var done: UInt32 = 0
        while done < Self.stages {
            switch try await nextOutcome(operation) {
            case .match:
                done += 1
                operation.stage(done, of: Int32(Self.stages))
            case .noMatch: operation.hint(.liftAndRetry)
            case let other: try await perform(other, operation)
            }
        }
        return try enrolled.add(for: operation.user, label: label)
    }

    private func begin(_ operation: SensorOperation) {
        isRunning = true
        operation.onCancel { self.changes.notifyAll() }
        fault = properties.isPresent ? nil : .disconnected
        if fault == nil { operation.ready() }
    }

    private func end() {
        isRunning = false
        touches = []
        fault = nil
    }

    /// Waits for the next outcome: a touch first, then the queue.
    private func nextOutcome(_ operation: SensorOperation) async throws(SensorFault) -> Outcome {
        try await wait(operation) { !self.touches.isEmpty || !self.pending.isEmpty }
        if !touches.isEmpty { return touches.removeFirst() ? .match(nil) : .noMatch }
        defer { pendingChanged() }
        return pending.removeFirst()
    }

    private func perform(
        _ outcome: Outcome,
        _ operation: SensorOperation
    ) async throws(SensorFault) {
        switch outcome {
        case .match, .noMatch: return
        case .hint(let hint): operation.hint(hint)
        case .delay(let milliseconds):
            var isOver = false
            let timer = EventLoop.shared.schedule(after: .milliseconds(milliseconds)) {
                isOver = true
                self.changes.notifyAll()
            }
            defer { timer.cancel() }
            try await wait(operation) { isOver }
        case .hang:
            // Not even Cancel ends a hang: only the caller's exit, the loss of the sensor, or
            // Reset.
            let leaving = operation.caller.onLeave { self.changes.notifyAll() }
            defer { leaving.cancel() }
            while fault == nil, !operation.caller.hasLeft { await changes.wait() }
            throw fault ?? .canceled
        case .disconnect: throw .disconnected
        case .crash: _exit(EXIT_FAILURE)
        }
    }

    private func wait(
        _ operation: SensorOperation,
        until condition: @BusActor () -> Bool
    ) async throws(SensorFault) {
        while true {
            if operation.isCanceled { throw .canceled }
            if let fault { throw fault }
            if condition() { return }
            await changes.wait()
        }
    }
}
