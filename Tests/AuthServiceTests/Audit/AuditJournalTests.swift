import AuthEngine
import DBus
import Foundation
import TestSupport
import Testing

@testable import AuthService

@Suite("Protocol of the journal")
struct AuditJournalTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/journal" }

    init() throws {
        folder = try TemporaryFolder()
        // Some tests run on the loop, which must have started before.
        EventLoop.shared.startThread()
    }

    @Test("A value can contain any bytes, because its length is explicit")
    func values() {
        let values = ["", "=", "\n", "a\nMESSAGE_ID=b\n", "ü\u{0}\u{FFFF}", "MESSAGE\n\u{8}\u{0}"]
        for value in values {
            let packet = AuditJournal.packet([("FIRST", value), ("MESSAGE_ID", "1")])
            #expect(PrivateJournal.fields(of: packet) == ["FIRST": value, "MESSAGE_ID": "1"])
        }
        let bytes = Array("A\n\u{2}\0\0\0\0\0\0\0bc\n".utf8)
        #expect(AuditJournal.packet([("A", "bc")]) == bytes)
    }

    @Test("Without a journal, sending fails without waiting", arguments: [true, false])
    func absent(isTooLong: Bool) {
        let path = isTooLong ? String(repeating: "x", count: 108) : path
        let journal = AuditJournal(path: path)
        #expect(!journal.isThere)
        #expect(!journal.send([("MESSAGE", "text")]))
    }

    @Test("L15: a full journal blocks no call, and a journal that starts later gets records")
    @BusActor
    func full() throws {
        let journal = AuditJournal(path: path)
        #expect(!journal.send([("MESSAGE", "text")]))
        let reader = try PrivateJournal(path: path)
        defer { reader.end() }
        #expect(journal.isThere)
        let long = String(repeating: "x", count: 4096)
        var sent = 0
        while sent < 100_000, journal.send([("MESSAGE", long)]) { sent += 1 }
        #expect(sent > 0 && sent < 100_000)
        #expect(reader.next().map(PrivateJournal.fields(of:)) == ["MESSAGE": long])
        #expect(journal.send([("MESSAGE", "again")]))
    }

    @Test("L15: a flood is summarized in one record when its window ends")
    @BusActor
    func windowEnds() async throws {
        let reader = try PrivateJournal(path: path)
        defer { reader.end() }
        reader.listen()
        let clock = ManualClock()
        let limit = AuditLimit(window: .milliseconds(100))
        let audit = AuditTrail(path: path, limit: limit) { clock.now }
        for _ in 0..<30 { audit.write(AuditRecord(.passcodeRequired, uid: 1)) }
        clock.now = clock.now + .milliseconds(100)
        let summary = try await reader.record("repeated")
        #expect(summary["LOCALAUTH_COUNT"] == "20")
        #expect(summary["LOCALAUTH_UID"] == "1")
        let written = reader.records.seen.count { $0["LOCALAUTH_EVENT"] == "passcode-required" }
        #expect(written == 10)
        withExtendedLifetime(audit) {}
    }

    /// A manual clock, so that the number of records in a window does not depend on the machine's
    /// speed.
    @BusActor
    private final class ManualClock {
        var now = Instant(nanoseconds: 0)
    }
}
