import Localization
import Testing

/// The service speaks English; `localauthctl` knows its sentences.
@Suite("Sentences of the service") struct ServiceSentenceTests {
    private static let sources = [
        "Sources/AuthEngine/Messages.swift", "Sources/AuthService/Diagnosis/Diagnosis.swift",
        "Sources/AuthService/Diagnosis/Diagnosis+Sensors.swift",
    ]
    /// Names, and parts that only ever stand in a longer sentence of the list.
    private static let parts: Set<String> = [
        "sensor %1$s", "%1$s is %2$s: %3$s", "%1$s template%2$s",
        "You have %1$s on usable sensors.", "Wait until %1$s, then give",
        " your passcode: localauthctl evaluate --policy 2.",
    ]

    /// A name, an order to SQLite, and what stands before the kernel's own sentence.
    private static let keychainParts: Set<String> = [
        "SHA-256 digest", "PRAGMA secure_delete = ON", "It can't be opened",
    ]

    @Test("Each sentence of the service has a translation", arguments: sources)
    func known(file: String) throws {
        let messages = Catalogue(try Project.text("po/localauth.pot")).messages
        let sentences = literals(in: try Project.text(file)).filter { $0.contains(" ") }
        #expect(sentences.count > 10)
        for sentence in sentences where !Self.parts.contains(sentence) {
            #expect(messages.contains(sentence), "translate it in localauthctl: \(sentence)")
        }
    }

    @Test(
        "Each refusal of the keychain has a translation",
        arguments: [
            "KeychainStore/Anchor", "KeychainStore/Attributes", "KeychainStore/Envelope",
            "KeychainStore/KeychainError", "KeychainStore/KeychainStore",
            "KeychainStore/KeychainStore+Items", "KeychainStore/KeychainStore+Keys",
            "KeychainStore/KeychainStore+Opening", "KeychainStore/PrivateKey",
            "KeychainStore/Query", "AuthService/Objects/KeychainObject",
            "AuthService/Keychain/KeychainObject+Callers", "AuthEngine/AccessControl",
        ]
    )
    func refusals(file: String) throws {
        let messages = Catalogue(try Project.text("po/localauth.pot")).messages
        // A sentence of two lines is one sentence.
        let source = try Project.text("Sources/\(file).swift")
            .replacing(/"\s*\+ "/, with: "")
        let sentences = literals(in: source)
            .filter { $0.contains(" ") && !$0.hasPrefix("org.localauth.") }
        #expect(!sentences.isEmpty)
        for sentence in sentences where !Self.keychainParts.contains(sentence) {
            #expect(messages.contains(sentence), "translate it in localauthctl: \(sentence)")
        }
    }

    @Test("Arguments are found by what stands around them")
    func arguments() {
        let pattern = "%1$s can't be used: %2$s."
        let found = Localization.arguments(of: "Face can't be used: failed.", in: pattern)
        #expect(found == ["Face", "failed"])
        #expect(Localization.arguments(of: "Face can be used.", in: pattern) == nil)
        #expect(Localization.arguments(of: " can't be used: .", in: pattern) == nil)
        #expect(
            Localization.arguments(of: "Wait until 10:30.", in: "Wait until %1$s.") == ["10:30"]
        )
        #expect(Localization.arguments(of: "12 seconds", in: "%1$s seconds") == ["12"])
        #expect(Localization.arguments(of: "Fine.", in: "Fine.") == nil)
    }

    /// The string literals of a source file, with `%1$s` … where values are put in.
    private func literals(in source: String) -> [String] {
        var found: [String] = []
        for line in source.split(separator: "\n") {
            guard !line.drop(while: { $0 == " " }).hasPrefix("//") else { continue }
            var rest = line[...]
            while let start = rest.firstIndex(of: "\"") {
                rest = rest[start...].dropFirst()
                found.append(literal(&rest))
            }
        }
        return found
    }

    /// Reads up to the closing quote.
    private func literal(_ rest: inout Substring) -> String {
        var text = ""
        var count = 0
        while let character = rest.popFirst(), character != "\"" {
            guard character == "\\", rest.popFirst() == "(" else {
                text.append(character)
                continue
            }
            count += 1
            text += "%\(count)$s"
            var depth = 1
            while depth > 0, let inner = rest.popFirst() {
                if inner == "(" { depth += 1 }
                if inner == ")" { depth -= 1 }
            }
        }
        return text
    }
}
