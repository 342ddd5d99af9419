import BenchSupport
import Foundation
import TestSupport

/// The programs and how they are started.
struct Bench {
    /// The folder of the project's release build.
    let programs: String
    /// The folder of this package's programs.
    let tools: String
    var rounds = 11
    var calls = 10_000

    enum Service {
        case yardstick
        case localauthd
    }

    /// The figures of a round of calls, in microseconds.
    struct Round {
        /// Processor time of the service, a call.
        var processor: Double
        /// The median call.
        var latency: Double
    }

    func daemon(
        on bus: PrivateBus,
        at place: Place? = nil,
        settings: String = ""
    ) throws -> ChildProcess {
        // A configuration of its own, so that the machine's settings have no effect.
        let file = bus.folder + "/localauth.conf"
        try settings.write(toFile: file, atomically: false, encoding: .utf8)
        return try ChildProcess(
            (place?.launcher ?? []) + [
                programs + "/localauthd", "--bus", bus.address,
                "--state-directory", bus.folder + "/state", "--config", file,
            ]
        )
    }

    /// Starts a client that reports when it is ready, waits for its turn, and prints its figures.
    func client(_ words: [String], launcher: [String] = []) throws -> ChildProcess {
        try ChildProcess(launcher + [tools + "/bench-client"] + words, hasStream: true)
    }

    /// Starts a bus beside the clients, with room for all pending calls.
    func bus() throws -> PrivateBus {
        try PrivateBus(limits: PrivateBus.wideLimits, launcher: Place.clients.launcher)
    }

    /// Starts a program and waits until it owns a name.
    func awaitName(
        _ name: String,
        on bus: PrivateBus,
        _ start: () throws -> ChildProcess
    ) throws -> (process: ChildProcess, milliseconds: Double) {
        let watcher = try client(["name", bus.address, name])
        try watcher.waitUntilReady()
        let begun = Self.now()
        let process = try start()
        guard let owned = Double(try watcher.line(within: .seconds(20)) ?? "") else {
            throw BenchmarkError("the watcher gave no time")
        }
        try watcher.waitForEnd()
        return (process, (owned - begun) / 1e6)
    }

    /// CLOCK_MONOTONIC in nanoseconds, as in bench-client.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    /// Measures a round of calls against a running service.
    func callRound(
        of service: ChildProcess,
        on bus: PrivateBus,
        window: Int
    ) throws -> Round {
        let client = try self.client(
            ["calls", bus.address, "can-evaluate-2", "\(calls)", "\(window)"],
            launcher: Place.clients.launcher
        )
        try client.waitUntilReady()
        let before = try service.processorTime()
        client.go()
        let figures = (try client.line() ?? "").split(separator: " ")
            .compactMap { Double($0) }
        try client.waitUntilReady()
        let after = try service.processorTime()
        client.go()
        try client.waitForEnd()
        guard figures.count == 3 else { throw BenchmarkError("the client gave no figures") }
        return Round(
            processor: (after - before) / Double(calls) / 1e3,
            latency: figures[0] / 1e3
        )
    }
}

/// The middle value; the upper of two.
func median(_ values: [Double]) -> Double {
    values.sorted()[values.count / 2]
}
