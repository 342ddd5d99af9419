import AuthEngine
import Testing

@testable import AuthService

@Suite("How long a program that failed is left alone")
struct BackOffTests {
    private func moment(_ seconds: Int64) -> Instant {
        Instant(nanoseconds: seconds * 1_000_000_000)
    }

    @Test("L16: a program that fails again and again is started ever later, until it has worked")
    func pauses() {
        var backOff = BackOff()
        func failures(_ count: Int) -> [Duration] {
            (0..<count).map { _ in backOff.failed(at: moment(0), wasReady: false) }
        }
        let all = [1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) }
        #expect(failures(all.count) == all)
        backOff.recovered(at: moment(100))
        #expect(backOff.failed(at: moment(159), wasReady: true) == .seconds(60))
        #expect(backOff.failed(at: moment(160), wasReady: false) == .seconds(60))
        #expect(backOff.failed(at: moment(160), wasReady: true) == .seconds(1))
        #expect(failures(7).last == .seconds(2))
        backOff.forgive()
        #expect(failures(all.count) == all)
    }
}
