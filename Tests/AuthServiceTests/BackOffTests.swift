import AuthEngine
import AuthStore
import DBus
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

@Suite("Back-off of helpers", .timeLimit(.minutes(10)))
struct BackOffTests {
    private func moment(_ seconds: Int64) -> Instant {
        Instant(nanoseconds: seconds * 1_000_000_000)
    }

    @Test("L16: a helper that fails repeatedly starts ever later, until it has worked for a while")
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

    /// Connects a sensor, and returns it with its process as the service sees it.
    @BusActor
    private static func sensor(
        _ name: String,
        _ bench: AuditBench
    ) async throws -> (ScriptedSensor, SensorProcess) {
        let sensor = ScriptedSensor(name, on: try bench.bus.connect())
        try sensor.appear()
        try await eventually("\(name) to be used") {
            bench.service.sensors.sensors[name]?.isUsable == true
        }
        let link = try #require(bench.service.sensors.sensors[name])
        return (sensor, link.process)
    }

    @Test("L16: a sensor that failed repeatedly rests longer than a sensor that failed once")
    func sensors() async throws {
        try await AuditBench.run { bench in
            let (sensor, process) = try await Self.sensor("Third", bench)
            let (_, other) = try await Self.sensor("Other", bench)
            let asked = sensor.count(of: "Health")
            for _ in 0..<11 {
                _ = process.service.backOff.failed(at: Instant.now(), wasReady: false)
            }
            process.service.fail(.failed)
            other.service.fail(.failed)
            #expect(other.unavailability == .failed)
            // The daemon checks it after a second, well before the other sensor's half minute ends.
            try await eventually("the other one to be used again") { other.isUsable }
            #expect(process.unavailability == .failed)
            #expect(sensor.count(of: "Health") == asked)
        }
    }

    /// How a sensor with many failures ended.
    enum Fate: CaseIterable {
        case crashedAtOnce
        case crashedAfterAMinute
        case fellAsleepAfterAMinute
    }

    @Test(
        "L16: after a minute of work the next fault counts as first, even after a sleep",
        arguments: Fate.allCases
    )
    func work(_ fate: Fate) async throws {
        try await AuditBench.run { bench in
            let (sensor, process) = try await Self.sensor("Third", bench)
            let name = Sensor1.namespace + ".Third"
            try await bench.bus.allowSuccessor(of: name)
            for _ in 0..<12 {
                _ = process.service.backOff.failed(at: Instant.now(), wasReady: false)
            }
            let work = Duration.seconds(fate == .crashedAtOnce ? 0 : 60)
            process.service.backOff.recovered(at: Instant.now() + work * -1)
            if fate == .fellAsleepAfterAMinute {
                sensor.connection.releaseName(name)
                try await eventually("it to be asleep") { process.state == .asleep }
            } else {
                sensor.connection.close()
                try await eventually("the crash") { process.unavailability == .crashed }
            }
            // The bus can't start the sensor. After a first fault, the longest pause needs another
            // minute of faults.
            var backOff = process.service.backOff
            let next = backOff.failed(at: Instant.now(), wasReady: false)
            #expect((next == .seconds(60)) == (fate == .crashedAtOnce), "\(next)")
        }
    }
}
