import Foundation
package import TestSupport

/// Which processor a process stays on.
///
/// What a call costs depends on whether caller and service share one, so that is not left to
/// chance: the service is alone, the bus and the client are together.
package enum Place: Int, Sendable {
    /// The bus and whoever calls.
    case clients = 0
    /// What is measured.
    case service = 1

    /// The words before a program's own that keep it there.
    package var launcher: [String] {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        return ["/usr/bin/taskset", "-c", "\(rawValue % cores)"]
    }
}

extension ChildProcess {
    /// Waits until it says that it is prepared.
    package func waitUntilReady() throws {
        let line = try line() ?? "nothing more"
        guard line == "ready" else { throw BenchmarkError("a program said \(line)") }
    }

    /// Lets it begin its next part.
    package func go() { tell("") }

    /// Waits for its end; another status than 0 is an error.
    package func waitForEnd(within limit: Duration = .seconds(120)) throws {
        let status = try wait(within: limit)
        guard status == 0 else { throw BenchmarkError("a program ended with status \(status)") }
    }

    /// Asks it to end, and waits; not to end within 5 s is an error.
    package func terminate() throws {
        signal(SIGTERM)
        try waitForEnd(within: .seconds(5))
    }

    /// Processor time of all its threads so far, in nanoseconds.
    package func processorTime() throws -> Double {
        let tasks = "/proc/\(pid)/task"
        var sum = 0.0
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            let figures = try String(contentsOfFile: "\(tasks)/\(task)/schedstat", encoding: .utf8)
            sum += figures.split(separator: " ").first.flatMap { Double($0) } ?? 0
        }
        return sum
    }

    /// Its proportional share of memory, in KB.
    package func proportionalSetSize() throws -> Double { try memory("Pss:") }

    /// What it wrote to memory: what it has of its own, without code and files, in KB.
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
