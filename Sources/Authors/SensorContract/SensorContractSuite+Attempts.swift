import BusBench
import DBus
import LocalAuthBus

extension SensorContractSuite {
    /// Checks of misses.
    static let attemptChecks = [
        SensorCheck(
            "The sensor does not scan until a miss is counted; silence is no answer",
            .sensor("Verify", "Until the answer it must not scan.")
        ) { bench in
            try bench.requireMiss()
            let id = try await bench.enroll()
            bench.neverAnswers()
            let (number, call) = try await bench.verify()
            _ = try await bench.presenting(false) { try await bench.event("no-match", of: number) }
            let answered = EventRecorder<Bool>()
            onLoop {
                _ = try? await call.answer()
                answered.record(true)
            }
            for _ in 0..<5 { await bench.fixture.present(true, bench) }
            await bench.settle()
            try expect(answered.seen.isEmpty, "no answer while the attempt isn't counted")
            bench.answer = { _ in 3 }
            _ = try await bench.events.first("the repeated miss", within: .seconds(20)) { _ in
                bench.misses.count >= 2
            }
            try expect(bench.misses.prefix(2).map(\.attempt) == [1, 1], "got \(bench.misses)")
            _ = try await bench.presenting(true) {
                try await answered.first("a match", within: .seconds(30)) { $0 }
            }
            try expect(try await bench.sensor.listTemplates(uid: SensorBench.user)[0].id == id, id)
        },
        SensorCheck(
            "Misses are numbered from 1 in each operation",
            .noMatch("`attempt` counts from 1 in each operation.")
        ) { bench in
            try bench.requireMiss()
            _ = try await bench.enroll()
            for _ in 0..<2 {
                bench.events.forget()
                let (number, call) = try await bench.verify()
                _ = try await bench.presenting(false) {
                    try await bench.events.first("two attempts", within: .seconds(20)) { _ in
                        bench.misses.count >= 2
                    }
                }
                let numbers = bench.misses.prefix(2).map(\.attempt)
                try expect(numbers == [1, 2], "1 and 2, got \(bench.misses)")
                let isOwn = bench.misses.allSatisfy { $0.operation == number }
                try expect(isOwn, "the operation's number, got \(bench.misses)")
                try await bench.sensor.cancel(operation: number)
                try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.answer() }
            }
        },
        SensorCheck(
            "Cancel ends the operation while a miss is being counted",
            .noMatch("until Cancel comes")
        ) { bench in
            try bench.requireMiss()
            let id = try await bench.enroll()
            bench.neverAnswers()
            let (number, call) = try await bench.verify()
            _ = try await bench.presenting(false) { try await bench.event("no-match", of: number) }
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.answer() }
            bench.answer = { _ in 100 }
            let (_, next) = try await bench.verify()
            let matched = try await bench.presenting(true) { try await next.answer() }
            try expect(matched == id, "\(id), got \(matched)")
        },
        SensorCheck(
            "Events have the kinds and the details of the contract",
            .sensor("Event", "Kinds and details:")
        ) { bench in
            _ = try await bench.enroll()
            let (_, call) = try await bench.verify()
            _ = try await bench.presenting(true) { try await call.answer() }
            for event in bench.events.seen where event.kind != "no-match" {
                try expect(isKnown(event), "got \(event)")
            }
        },
    ]

    private static func isKnown(_ event: SeenEvent) -> Bool {
        switch event.kind {
        case "ready": true
        case "hint": event.detail["hint"]?.asString.flatMap(SensorHint.init) != nil
        case "stage":
            event.detail["stage"]?.asUInt32 != nil && event.detail["stages"]?.asInt32 != nil
        case "busy": event.detail["by"]?.asString != nil
        default: false
        }
    }
}
