/// A strict reader for the part of XML that introspection data uses.
///
/// There are no entity definitions, no processing instructions, no CDATA and no text: what an
/// introspection file doesn't need is refused. Everything is bounded, so that no input costs more
/// than its size.
struct XMLReader {
    static let maximumSize = 1 << 20
    static let maximumDepth = 16
    static let maximumElements = 10_000
    static let maximumAttributes = 16
    static let maximumValue = 16 << 10

    let file: String
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var elements = 0

    /// Reads a whole document and gives its root.
    static func document(_ bytes: [UInt8], file: String) throws(SourceError) -> XMLElement {
        guard bytes.count <= maximumSize else {
            throw SourceError(file: file, line: 1, "the file is larger than \(maximumSize) bytes")
        }
        var reader = XMLReader(file: file, bytes: bytes)
        try reader.checkCharacters()
        try reader.prologue()
        guard reader.skip("<") else { throw reader.error("the root element is missing") }
        let root = try reader.element(depth: 1)
        try reader.misc()
        guard reader.peek == nil else { throw reader.error("something follows the root element") }
        return root
    }

    private init(file: String, bytes: [UInt8]) {
        self.file = file
        self.bytes = bytes
    }
}

// MARK: - Structure

extension XMLReader {
    private mutating func prologue() throws(SourceError) {
        if skip("<?xml") { try declaration() }
        try misc()
        guard skip("<!DOCTYPE") else { return }
        try documentType()
        try misc()
    }

    private mutating func declaration() throws(SourceError) {
        var attributes: [XMLElement.Attribute] = []
        while try attribute(into: &attributes) {}
        guard skip("?>") else { throw error("the XML declaration doesn't end with '?>'") }
        for attribute in attributes {
            switch (attribute.name, attribute.value) {
            case ("version", "1.0"), ("encoding", "UTF-8"), ("encoding", "utf-8"),
                ("standalone", "yes"), ("standalone", "no"):
                continue
            default:
                throw error("the XML declaration has '\(attribute.name)=\"\(attribute.value)\"'")
            }
        }
        guard attributes.first?.name == "version" else {
            throw error("the XML declaration has no version")
        }
    }

    /// Only a name and an external identifier, which is never fetched.
    private mutating func documentType() throws(SourceError) {
        guard skipSpace() else { throw error("a space is missing after '<!DOCTYPE'") }
        _ = try name()
        var literals = 0
        if skipSpace() {
            if skip("PUBLIC") { literals = 2 } else if skip("SYSTEM") { literals = 1 }
        }
        for _ in 0..<literals {
            guard skipSpace(), let quote = peek, isQuote(quote) else {
                throw error("a quoted identifier is missing in the DOCTYPE")
            }
            position += 1
            while let byte = peek, byte != quote { advance(byte) }
            guard peek == quote else { throw error("the DOCTYPE doesn't end") }
            position += 1
        }
        _ = skipSpace()
        guard peek != UInt8(ascii: "[") else {
            throw error("a DOCTYPE with declarations is refused")
        }
        guard skip(">") else { throw error("the DOCTYPE doesn't end with '>'") }
    }

    /// Spaces and comments.
    private mutating func misc() throws(SourceError) {
        while true {
            if skipSpace() { continue }
            guard skip("<!--") else { return }
            try comment()
        }
    }

    private mutating func comment() throws(SourceError) {
        let start = line
        while let byte = peek {
            guard skip("--") else {
                advance(byte)
                continue
            }
            guard skip(">") else { throw error("'--' inside a comment") }
            return
        }
        throw SourceError(file: file, line: start, "the comment doesn't end")
    }

    /// Reads from behind the `<` of a start tag to the end of the element.
    ///
    /// Recursion is bounded by `maximumDepth`.
    private mutating func element(depth: Int) throws(SourceError) -> XMLElement {
        elements += 1
        guard depth <= Self.maximumDepth else {
            throw error("elements are more than \(Self.maximumDepth) deep")
        }
        guard elements <= Self.maximumElements else {
            throw error("there are more than \(Self.maximumElements) elements")
        }
        let start = line
        let elementName = try name()
        var result = XMLElement(name: elementName, line: start)
        while try attribute(into: &result.attributes) {}
        if skip("/>") { return result }
        guard skip(">") else { throw error("the tag <\(elementName)> doesn't end with '>'") }
        while true {
            try misc()
            if skip("</") {
                let end = try name()
                guard end == elementName else {
                    throw error("</\(end)> ends <\(elementName)> of line \(start)")
                }
                _ = skipSpace()
                guard skip(">") else { throw error("the tag </\(end)> doesn't end with '>'") }
                return result
            }
            guard peek != nil else {
                throw SourceError(
                    file: file,
                    line: start,
                    "the element <\(elementName)> doesn't end"
                )
            }
            guard skip("<") else { throw error("text inside <\(elementName)>") }
            result.children.append(try element(depth: depth + 1))
        }
    }

    /// Reads one attribute with the space in front of it; false where none follows.
    private mutating func attribute(
        into attributes: inout [XMLElement.Attribute]
    )
        throws(SourceError) -> Bool
    {
        let hasSpace = skipSpace()
        guard let byte = peek, isNameStart(byte) else { return false }
        guard hasSpace else { throw error("a space is missing in front of an attribute") }
        let attributeName = try name()
        guard !attributes.contains(where: { $0.name == attributeName }) else {
            throw error("the attribute '\(attributeName)' is there twice")
        }
        guard attributes.count < Self.maximumAttributes else {
            throw error("an element has more than \(Self.maximumAttributes) attributes")
        }
        _ = skipSpace()
        guard skip("=") else { throw error("the attribute '\(attributeName)' has no value") }
        _ = skipSpace()
        attributes.append(.init(name: attributeName, value: try value(of: attributeName)))
        return true
    }
}

// MARK: - Text

extension XMLReader {
    /// Reads a quoted value.
    ///
    /// Line ends are kept, although XML would turn them into spaces: they separate the paragraphs
    /// of a doc comment.
    private mutating func value(of attribute: String) throws(SourceError) -> String {
        guard let quote = peek, isQuote(quote) else {
            throw error("the value of '\(attribute)' is not quoted")
        }
        let start = line
        position += 1
        var text: [UInt8] = []
        while let byte = peek, byte != quote {
            guard text.count < Self.maximumValue else {
                throw error("the value of '\(attribute)' is over \(Self.maximumValue) bytes")
            }
            switch byte {
            case UInt8(ascii: "<"): throw error("'<' in the value of '\(attribute)'")
            case UInt8(ascii: "&"): text.append(contentsOf: String(try reference()).utf8)
            default:
                text.append(byte)
                advance(byte)
            }
        }
        guard peek == quote else {
            throw SourceError(file: file, line: start, "the value of '\(attribute)' doesn't end")
        }
        position += 1
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func reference() throws(SourceError) -> Unicode.Scalar {
        let longest = 12
        position += 1
        let window = bytes[position..<min(position + longest, bytes.count)]
        guard let end = window.firstIndex(of: UInt8(ascii: ";")) else {
            throw error("an '&' without its ';'")
        }
        let text = String(decoding: bytes[position..<end], as: UTF8.self)
        position = end + 1
        switch text {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard text.first == "#", let scalar = numericReference(text.dropFirst()) else {
                throw error("the entity '&\(text);' is unknown")
            }
            return scalar
        }
    }

    private func numericReference(_ text: Substring) -> Unicode.Scalar? {
        let isHexadecimal = text.first == "x"
        let digits = isHexadecimal ? text.dropFirst() : text
        // The number parser accepts a sign, XML doesn't.
        guard digits.allSatisfy(\.isHexDigit),
            let number = UInt32(digits, radix: isHexadecimal ? 16 : 10),
            let scalar = Unicode.Scalar(number), isCharacter(scalar)
        else { return nil }
        return scalar
    }

    private mutating func name() throws(SourceError) -> String {
        let start = position
        guard let first = peek, isNameStart(first) else { throw error("a name is missing") }
        while let byte = peek, isNamePart(byte) { position += 1 }
        guard position - start <= Names.maximumLength else { throw error("a name is too long") }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func checkCharacters() throws(SourceError) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw error("the file is not UTF-8")
        }
        var current = 1
        for scalar in text.unicodeScalars {
            guard isCharacter(scalar) else {
                throw SourceError(file: file, line: current, "a control character")
            }
            if scalar == "\n" { current += 1 }
        }
    }
}

// MARK: - Bytes

extension XMLReader {
    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func advance(_ byte: UInt8) {
        position += 1
        if byte == UInt8(ascii: "\n") { line += 1 }
    }

    /// Goes behind a text without line ends if it is next.
    private mutating func skip(_ text: StaticString) -> Bool {
        let end = position + text.utf8CodeUnitCount
        guard end <= bytes.count,
            text.withUTF8Buffer({ $0.elementsEqual(bytes[position..<end]) })
        else { return false }
        position = end
        return true
    }

    private mutating func skipSpace() -> Bool {
        let start = position
        while let byte = peek, isSpace(byte) { advance(byte) }
        return position > start
    }

    private func error(_ message: String) -> SourceError {
        SourceError(file: file, line: line, message)
    }
}

private func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
}

private func isQuote(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
}

private func isNameStart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "_"), UInt8(ascii: ":"): true
    default: false
    }
}

private func isNamePart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: isNameStart(byte)
    }
}

private func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
    default: false
    }
}
