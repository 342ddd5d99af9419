import BusBench
import DBus
import Glibc
import LocalAuthBus
import SensorContract

struct Latency: Sendable {
    let what: String
    let times: [Duration]

    var median: Duration { times.sorted()[times.count / 2] }
    var worst: Duration { times.max() ?? .zero }

    /// Measures each operation that people or the service wait for.
    @BusActor static func measure(_ fixture: SensorFixture) async throws -> [Latency] {
        let bench = try await SensorBench(fixture)
        do {
            let rows = try await rows(bench)
            await bench.end()
            return rows
        } catch {
            await bench.end()
            throw error
        }
    }

    @BusActor private static func rows(_ bench: SensorBench) async throws -> [Latency] {
        let user = SensorBench.user
        var rows = [
            try await row("end and start, until the name is on the bus", 5) {
                try await bench.restart()
            },
            try await row("Enroll, touched as fast as possible", 1) {
                _ = try await bench.enroll()
            },
            try await row("properties", 20) { _ = try await bench.sensor.properties() },
            try await row("ListTemplates", 20) {
                _ = try await bench.sensor.listTemplates(uid: user)
            },
            try await row("Health", 20) { _ = try await bench.sensor.health() },
        ]
        var (ready, canceled): ([Duration], [Duration]) = ([], [])
        for _ in 0..<20 {
            let start = ContinuousClock.now
            let (number, call) = try await bench.verify()
            ready.append(ContinuousClock.now - start)
            let end = ContinuousClock.now
            try await bench.sensor.cancel(operation: number)
            _ = try? await call.reply()
            canceled.append(ContinuousClock.now - end)
        }
        rows.append(Latency(what: "Verify, until ready", times: ready))
        rows.append(Latency(what: "Cancel, until Verify is answered", times: canceled))
        rows.append(
            try await row("Verify, touched as fast as possible", 5) {
                let (_, call) = try await bench.verify()
                _ = try await bench.presenting(true) { try await call.reply() }
            }
        )
        return rows
    }

    @BusActor private static func row(
        _ what: String,
        _ count: Int,
        _ body: @BusActor () async throws -> Void
    ) async throws -> Latency {
        var times: [Duration] = []
        for _ in 0..<count {
            let start = ContinuousClock.now
            try await body()
            times.append(ContinuousClock.now - start)
        }
        return Latency(what: what, times: times)
    }
}
