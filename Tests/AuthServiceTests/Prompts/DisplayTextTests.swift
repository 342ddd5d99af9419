import Contract
import DBus
import Testing

@testable import AuthService

@Suite("Text for prompts")
struct DisplayTextTests {
    @Test(
        "L14: control and bidirectional characters are removed, other text is unchanged"
    )
    func stripping() {
        let hostile =
            "pay \u{202E}\u{2066}\u{1B}[31m\u{07}<b>30</b>\n euros\u{2069}\u{85}\u{7F}\u{200F}"
        #expect(DisplayText.cleaned(hostile, limit: 512) == "pay [31m<b>30</b> euros")
        let ranges: [ClosedRange<UInt32>] = [
            0...0x1F, 0x7F...0x9F, 0x61C...0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069,
        ]
        for scalar in ranges.joined().compactMap(Unicode.Scalar.init) {
            let text = "a\(Character(scalar))b"
            #expect(DisplayText.cleaned(text, limit: 512) == "ab", "\(scalar.value)")
        }
    }

    @Test("L14: text is cut at its limit, counted in Unicode scalars")
    func cutting() {
        #expect(DisplayText.cleaned(String(repeating: "ä", count: 600), limit: 512).count == 512)
        let accents = String(repeating: "e\u{301}", count: 600)
        #expect(DisplayText.cleaned(accents, limit: 511).unicodeScalars.count == 511)
    }

    @Test(
        "L35: invisible characters and more than two combining marks are removed",
        arguments: [
            ("a\u{200B}\u{FEFF}\u{2028}\u{2029}\u{E0041}\u{3164}\u{115F}\u{FE0F}b", "ab"),
            ("e\u{301}\u{302}\u{303}\u{200D}\u{20DD}x\u{304}", "e\u{301}\u{302}x\u{304}"),
            ("\u{301}a", "a"), ("\u{2800}\u{A0}\u{301}\u{3000}", ""), (" \u{903} a", " \u{903} a"),
        ]
    )
    func invisible(_ text: String, _ shown: String) {
        let cleaned = DisplayText.cleaned(text, limit: 512)
        #expect(cleaned.unicodeScalars.elementsEqual(shown.unicodeScalars), "\(cleaned)")
    }

    @Test(
        "R20: a reason that cleaning empties counts as empty",
        arguments: [
            "", " ", "\t\n", "\u{202E}\u{07}\u{1B}", "\u{200B} \u{FEFF}", "\u{2800}\u{301}",
        ]
    )
    func blank(_ text: String) {
        let error = #expect(throws: DBusError.self) { try Checked.reason(text) }
        #expect(error?.name == .invalidArgs)
    }

    @Test("R20: a reason with one letter is valid")
    func notBlank() throws {
        #expect(try Checked.reason(" x ") == " x ")
    }

    @Test("R20: a reason over 64 KiB is malformed, a reason of 64 KiB is cut for display")
    func bounded() throws {
        let error = #expect(throws: DBusError.self) {
            try Checked.reason(String(repeating: "x", count: 65_537))
        }
        #expect(error?.name == .invalidArgs)
        #expect(try Checked.reason(String(repeating: "x", count: 65_536)).count == 512)
    }
}
