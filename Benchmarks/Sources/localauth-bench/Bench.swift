import BenchSupport
import Foundation
import TestSupport

/// Where the programs are, and how they are started.
struct Bench {
    /// The release build of the project.
    let programs: String
    /// The programs of this package.
    let tools: String
    var rounds = 11
    var calls = 10_000

    /// The service that is measured, or its yardstick.
    enum Service {
        case yardstick
        case localauthd
    }

    /// What one round of calls gave, in microseconds.
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
        // A daemon never depends on the settings of the machine that it is measured on.
        let file = bus.folder + "/localauth.conf"
        try settings.write(toFile: file, atomically: false, encoding: .utf8)
        return try ChildProcess(
            (place?.launcher ?? []) + [
                programs + "/localauthd", "--bus", bus.address,
                "--state-directory", bus.folder + "/state", "--config", file,
            ]
        )
    }

    /// Starts the client that says when it is ready, waits for its turn, and prints its figures.
    func client(_ words: [String], launcher: [String] = []) throws -> ChildProcess {
        try ChildProcess(launcher + [tools + "/bench-client"] + words, hasStream: true)
    }

    /// A bus beside the clients, with room for every call that is in flight.
    func bus() throws -> PrivateBus {
        try PrivateBus(limits: PrivateBus.wideLimits, launcher: Place.clients.launcher)
    }

    /// Starts something and waits until it owns a name.
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

    /// CLOCK_MONOTONIC in nanoseconds, as bench-client says it.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    /// One round of calls against a service that runs.
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

/// The middle one; of an even number the upper.
func median(_ values: [Double]) -> Double {
    values.sorted()[values.count / 2]
}
