import AuthEngine
import DBus
import LocalAuthBus

/// `org.localauth.SensorHost1`: the methods that a sensor calls during an operation.
@BusActor
final class SensorHostObject: SensorHost1Service {
    private let evaluations: Evaluations

    init(evaluations: Evaluations) {
        self.evaluations = evaluations
    }

    func noMatch(
        operation: UInt64,
        attempt: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<UInt32> {
        let id = OperationID(rawValue: operation)
        guard evaluations.runningSensors[id]?.operations.runs(operation, on: call.peer) == true
        else {
            throw .invalid("no such operation runs on this connection")
        }
        return .later { [evaluations] () throws(DBusError) in
            switch await evaluations.missed(id, attempt: attempt) {
            case .counted(let left): return UInt32(clamping: left)
            case .refused: throw .invalid("this is not the operation's next attempt")
            case .notWritten:
                throw DBusError(.failed, "The state can't be written: try again.")
            }
        }
    }
}
