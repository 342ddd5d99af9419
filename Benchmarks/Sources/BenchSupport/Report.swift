import Foundation

/// The cause of a failed measurement.
package struct BenchmarkError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Output of the benchmarks.
package enum Report {
    /// Prints a line without buffering.
    package static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// Prints a line to standard error.
    package static func complain(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    package static func row(_ cells: String...) {
        say("| " + cells.joined(separator: " | ") + " |")
    }

    /// Describes the machine and its load in one line.
    package static func machine() -> String {
        func value(_ key: String, of path: String, separator: Character) -> String {
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
            let value = line?.split(separator: separator, maxSplits: 1).last ?? "unknown"
            return value.trimmingCharacters(in: [" ", "\""])
        }
        let processor = value("model name", of: "/proc/cpuinfo", separator: ":")
        let system = value("PRETTY_NAME", of: "/etc/os-release", separator: "=")
        let load = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? "unknown"
        return "\(processor), \(ProcessInfo.processInfo.activeProcessorCount) cores, \(system), "
            + "load \(load.split(separator: " ").first ?? "unknown") at the start"
    }

    /// Returns the smallest value that this share of the values does not exceed; 0 without values.
    package static func percentile(_ values: [Double], _ share: Double) -> Double {
        let sorted = values.sorted()
        guard let last = sorted.last else { return 0 }
        let index = Int(Double(sorted.count) * share)
        return index < sorted.count ? sorted[index] : last
    }

    /// Median and 95th percentile, of milliseconds.
    package static func pair(_ milliseconds: [Double], digits: Int = 0) -> String {
        let format = "%.\(digits)f"
        let (middle, late) = (percentile(milliseconds, 0.5), percentile(milliseconds, 0.95))
        return "\(String(format: format, middle)) / \(String(format: format, late)) ms"
    }
}

/// Returns the word after an option.
package func value(_ option: String) -> String? {
    CommandLine.arguments.drop { $0 != option }.dropFirst().first
}
