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

/// One line on standard error.
func tell(_ line: String) {
    var line = line + "\n"
    line.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
}

/// Writes rows in columns that line up, on standard output.
func printTable(_ rows: [[String]], indent: String = "") {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns)
        .map { column in
            rows.map { column < $0.count ? Localization.columns(of: $0[column]) : 0 }.max() ?? 0
        }
    for row in rows {
        let cells = row.enumerated()
            .map { column, cell in
                column == row.count - 1 ? cell : padded(cell, to: widths[column])
            }
        print(indent + cells.joined(separator: "  "))
    }
}

/// Flushes standard output, so that a reader of a pipe sees each line at once.
func flushOutput() {
    fflush(nil)
}
