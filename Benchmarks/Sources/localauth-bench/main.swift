import Foundation

/// One line, at once even into a pipe.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

/// Prints one table, a row for each promise; status 1 when one isn't kept.
func measure(_ bench: Bench) throws -> Bool {
    say("\(machine()); \(bench.rounds) rounds of \(bench.calls) calls, medians\n")
    say("| | C sd-bus | here | ratio | promise |")
    say("|---|---|---|---|---|")
    var areKept = true
    func show(_ rows: [Bench.Row]) {
        for row in rows {
            let promise = row.promise + (row.isKept ? "" : " **missed**")
            say("| \(row.what) | \(row.yardstick) | \(row.ours) | \(row.ratio) | \(promise) |")
            areKept = areKept && row.isKept
        }
    }
    show(try bench.callRows())
    show([try bench.startRow(), try bench.idleRow()])
    show(try bench.contextRows())
    return areKept
}

/// The machine, in one line.
func machine() -> String {
    func value(_ key: String, of path: String, separator: Character) -> String {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
        let value = line?.split(separator: separator, maxSplits: 1).last ?? "unknown"
        return value.trimmingCharacters(in: [" ", "\""])
    }
    let processor = value("model name", of: "/proc/cpuinfo", separator: ":")
    let system = value("PRETTY_NAME", of: "/etc/os-release", separator: "=")
    return "\(processor), \(ProcessInfo.processInfo.activeProcessorCount) cores, \(system)"
}

/// Settings from the command line; nil: usage.
func parse(_ arguments: [String]) -> Bench? {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "."
    var programs: String?
    var bench = Bench(
        programs: "",
        tools: URL(fileURLWithPath: own).deletingLastPathComponent().path
    )
    var rest = arguments[...]
    while let option = rest.popFirst() {
        guard let value = rest.popFirst() else { return nil }
        switch option {
        case "--programs": programs = URL(fileURLWithPath: value).path
        case "--rounds": bench.rounds = Int(value) ?? 0
        case "--calls": bench.calls = Int(value) ?? 0
        default: return nil
        }
    }
    guard let programs, bench.rounds > 0, bench.calls > 0 else { return nil }
    return Bench(
        programs: programs,
        tools: bench.tools,
        rounds: bench.rounds,
        calls: bench.calls
    )
}

guard let bench = parse(Array(CommandLine.arguments.dropFirst())) else {
    say("usage: localauth-bench --programs FOLDER [--rounds N] [--calls N]")
    exit(64)
}
do {
    exit(try measure(bench) ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("localauth-bench: \(error)\n".utf8))
    exit(1)
}
