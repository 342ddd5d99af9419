import AgentKit
import Glibc
import Localization

/// Reports a failure and its remedy on standard error; returns the exit status.
func report(_ failure: Failure) -> Int32 {
    tell("localauthctl: \(failure.message)")
    if let hint = failure.hint { tellNext(hint) }
    return failure.status.rawValue
}

func tellNext(_ hint: String) {
    tell("  " + localized("Next: %1$s", Advice.complete(hint)))
}

/// Prints a sentence on standard error, wrapped to the terminal's width.
func tell(_ line: String) {
    var line = wrapped(line, to: terminalWidth(of: STDERR_FILENO) ?? .max, indent: 2) + "\n"
    line.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
}

/// Prints rows in aligned columns on standard output.
func printTable(_ rows: [[String]], indent: String = "") {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count)
        .map { column in
            rows.map { column < $0.count ? columns(of: $0[column]) : 0 }.max() ?? 0
        }
    // Wrap the last column, which has sentences. Leave it unwrapped if too narrow, because
    // terminals wrap long lines themselves.
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

/// Prints a sentence on standard output, wrapped to the terminal's width.
func printSentence(_ line: String) {
    print(wrapped(line, to: terminalWidth(of: STDOUT_FILENO) ?? .max, indent: 2))
}

/// Flushes standard output, so that a reader of a pipe sees each line at once.
func flushOutput() {
    fflush(nil)
}
