/// A parsed file of messages, as translators edit it.
struct Catalogue {
    struct Entry {
        var message = ""
        var plural: String?
        var translations: [String] = []
        var isFuzzy = false
        /// The number of calls that use the message.
        var references = 0
    }

    static let languages = ["de", "zh_CN"]

    /// All entries except the header.
    let entries: [Entry]
    /// The number of plural forms.
    let forms: Int
    /// Whether the file keeps translations of deleted messages.
    let hasObsolete: Bool

    init(_ text: String) {
        let blocks = text.split(separator: "\n\n").map { Self.entry(String($0)) }
        entries = blocks.filter { !$0.message.isEmpty }
        let header = blocks.first { $0.message.isEmpty }?.translations.first ?? ""
        forms =
            header.firstRange(of: "nplurals=")
            .flatMap { header[$0.upperBound...].first?.wholeNumberValue } ?? 0
        hasObsolete = text.contains("\n#~")
    }

    var messages: Set<String> { Set(entries.map(\.message)) }

    private static func entry(_ block: String) -> Entry {
        var entry = Entry()
        var field = ""
        for line in block.split(separator: "\n") {
            if line.hasPrefix("#,") && line.contains("fuzzy") { entry.isFuzzy = true }
            if line.hasPrefix("#:") { entry.references += line.split(separator: " ").count - 1 }
            guard !line.hasPrefix("#"), let start = line.firstIndex(of: "\"") else { continue }
            if start > line.startIndex { field = String(line[..<start].dropLast()) }
            let value = unquoted(line[start...].dropFirst().dropLast())
            switch field {
            case "msgid": entry.message += value
            case "msgid_plural": entry.plural = (entry.plural ?? "") + value
            default:
                if start > line.startIndex { entry.translations.append("") }
                entry.translations[entry.translations.count - 1] += value
            }
        }
        return entry
    }

    private static func unquoted(_ text: Substring) -> String {
        var result = ""
        var isEscaped = false
        for character in text {
            if isEscaped {
                result.append(character == "n" ? "\n" : character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                result.append(character)
            }
        }
        return result
    }
}

/// The argument placeholders of a text, in ascending order.
func places(in text: String) -> [String] {
    text.ranges(of: "%")
        .map { String(text[$0.lowerBound...].prefix(4)) }
        .filter { $0.hasSuffix("$s") }.sorted()
}
