import Testing

@testable import AgentKit

@Suite struct KeyReaderTests {
    private func keys(_ text: String) -> [KeyReader.Key] {
        var reader = KeyReader()
        return text.utf8.compactMap { reader.key($0) }
    }

    @Test("Characters pass through as UTF-8 bytes")
    func characters() {
        #expect(keys("aé") == [.byte(0x61), .byte(0xC3), .byte(0xA9)])
    }

    @Test("Cursor and function keys produce no bytes")
    func sequences() {
        #expect(keys("a\u{1B}[A\u{1B}[1;5C\u{1B}OPb") == [.byte(0x61), .byte(0x62)])
    }

    @Test("Alt with a letter is ignored")
    func alt() {
        #expect(keys("\u{1B}xy") == [.byte(0x79)])
    }

    @Test(
        "Ctrl-C cancels even in the middle of a sequence",
        arguments: ["\u{3}", "\u{4}", "\u{1C}"]
    )
    func cancel(key: String) {
        #expect(keys("\u{1B}[" + key) == [.cancel])
    }

    @Test("Enter, backspace and Ctrl-U are keys; other control characters are ignored")
    func editing() {
        #expect(
            keys("\r\n\u{8}\u{7F}\u{15}\u{1}\t") == [.enter, .enter, .erase, .erase, .eraseAll]
        )
    }
}
