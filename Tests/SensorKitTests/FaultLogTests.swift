import DBus
import Testing

@testable import SensorKit

/// Tests of which faults are logged, and how long they stay in Health.
@Suite(.timeLimit(.minutes(10)))
struct FaultLogTests {
    init() { EventLoop.shared.startThread() }

    @Test("Each operation's message is logged; a list's message only if it is new")
    @BusActor func told() {
        var lines: [String] = []
        let notes = FaultLog { lines.append($0) }
        for _ in 0..<2 { notes.failed(.failed("operation"), .operation) }
        for _ in 0..<2 { notes.failed(.inUse("list"), .list) }
        #expect(lines == ["operation", "operation", "list"])
        notes.worked(.list)
        notes.failed(.inUse("list"), .list)
        #expect(lines.count == 4)
    }

    @Test("Faults without a driver's message leave no note")
    @BusActor func silent() {
        var lines: [String] = []
        let notes = FaultLog { lines.append($0) }
        let faults: [SensorFault] = [
            .canceled, .busy, .noTemplates, .full, .duplicate, .disconnected,
        ]
        for fault in faults { notes.failed(fault, .operation) }
        #expect(lines.isEmpty)
        #expect(notes.last == nil)
    }

    @Test("A working list clears only a list's fault, an operation clears both")
    @BusActor func takenBack() {
        let notes = FaultLog { _ in }
        notes.failed(.failed("list"), .list)
        #expect(notes.last == "list")
        notes.failed(.failed("operation"), .operation)
        notes.worked(.list)
        #expect(notes.last == "operation")
        notes.failed(.failed("list"), .list)
        notes.worked(.operation)
        #expect(notes.last == nil)
    }
}
