import Glibc

enum SettingsFile {
    struct Name: Hashable, Sendable {
        let section: String
        let word: String
    }

    /// Sets a value; returns the allowed values if the value is not allowed, else nil.
    typealias Setter = (_ name: Name, _ value: String) -> String?

    /// The longest file, in bytes.
    static let limit = 65536
    /// The longest line, in bytes.
    static let lineLimit = 4096

    /// Passes each value of a file to `set`.
    ///
    /// Errors name the file by `file`.
    ///
    /// - Throws: `ConfigurationError` for the first wrong line.
    static func parse(
        _ bytes: [UInt8],
        file: String,
        keys: [Name],
        _ set: Setter
    ) throws(ConfigurationError) {
        guard bytes.count <= limit else {
            throw ConfigurationError(
                file: file,
                line: nil,
                message: "The file is longer than \(limit) bytes."
            )
        }
        var parser = Parser(file: file, keys: keys)
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            try parser.take(line, set)
        }
    }

    /// Reads a regular file, at most one byte more than the limit.
    ///
    /// - Throws: `ConfigurationError` if the file can't be read.
    static func contents(of path: String) throws(ConfigurationError) -> [UInt8] {
        func failure(_ message: String) -> ConfigurationError {
            ConfigurationError(file: path, line: nil, message: message)
        }
        // O_NONBLOCK, so that opening a FIFO does not wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            throw failure("The file can't be opened: \(String(cString: strerror(errno))).")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw failure("This is not a regular file.")
        }
        // Read one byte beyond the limit to detect a longer file.
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress?.advanced(by: length), $0.count - length)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                throw failure("The file can't be read: \(String(cString: strerror(errno))).")
            }
            guard count > 0 else { break }
            length += count
        }
        return Array(bytes.prefix(length))
    }
}

private struct Parser {
    let file: String
    let keys: [SettingsFile.Name]
    private var line = 0
    private var section: String?
    private var seen: [SettingsFile.Name: Int] = [:]

    init(file: String, keys: [SettingsFile.Name]) {
        self.file = file
        self.keys = keys
    }

    mutating func take(
        _ bytes: ArraySlice<UInt8>,
        _ set: SettingsFile.Setter
    ) throws(ConfigurationError) {
        line += 1
        guard bytes.count <= SettingsFile.lineLimit else {
            throw failure("The line is longer than \(SettingsFile.lineLimit) bytes.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw failure("The line is not valid UTF-8.")
        }
        let content = trimmed(Substring(text).unicodeScalars)
        guard let first = content.first, first != "#", first != ";" else { return }
        guard content.allSatisfy({ $0 == "\t" || $0.properties.generalCategory != .control }) else {
            throw failure("The line contains a control character.")
        }
        if first == "[" {
            try begin(String(content))
        } else {
            try take(assignment: content, set)
        }
    }

    private mutating func begin(_ content: String) throws(ConfigurationError) {
        var known: [String] = []
        for key in keys where !known.contains(key.section) { known.append(key.section) }
        guard let match = known.first(where: { "[\($0)]" == content }) else {
            let list = known.map { "[\($0)]" }.joined(separator: ", ")
            throw failure("\(content) is no section here; there are \(list).")
        }
        section = match
    }

    private mutating func take(
        assignment content: Text,
        _ set: SettingsFile.Setter
    ) throws(ConfigurationError) {
        guard let equals = content.firstIndex(of: "=") else {
            throw failure("\(String(content)) is neither a [Section] nor Key=value.")
        }
        let word = String(trimmed(content[..<equals]))
        let value = String(trimmed(content[content.index(after: equals)...]))
        guard let section else {
            throw failure("\(word) stands before any [Section].")
        }
        let name = SettingsFile.Name(section: section, word: word)
        guard keys.contains(name) else {
            let list = keys.filter { $0.section == section }.map(\.word).joined(separator: ", ")
            throw failure("\(word) is no key of [\(section)]; there are \(list).")
        }
        if let earlier = seen.updateValue(line, forKey: name) {
            throw failure("\(word) was set in line \(earlier) already.")
        }
        if let range = set(name, value) {
            throw failure("\(word)=\(value) is not allowed; it takes \(range).")
        }
    }

    private func failure(_ message: String) -> ConfigurationError {
        ConfigurationError(file: file, line: line, message: message)
    }
}

private typealias Text = Substring.UnicodeScalarView

private func trimmed(_ text: Text) -> Text {
    func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\t" || scalar == "\r"
    }
    var rest = text.drop(while: isBlank)
    while let last = rest.last, isBlank(last) {
        rest.removeLast()
    }
    return rest
}
