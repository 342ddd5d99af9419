import DBus
import Testing

@testable import SensorKit

/// What of a sensor's faults is told, and for how long.
@Suite(.timeLimit(.minutes(10)))
struct FaultNotesTests {
    init() { EventLoop.shared.startThread() }

    @Test("Every operation's sentence is told; a list's only when it is another one")
    @BusActor func told() {
        var lines: [String] = []
        let notes = FaultNotes { lines.append($0) }
        for _ in 0..<2 { notes.failed(.failed("operation"), .operation) }
        for _ in 0..<2 { notes.failed(.inUse("list"), .list) }
        #expect(lines == ["operation", "operation", "list"])
        notes.worked(.list)
        notes.failed(.inUse("list"), .list)
        #expect(lines.count == 4)
    }

    @Test("Faults that the contract words are no notes")
    @BusActor func silent() {
        var lines: [String] = []
        let notes = FaultNotes { lines.append($0) }
        let faults: [SensorFault] = [
            .canceled, .busy, .noTemplates, .full, .duplicate, .disconnected,
        ]
        for fault in faults { notes.failed(fault, .operation) }
        #expect(lines.isEmpty)
        #expect(notes.last == nil)
    }

    @Test("A list that works takes back a list's fault alone, an operation takes back both")
    @BusActor func takenBack() {
        let notes = FaultNotes { _ in }
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
