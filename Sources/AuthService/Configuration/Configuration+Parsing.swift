import Glibc

extension Configuration {
    /// The longest file, in bytes.
    static let fileLimit = 65536
    /// The longest line, in bytes.
    static let lineLimit = 4096

    /// Reads a file.
    ///
    /// - Throws: What is wrong with the file, or with which line of it.
    public static func read(path: String) throws(ConfigurationError) -> Configuration {
        try parse(bytes: contents(of: path), file: path)
    }

    /// Reads a text; `file` is what errors call it.
    ///
    /// - Throws: The first line that is wrong.
    public static func parse(
        _ text: String,
        file: String
    ) throws(ConfigurationError) -> Configuration {
        try parse(bytes: Array(text.utf8), file: file)
    }

    static func parse(
        bytes: [UInt8],
        file: String
    ) throws(ConfigurationError) -> Configuration {
        guard bytes.count <= fileLimit else {
            throw ConfigurationError(
                file: file,
                line: nil,
                message: "The file is longer than \(fileLimit) bytes."
            )
        }
        var parser = Parser(file: file)
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            try parser.take(line)
        }
        return parser.configuration
    }

    private static func contents(of path: String) throws(ConfigurationError) -> [UInt8] {
        func failure(_ message: String) -> ConfigurationError {
            ConfigurationError(file: path, line: nil, message: message)
        }
        // Not to wait for the writer of a FIFO.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            throw failure("The file can't be opened: \(String(cString: strerror(errno))).")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw failure("This is not a regular file.")
        }
        // One more than is allowed, so that a longer file is seen to be one.
        var bytes = [UInt8](repeating: 0, count: fileLimit + 1)
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

/// Takes one line after another.
private struct Parser {
    let file: String
    var configuration = Configuration()
    private var line = 0
    private var section: String?
    private var seen: [Configuration.Key.Name: Int] = [:]

    init(file: String) {
        self.file = file
    }

    mutating func take(_ bytes: ArraySlice<UInt8>) throws(ConfigurationError) {
        line += 1
        guard bytes.count <= Configuration.lineLimit else {
            throw failure("The line is longer than \(Configuration.lineLimit) bytes.")
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
            try set(content)
        }
    }

    private mutating func begin(_ content: String) throws(ConfigurationError) {
        let known = Configuration.Key.sections
        guard let match = known.first(where: { "[\($0)]" == content }) else {
            let list = known.map { "[\($0)]" }.joined(separator: ", ")
            throw failure("\(content) is no section here; there are \(list).")
        }
        section = match
    }

    private mutating func set(_ content: Text) throws(ConfigurationError) {
        guard let equals = content.firstIndex(of: "=") else {
            throw failure("\(String(content)) is neither a [Section] nor Key=value.")
        }
        let word = String(trimmed(content[..<equals]))
        let value = String(trimmed(content[content.index(after: equals)...]))
        guard let section else {
            throw failure("\(word) stands before any [Section].")
        }
        let keys = Configuration.Key.all.filter { $0.name.section == section }
        guard let key = keys.first(where: { $0.name.word == word }) else {
            let list = keys.map(\.name.word).joined(separator: ", ")
            throw failure("\(word) is no key of [\(section)]; there are \(list).")
        }
        if let earlier = seen.updateValue(line, forKey: key.name) {
            throw failure("\(word) was set in line \(earlier) already.")
        }
        guard key.set(value, &configuration) else {
            throw failure("\(word)=\(value) is not allowed; it takes \(key.range).")
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
