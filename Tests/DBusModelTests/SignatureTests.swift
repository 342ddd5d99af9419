import DBusModel
import Testing

@Suite("Signatures")
struct SignatureTests {
    @Test(
        "A valid signature is read as the types that it names",
        arguments: ["", "u", "bis", "a{sv}", "aa{sv}", "a(ssx)", "a{s(ia{uv})}", "ybnqiuxtdsoghv"]
    )
    func valid(_ text: String) throws {
        #expect(try SignatureType.list(text).map(\.text).joined() == text)
    }

    @Test(
        "What D-Bus forbids is refused",
        arguments: [
            "z", "a", "aaa", "(", ")", "()", "(i", "i)", "a{", "a{s", "a{sv", "a{s}", "a{svi}",
            "a{vs}", "a{(i)s}", "a{ass}", "{sv}", "a()", "u ", "é", "u\u{301}", "\0",
        ]
    )
    func invalid(_ text: String) {
        #expect(throws: SignatureError.self) { try SignatureType.list(text) }
    }

    @Test("A type is exactly one complete type", arguments: ["", "us", "a{sv}u"])
    func single(_ text: String) {
        #expect(throws: SignatureError.self) { try SignatureType(text) }
    }

    @Test("255 bytes are read, 256 are refused")
    func length() throws {
        #expect(try SignatureType.list(String(repeating: "u", count: 255)).count == 255)
        #expect(throws: SignatureError.self) {
            try SignatureType.list(String(repeating: "u", count: 256))
        }
    }

    @Test("32 arrays and 32 structures deep are read, 33 are refused")
    func depth() throws {
        func arrays(_ depth: Int) -> String { String(repeating: "a", count: depth) + "u" }
        func structures(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + "u" + String(repeating: ")", count: depth)
        }
        func dictionaries(_ depth: Int) -> String {
            String(repeating: "a{s", count: depth) + "u" + String(repeating: "}", count: depth)
        }
        for make in [arrays, structures, dictionaries] {
            #expect(try SignatureType(make(32)).text == make(32))
            #expect(throws: SignatureError.self) { try SignatureType(make(33)) }
        }
        #expect(
            try SignatureType(String(repeating: "a", count: 32) + structures(32)).text.count == 97
        )
    }
}
