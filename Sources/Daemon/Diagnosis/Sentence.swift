/// An English sentence that keeps its values apart, for clients that translate it.
struct Sentence: Hashable, Sendable, ExpressibleByStringInterpolation {
    fileprivate enum Part: Hashable {
        case words(String)
        case value(String)
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { parts.append(.words(literal)) }

        mutating func appendInterpolation(_ value: some Any) { parts.append(.value("\(value)")) }
    }

    private var parts: [Part]

    init(stringLiteral words: String) { parts = [.words(words)] }

    init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

    /// Makes a sentence of a text that another part of the service wrote.
    init(quoting text: String) { parts = [.value(text)] }

    static func + (first: Self, second: Self) -> Self {
        var sum = first
        sum.parts += second.parts
        return sum
    }

    /// The whole sentence.
    var text: String {
        parts.map { part in
            switch part {
            case .words(let text), .value(let text): text
            }
        }
        .joined()
    }

    /// The sentence with `%1$s`, `%2$s` … in place of its values, as the catalogues have it.
    var format: String {
        var count = 0
        return
            parts.map { part -> String in
                guard case .words(let words) = part else {
                    count += 1
                    return "%\(count)$s"
                }
                return words
            }
            .joined()
    }

    var values: [String] {
        parts.compactMap { part in
            if case .value(let text) = part { text } else { nil }
        }
    }
}
