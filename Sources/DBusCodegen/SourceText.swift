/// Swift source under construction, laid out as swift-format leaves it.
struct SourceText {
    static let width = 100
    static let indentation = 4

    private(set) var text = ""
    private var depth = 0

    /// Adds one line at the current depth; an empty one without spaces.
    mutating func line(_ content: String = "") {
        if !content.isEmpty { text += margin }
        text += content + "\n"
    }

    /// Adds a head and what follows it, on a line of its own where one line is too short for both.
    mutating func choice(_ head: String, _ rest: String) {
        let whole = head + " " + rest
        guard margin.count + whole.count > Self.width else { return line(whole) }
        line(head)
        indented { $0.line(rest) }
    }

    /// Adds `head {`, the body one deeper, and `}`.
    mutating func block(_ head: String, _ body: (inout SourceText) -> Void) {
        line(head + " {")
        indented(body)
        line("}")
    }

    /// Adds lines one deeper.
    mutating func indented(_ body: (inout SourceText) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }

    /// Adds a list on one line where it fits, else with an item to a line.
    ///
    /// A trailing comma is what swift-format wants in a literal and leaves out of a call.
    mutating func list(
        _ head: String,
        _ items: [String],
        _ tail: String,
        trailingComma: Bool = false
    ) {
        let whole = head + items.joined(separator: ", ") + tail
        guard margin.count + whole.count > Self.width, !items.isEmpty else { return line(whole) }
        line(head)
        indented { source in
            for (index, item) in items.enumerated() {
                let isLast = index == items.count - 1
                source.line(isLast ? item : item + ",")
            }
        }
        line(tail)
    }

    /// Adds a parameter that is a closure, its type below its name where it takes several lines.
    mutating func closure(_ label: String, _ head: String, _ items: [String], _ tail: String) {
        let whole = "\(label) \(head)\(items.joined(separator: ", "))\(tail)"
        guard margin.count + whole.count > Self.width else { return line(whole) }
        line(label)
        indented { $0.list(head, items, tail) }
    }

    /// Adds a doc comment: the first sentence alone, then the rest.
    mutating func doc(_ text: String, arguments: [(name: String, doc: String)] = []) {
        var paragraphs = text.split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        let brief = summary(text)
        if let first = paragraphs.first, first != brief {
            let rest = first.dropFirst(brief.count).drop { $0 == " " }
            paragraphs.replaceSubrange(0..<1, with: [brief, "", String(rest)])
        }
        if !arguments.isEmpty { paragraphs.append("") }
        for argument in arguments {
            paragraphs.append("- `\(argument.name)`: \(argument.doc.replacing("\n", with: " "))")
        }
        for paragraph in paragraphs { comment(paragraph) }
    }

    private mutating func comment(_ paragraph: String) {
        let hanging = paragraph.hasPrefix("- ") ? "  " : ""
        var current = "///"
        for word in paragraph.split(separator: " ") {
            if margin.count + current.count + 1 + word.count > Self.width {
                line(current)
                current = "///" + hanging
            }
            current += " " + word
        }
        line(current)
    }

    private var margin: String { String(repeating: " ", count: depth * Self.indentation) }
}

/// The first sentence of a doc, or its first paragraph if that ends before.
func summary(_ text: String) -> String {
    let first = text.prefix { $0 != "\n" }
    let ends = zip(first.indices, first.indices.dropFirst())
    for (index, next) in ends where ".!?".contains(first[index]) && first[next] == " " {
        return String(first[...index])
    }
    return String(first)
}
