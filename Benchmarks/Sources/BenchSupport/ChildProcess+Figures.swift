import Foundation
package import TestSupport

/// The processor of a process.
///
/// The cost of a call depends on whether caller and service share a processor. The service
/// therefore has one to itself, and the bus and the client share another.
package enum Place: Int, Sendable {
    case clients = 0
    case service = 1

    /// The command line prefix that pins a program to the processor.
    package var launcher: [String] {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        return ["/usr/bin/taskset", "-c", "\(rawValue % cores)"]
    }
}

extension ChildProcess {
    /// Waits until the program prints "ready".
    package func waitUntilReady() throws {
        let line = try line() ?? "nothing more"
        guard line == "ready" else { throw BenchmarkError("a program said \(line)") }
    }

    /// Starts the next part of the program.
    package func go() { tell("") }

    /// Waits for the end; a status other than 0 is an error.
    package func waitForEnd(within limit: Duration = .seconds(120)) throws {
        let status = try wait(within: limit)
        guard status == 0 else { throw BenchmarkError("a program ended with status \(status)") }
    }

    /// Sends SIGTERM and waits; more than 5 s is an error.
    package func terminate() throws {
        signal(SIGTERM)
        try waitForEnd(within: .seconds(5))
    }

    /// Processor time of all threads so far, in nanoseconds.
    package func processorTime() throws -> Double {
        let tasks = "/proc/\(pid)/task"
        var sum = 0.0
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            let figures = try String(contentsOfFile: "\(tasks)/\(task)/schedstat", encoding: .utf8)
            sum += figures.split(separator: " ").first.flatMap { Double($0) } ?? 0
        }
        return sum
    }

    /// Proportional share of memory, in KB.
    package func proportionalSetSize() throws -> Double { try memory("Pss:") }

    /// Memory that the process wrote, without code and files, in KB.
    package func anonymousMemory() throws -> Double { try memory("Anonymous:") }

    private func memory(_ key: String) throws -> Double {
        let rollup = try String(contentsOfFile: "/proc/\(pid)/smaps_rollup", encoding: .utf8)
        for line in rollup.split(separator: "\n") where line.hasPrefix(key) {
            let words = line.split(separator: " ")
            if words.count > 1, let kilobytes = Double(words[1]) { return kilobytes }
        }
        throw BenchmarkError("no \(key) in smaps_rollup")
    }
}
