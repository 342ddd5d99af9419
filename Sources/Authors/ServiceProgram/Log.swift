import Glibc

/// The priority of a log line, with syslog's numbers.
public enum LogPriority: Int32, Sendable {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7
}

/// Writes a line to standard error in a single write.
///
/// Control characters become spaces, so that outside text cannot forge a line. Lines are cut at
/// 2048 bytes.
public func log(_ priority: LogPriority, _ message: String) {
    writeAll(2, logLine(priority, message))
}

func logLine(_ priority: LogPriority, _ message: String) -> String {
    let prefix = goesToJournal ? "<\(priority.rawValue)>" : "\(programName): "
    return prefix + singleLine(message) + "\n"
}

func singleLine(_ text: String) -> String {
    // Fast path: nearly every line is printable ASCII.
    if text.utf8.count <= 2048, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) {
        return text
    }
    var line = ""
    var size = 0
    for scalar in text.unicodeScalars {
        size += UTF8.width(scalar)
        guard size <= 2048 else { break }
        let isControl = scalar.properties.generalCategory == .control
        line.unicodeScalars.append(isControl ? " " : scalar)
    }
    return line
}

func writeAll(_ descriptor: Int32, _ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
        let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return }
        bytes = bytes.dropFirst(count)
    }
}

private let programName =
    CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "service"

/// Whether standard error is the journal's stream: JOURNAL_STREAM names its device and inode.
private let goesToJournal: Bool = {
    var status = stat()
    guard let stream = getenv("JOURNAL_STREAM"), fstat(2, &status) == 0 else { return false }
    return String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
}()
