import BenchSupport
import Foundation

/// Prints a table with a row for each promise; false on a fault, true if only slow.
func measure(_ bench: Bench) throws -> Bool {
    Report.say("\(Report.machine()); \(bench.rounds) rounds of \(bench.calls) calls, medians\n")
    Report.row("", "C sd-bus", "here", "ratio", "promise")
    Report.say("|---|---|---|---|---|")
    var isWhole = true
    func show(_ rows: [Bench.Row]) {
        for row in rows {
            let promise = row.promise + (row.isKept ? "" : " **missed**")
            Report.row(row.what, row.yardstick, row.ours, row.ratio, promise)
            isWhole = isWhole && (row.isKept || !row.isNeeded)
        }
    }
    show(try bench.callRows())
    show([try bench.startRow(), try bench.idleRow()])
    show(try bench.contextRows())
    return isWhole
}

/// Parses the command line; nil if the usage must be shown.
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
    Report.say("usage: localauth-bench --programs FOLDER [--rounds N] [--calls N]")
    exit(64)
}
do {
    exit(try measure(bench) ? 0 : 1)
} catch {
    Report.complain("localauth-bench: \(error)")
    exit(1)
}
