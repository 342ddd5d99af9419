import Localization
import Testing

@Suite("Text on a terminal") struct ColumnTests {
    @Test(
        "Chinese characters take two columns, marks none",
        arguments: [("", 0), ("sensor", 6), ("Gerät", 5), ("传感器", 6), ("e\u{301}", 1), ("“a”", 3)]
    )
    func width(text: String, expected: Int) {
        #expect(columns(of: text) == expected)
        #expect(columns(of: padded(text, to: 8)) == 8)
    }

    @Test(
        "Text is broken between words, beside wide characters, and in words that fit nowhere",
        arguments: [
            ("one two three", 80, "one two three"), ("one two three", 7, "one two\n  three"),
            ("one two three", 8, "one two\n  three"), ("传感器不可用。", 8, "传感器不\n  可用。"),
            ("传感器。", 6, "传感\n  器。"), ("a abcdefghij", 6, "a\n  abcd\n  efgh\n  ij"),
            ("“a” b", 3, "“a”\n  b"), ("", 4, ""),
        ]
    )
    func wrapping(text: String, width: Int, expected: String) {
        #expect(wrapped(text, to: width, indent: 2) == expected)
    }

    @Test("Wrapping loses no text")
    func whole() {
        let text = "Type your password, or 触摸指纹传感器，“Hold your palm over the reader” (Palm)."
        for width in 1...80 {
            let lines = wrapped(text, to: width)
            let widths = lines.split(separator: "\n").map { columns(of: String($0)) }
            #expect(widths.allSatisfy { $0 <= max(2, width) })
            #expect(lines.filter { !$0.isWhitespace } == text.filter { !$0.isWhitespace })
        }
    }

    @Test("Arguments fill their placeholders, whatever they contain")
    func arguments() {
        #expect(filled("%2$s of %1$s, 100 %", ["%2$s", "one"]) == "one of %2$s, 100 %")
        #expect(filled("%3$s %", ["a"]) == "%3$s %")
    }
}
