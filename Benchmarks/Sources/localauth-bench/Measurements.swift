import BenchSupport
import Foundation
import TestSupport

extension Bench {
    private static let name = "org.localauth.Authentication1"

    /// A row: its name, the yardstick's figure, the service's figure, and the promise.
    struct Row {
        var what: String
        var yardstick: String
        var ours: String
        var ratio: String
        var promise: String
        var isKept = true
        /// Whether a missed promise means a fault, rather than a slow or large service.
        var isNeeded = false
    }

    /// Alternates rounds between the two services, so that a slow minute hits both.
    func callRows() throws -> [Row] {
        let yardstickBus = try bus()
        let ourBus = try bus()
        let yardstick = try awaitName(Self.name, on: yardstickBus) {
            try ChildProcess(
                Place.service.launcher + [tools + "/csdbus-service", yardstickBus.address]
            )
        }
        .process
        let passcode = try verifier(on: ourBus)
        let ours = try awaitName(Self.name, on: ourBus) {
            try daemon(on: ourBus, at: .service)
        }
        .process

        var rows: [Row] = []
        for window in [1, 64] {
            let pairs = try (0..<rounds)
                .map { number in
                    func measure(_ service: Service) throws -> Round {
                        let isOurs = service == .localauthd
                        return try callRound(
                            of: isOurs ? ours : yardstick,
                            on: isOurs ? ourBus : yardstickBus,
                            window: window
                        )
                    }
                    // The order within a pair alternates too.
                    guard number.isMultiple(of: 2) else {
                        let second = try measure(.localauthd)
                        return (try measure(.yardstick), second)
                    }
                    let first = try measure(.yardstick)
                    return (first, try measure(.localauthd))
                }
            rows += callRows(window: window, pairs)
        }
        for process in [ours, passcode] { try process.terminate() }
        return rows
    }

    private func callRows(window: Int, _ pairs: [(Round, Round)]) -> [Row] {
        let load = window == 1 ? "one at a time" : "\(window) in flight"
        func row(
            _ what: String,
            _ figure: KeyPath<Round, Double>,
            bound: Double?
        ) -> Row {
            let ratio = median(pairs.map { $1[keyPath: figure] / $0[keyPath: figure] })
            return Row(
                what: "CanEvaluate, \(load): \(what)",
                yardstick: text(median(pairs.map { $0.0[keyPath: figure] }), "µs"),
                ours: text(median(pairs.map { $0.1[keyPath: figure] }), "µs"),
                ratio: text(ratio, "x", digits: 2),
                promise: bound.map { "≤ \(text($0, "x", digits: 1))" } ?? "",
                isKept: bound.map { ratio <= $0 } ?? true
            )
        }
        let processor = row("service CPU a call", \.processor, bound: 1.3)
        return window == 1 ? [processor, row("median call", \.latency, bound: nil)] : [processor]
    }

    private func verifier(on bus: PrivateBus) throws -> ChildProcess {
        try awaitName("org.localauth.Passcode1", on: bus) {
            try ChildProcess([
                programs + "/localauth-passcode", "--bus", bus.address, "--passcode-set", "always",
            ])
        }
        .process
    }

    /// Measures from the start of the process until its name is owned.
    func startRow() throws -> Row {
        let bus = try self.bus()
        var yardstick: [Double] = []
        var ours: [Double] = []
        for _ in 0..<(2 * rounds) {
            let (first, itTook) = try awaitName(Self.name, on: bus) {
                try ChildProcess([tools + "/csdbus-service", bus.address])
            }
            first.signal(SIGKILL)
            try? first.waitForEnd()
            let (second, weTook) = try awaitName(Self.name, on: bus) { try daemon(on: bus) }
            try second.terminate()
            yardstick.append(itTook)
            ours.append(weTook)
        }
        return Row(
            what: "start to name owned",
            yardstick: text(median(yardstick), "ms"),
            ours: text(median(ours), "ms"),
            ratio: text(median(zip(ours, yardstick).map { $0 / $1 }), "x"),
            promise: "≤ 15 ms",
            isKept: median(ours) <= 15
        )
    }

    /// Memory of a daemon that has answered a call and is idle.
    func idleRow() throws -> Row {
        let bus = try self.bus()
        let passcode = try verifier(on: bus)
        let sensor = try awaitName("org.localauth.Sensor1.Simulated", on: bus) {
            try ChildProcess([programs + "/localauth-sensor-simulated", "--bus", bus.address])
        }
        .process
        let ours = try awaitName(Self.name, on: bus) { try daemon(on: bus) }.process
        var quick = self
        quick.calls = 100
        _ = try quick.callRound(of: ours, on: bus, window: 1)
        let size = try ours.proportionalSetSize() / 1024
        for process in [ours, sensor, passcode] { try process.terminate() }
        return Row(
            what: "idle memory (PSS), one sensor, verifier",
            yardstick: "",
            ours: text(size, "MB"),
            ratio: "",
            promise: "≤ 10 MB",
            isKept: size <= 10
        )
    }

    /// Memory of 10,000 contexts of 64 connections, and the rest after they are gone.
    ///
    /// Only memory that the daemon wrote counts. The daemon's share of code pages belongs to no
    /// context, and depends on other programs of the machine.
    func contextRows() throws -> [Row] {
        let (connections, each) = (64, 157)
        let bus = try self.bus()
        let settings = "[Limits]\nContextsPerUser=20000\n"
        let ours = try awaitName(Self.name, on: bus) {
            try daemon(on: bus, settings: settings)
        }
        .process
        let first = try fill(ours, on: bus, connections, each)
        let left = try lowest(of: ours, on: bus, enough: (first.full + 9 * first.empty) / 10)
        let second = try fill(ours, on: bus, connections, each)
        try ours.terminate()
        let size = (first.full - first.empty) / Double(connections * each)
        let kept = max(0, left - first.empty) / (first.full - first.empty) * 100
        let growth = max(0, second.full - first.full) / (first.full - first.empty) * 100
        return [
            Row(
                what: "\(connections * each) contexts, \(connections) connections: memory of each",
                yardstick: "",
                ours: text(size, "KB", digits: 2),
                ratio: "",
                promise: "≤ 4 KB",
                isKept: size <= 4
            ),
            Row(
                what: "of that memory, still held after their creators left",
                yardstick: "",
                ours: text(kept, "%"),
                ratio: "",
                promise: "≤ 10 %",
                isKept: kept <= 10,
                isNeeded: true
            ),
            Row(
                what: "of that memory, added by doing the same again",
                yardstick: "",
                ours: text(growth, "%"),
                ratio: "",
                promise: "≤ 10 %",
                isKept: growth <= 10,
                isNeeded: true
            ),
        ]
    }

    /// Memory after clients have left.
    ///
    /// The daemon has 5 s to give memory back.
    private func lowest(
        of service: ChildProcess,
        on bus: PrivateBus,
        enough: Double
    ) throws -> Double {
        let end = Self.now() + 5e9
        while true {
            // The daemon has noticed that the clients left before it answers this call.
            _ = try fill(service, on: bus, 1, 1)
            let size = try service.anonymousMemory()
            if size <= enough || Self.now() > end { return size }
            poll(nil, 0, 100)
        }
    }

    private func fill(
        _ service: ChildProcess,
        on bus: PrivateBus,
        _ connections: Int,
        _ each: Int
    ) throws -> (empty: Double, full: Double) {
        let client = try self.client(["contexts", bus.address, "\(connections)", "\(each)"])
        try client.waitUntilReady()
        let empty = try service.anonymousMemory()
        client.go()
        try client.waitUntilReady()
        let full = try service.anonymousMemory()
        client.go()
        try client.waitForEnd()
        return (empty, full)
    }

    private func text(_ value: Double, _ unit: String, digits: Int = 1) -> String {
        String(format: "%.\(digits)f", value) + (unit == "x" ? "x" : " \(unit)")
    }
}
