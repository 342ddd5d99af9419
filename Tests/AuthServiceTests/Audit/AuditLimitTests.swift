import AuthEngine
import Testing

@testable import AuthService

@Suite("Limit of audit records")
struct AuditLimitTests {
    private func moment(_ seconds: Int64) -> Instant {
        Instant(nanoseconds: seconds * 1_000_000_000)
    }

    @Test("L15: ten records of a kind and user in 30 s are written, others are summarized")
    func flood() {
        var limit = AuditLimit()
        var written = 0
        for _ in 0..<1000 where limit.admits(.evaluationEnded, uid: 1000, at: moment(5)) {
            written += 1
        }
        #expect(written == 10)
        #expect(limit.nextEnd == moment(35))
        #expect(limit.due(at: moment(34)).isEmpty)
        let key = AuditLimit.Key(kind: .evaluationEnded, uid: 1000)
        #expect(limit.due(at: moment(35)) == [.init(key: key, count: 990)])
        #expect(limit.due(at: moment(35)).isEmpty)
        #expect(limit.nextEnd == nil)
        let isWrittenAgain = limit.admits(.evaluationEnded, uid: 1000, at: moment(35))
        #expect(isWrittenAgain)
    }

    @Test("L15: a flood of one user or kind hides no record of another")
    func others() {
        var limit = AuditLimit()
        for _ in 0..<1000 { _ = limit.admits(.evaluationEnded, uid: 1000, at: moment(0)) }
        for kind in AuditKind.allCases where kind != .evaluationEnded {
            let isWritten = limit.admits(kind, uid: 1000, at: moment(0))
            #expect(isWritten)
        }
        for uid: UInt32? in [nil, 0, 1001] {
            let isWritten = limit.admits(.evaluationEnded, uid: uid, at: moment(0))
            #expect(isWritten)
        }
    }

    @Test("Records below the limit leave no summary")
    func quiet() {
        var limit = AuditLimit()
        for _ in 0..<10 { _ = limit.admits(.agentLeft, uid: 1, at: moment(0)) }
        #expect(limit.rest().isEmpty)
        #expect(limit == AuditLimit())
    }

    @Test("L15: no sequence of records loses a record or exceeds the limit")
    func exhaustive() {
        // At each step, one of three users causes a record, or half a window passes. Either each
        // user has a window, or the third user shares a window. A user who gets a window later has
        // written in both.
        let choices = 4
        let length = 8
        for (number, most) in (0..<(1 << (2 * length))).flatMap({ [($0, 2), ($0, 3)] }) {
            var limit = AuditLimit(burst: 2, window: .seconds(2), most: most)
            var now: Int64 = 0
            var offered = 0
            var told = 0
            var windows: [UInt32: (start: Int64, count: Int)] = [:]
            for step in 0..<length {
                let choice = number >> (2 * step) & (choices - 1)
                if choice == 3 {
                    now += 1
                    told += limit.due(at: moment(now)).reduce(0) { $0 + $1.count }
                    continue
                }
                offered += 1
                let uid = UInt32(choice)
                guard limit.admits(.evaluationEnded, uid: uid, at: moment(now)) else { continue }
                told += 1
                var window = windows[uid] ?? (now, 0)
                if now - window.start >= 2 { window = (now, 0) }
                window.count += 1
                windows[uid] = window
                if window.count > (most == 3 ? 2 : 4) {
                    Issue.record("\(number): \(window.count) in a window")
                }
            }
            told += limit.rest().reduce(0) { $0 + $1.count }
            if told != offered { Issue.record("\(number): \(told) of \(offered)") }
            if limit.nextEnd != nil { Issue.record("\(number): a window is left") }
        }
    }

    @Test("L16: memory is bounded for any number of users, and every record counts")
    func manyUsers() {
        var limit = AuditLimit(most: 8)
        var written = 0
        for uid in 0..<10_000 as Range<UInt32>
        where limit.admits(.evaluationEnded, uid: uid, at: moment(0)) {
            written += 1
        }
        #expect(written == 18)
        let key = AuditLimit.Key(kind: .evaluationEnded, uid: nil)
        #expect(limit.rest() == [.init(key: key, count: 10_000 - 18)])
    }
}
