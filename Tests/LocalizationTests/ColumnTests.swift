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

    @Test("Arguments go into their places, whatever they contain")
    func arguments() {
        #expect(filled("%2$s of %1$s, 100 %", ["%2$s", "one"]) == "one of %2$s, 100 %")
        #expect(filled("%3$s %", ["a"]) == "%3$s %")
    }
}
