import DBus
import LocalAuthBus
import TestSupport
import Testing

@testable import SensorKit

/// Tests of operation numbers that several callers use.
@Suite(.timeLimit(.minutes(10)))
struct OperationSlotTests {
    init() { EventLoop.shared.startThread() }

    @Test("An early Cancel ends only its own caller's operation of that number")
    func earlyCancels() async throws {
        try await PrivateBus.run { bus in
            let connection = try bus.connect()
            let other = try await connection.peer(named: try bus.connect().uniqueName)
            let caller = try await connection.peer(named: try bus.connect().uniqueName)
            let slot = OperationSlot(connection: connection, faultLog: FaultLog { _ in })
            let run = { (number: UInt64) async throws(DBusError) -> String in
                try await slot.run(number, user: 1, caller: caller) {
                    _ async throws(SensorFault) in "match"
                }
            }
            slot.cancelEarly(7, caller: other)
            slot.cancelEarly(9, caller: caller)
            #expect(try await run(7) == "match")
            await #expect(throws: SensorFault.canceled.error) { _ = try await run(9) }
        }
    }
}
