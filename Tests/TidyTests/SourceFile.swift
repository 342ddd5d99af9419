import Foundation

/// A breach of a rule, with its place.
struct Offence: Hashable, CustomStringConvertible {
    let path: String
    let line: Int
    let message: String

    var description: String { "\(path):\(line): \(message)" }
}

/// A file of the project, split into code and comments.
struct SourceFile: Sendable {
    /// Relative to the project's root.
    let path: String
    let lines: [String]
    /// The lines without comments and string contents; empty for other languages than Swift.
    let code: [String]
    /// The comments of each line; empty for other languages than Swift.
    let comments: [String]

    init(path: String, text: String) {
        self.path = path
        lines = Self.lines(of: Array(text.utf8))
        if path.hasSuffix(".swift") {
            var lexer = Lexer(text)
            lexer.run()
            code = Self.lines(of: lexer.code)
            comments = Self.lines(of: lexer.comments)
        } else {
            code = []
            comments = []
        }
    }

    var folders: [Substring] { path.split(separator: "/") }

    /// The target of a file below `Sources`, from its folders; nil for any other file.
    var target: String? {
        guard folders.first == "Sources", folders.count > 2 else { return nil }
        switch folders[1] {
        case "Daemon": return "AuthService"
        case "Engine": return "AuthEngine"
        case "Contract": return "Contract"
        default: return folders.count > 3 ? String(folders[2]) : nil
        }
    }

    var isGenerated: Bool { folders.contains("Generated") }

    func offence(_ index: Int, _ message: String) -> Offence {
        Offence(path: path, line: index + 1, message: message)
    }

    private static func lines(of bytes: [UInt8]) -> [String] {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // Ignore the empty piece after the last line end.
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Separates code, comments and strings of Swift, and keeps their positions.
struct Lexer {
    private enum Mode: Equatable {
        /// Code, with the depth of open parentheses.
        case code(Int)
        case lineComment
        case blockComment
        /// A string with its number of `#` and of quotes; a regex has `/` as its quote.
        case string(hashes: Int, quotes: Int, quote: UInt8)
    }

    /// The first bytes of comments and strings.
    private static let beginnings = Set("/#\"".utf8)

    private let text: [UInt8]
    private(set) var code: [UInt8]
    private(set) var comments: [UInt8]
    private var modes = [Mode.code(0)]
    private var index = 0

    init(_ text: String) {
        self.text = Array(text.utf8)
        code = self.text.map { $0 == UInt8(ascii: "\n") ? $0 : UInt8(ascii: " ") }
        comments = code
    }

    mutating func run() {
        while index < text.count {
            switch modes[modes.count - 1] {
            case .code(let depth): takeCode(depth)
            case .lineComment: takeLineComment()
            case .blockComment: takeBlockComment()
            case .string(let hashes, let quotes, let quote):
                takeString(hashes: hashes, quotes: quotes, quote: quote)
            }
        }
    }

    private func sees(_ word: String, at offset: Int = 0) -> Bool {
        text[min(index + offset, text.count)...].starts(with: word.utf8)
    }

    private mutating func takeCode(_ depth: Int) {
        let mayBegin = Self.beginnings.contains(text[index])
        if mayBegin && sees("//") {
            modes.append(.lineComment)
        } else if mayBegin && sees("/*") {
            modes.append(.blockComment)
            comment(2)
        } else if mayBegin, let (string, length) = stringStart() {
            modes.append(string)
            index += length
        } else {
            let byte = text[index]
            if byte == UInt8(ascii: "(") {
                modes[modes.count - 1] = .code(depth + 1)
            } else if byte == UInt8(ascii: ")") {
                // The parenthesis ends the interpolation, or a pair inside it.
                if depth == 0 && modes.count > 1 {
                    modes.removeLast()
                } else {
                    modes[modes.count - 1] = .code(max(depth - 1, 0))
                }
            }
            code[index] = byte
            index += 1
        }
    }

    private func stringStart() -> (Mode, length: Int)? {
        var hashes = 0
        while sees("#", at: hashes) { hashes += 1 }
        if sees("\"\"\"", at: hashes) {
            return (.string(hashes: hashes, quotes: 3, quote: UInt8(ascii: "\"")), hashes + 3)
        }
        if sees("\"", at: hashes) {
            return (.string(hashes: hashes, quotes: 1, quote: UInt8(ascii: "\"")), hashes + 1)
        }
        if hashes > 0 && sees("/", at: hashes) {
            return (.string(hashes: hashes, quotes: 1, quote: UInt8(ascii: "/")), hashes + 1)
        }
        return nil
    }

    private mutating func takeString(hashes: Int, quotes: Int, quote: UInt8) {
        // Fast path: most bytes of a string neither end nor escape it.
        let byte = text[index]
        guard byte == quote || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\n") else {
            index += 1
            return
        }
        let escape = "\\" + String(repeating: "#", count: hashes)
        let mark = String(Unicode.Scalar(quote))
        let end =
            String(repeating: mark, count: quotes) + String(repeating: "#", count: hashes)
        if sees(escape + "(") {
            modes.append(.code(0))
            index += hashes + 2
        } else if sees(escape) {
            index += hashes + 2
        } else if sees(end) {
            modes.removeLast()
            index += quotes + hashes
        } else {
            // An unterminated single-line string does not compile; continue with code.
            if quotes == 1 && sees("\n") { modes.removeLast() }
            index += 1
        }
    }

    private mutating func takeLineComment() {
        if text[index] == UInt8(ascii: "\n") {
            modes.removeLast()
            index += 1
        } else {
            comment(1)
        }
    }

    private mutating func takeBlockComment() {
        if sees("/*") {
            modes.append(.blockComment)
            comment(2)
        } else if sees("*/") {
            modes.removeLast()
            comment(2)
        } else {
            comment(1)
        }
    }

    private mutating func comment(_ length: Int) {
        for _ in 0..<length where index < text.count {
            comments[index] = text[index]
            index += 1
        }
    }
}

enum Project {
    static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// All hand-written files: no build products and no hidden files.
    static func files() throws -> [SourceFile] {
        var files: [SourceFile] = []
        let top = try FileManager.default.contentsOfDirectory(atPath: root.path)
        for name in top.sorted() where !name.hasPrefix(".") {
            files += try load(name)
        }
        return files
    }

    private static func load(_ path: String) throws -> [SourceFile] {
        let url = root.appending(path: path)
        var isDirectory = ObjCBool(false)
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            return []
        }
        if isDirectory.boolValue {
            return try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
                .filter { !$0.hasPrefix(".") }
                .flatMap { try load(path + "/" + $0) }
        }
        // Skip pictures and other binary data.
        guard let text = String(bytes: try Data(contentsOf: url), encoding: .utf8) else {
            return []
        }
        return [SourceFile(path: path, text: text)]
    }
}
