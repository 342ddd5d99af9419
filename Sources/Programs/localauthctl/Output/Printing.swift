import AgentKit
import Glibc
import Localization

/// Says on standard error what went wrong, and what to do next.
func report(_ failure: Failure) -> Int32 {
    tell("localauthctl: \(failure.message)")
    if let hint = failure.hint { tellNext(hint) }
    return failure.status.rawValue
}

/// What to do next, on standard error.
func tellNext(_ hint: String) {
    tell("  " + localized("Next: %1$s", Advice.complete(hint)))
}

/// One sentence on standard error, in lines of the terminal's width.
func tell(_ line: String) {
    var line = wrapped(line, to: terminalWidth(of: STDERR_FILENO) ?? .max, indent: 2) + "\n"
    line.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
}

/// Writes rows in columns that line up, on standard output.
func printTable(_ rows: [[String]], indent: String = "") {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count)
        .map { column in
            rows.map { column < $0.count ? columns(of: $0[column]) : 0 }.max() ?? 0
        }
    // The last column is the one of sentences. Where it would have too little room it is left as it
    // is: no terminal hides anything.
    let before = columns(of: indent) + widths.dropLast().reduce(0) { $0 + $1 + 2 }
    let width = terminalWidth(of: STDOUT_FILENO).flatMap { $0 - before < 16 ? nil : $0 } ?? .max
    for row in rows {
        let cells = row.enumerated()
            .map { column, cell in
                column == row.count - 1 ? cell : padded(cell, to: widths[column])
            }
        let line = indent + cells.joined(separator: "  ")
        print(row.count == widths.count ? wrapped(line, to: width, indent: before) : line)
    }
}

/// One sentence on standard output, in lines of the terminal's width.
func printSentence(_ line: String) {
    print(wrapped(line, to: terminalWidth(of: STDOUT_FILENO) ?? .max, indent: 2))
}

/// Flushes standard output, so that a reader of a pipe sees each line at once.
func flushOutput() {
    fflush(nil)
}
