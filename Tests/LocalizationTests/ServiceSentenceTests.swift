import Localization
import TestSupport
import Testing

/// Checks the translation of the service's English sentences by `localauthctl`.
@Suite("The service's sentences") struct ServiceSentenceTests {
    @Test(
        "The service's sentences are extracted from its sources, with placeholders",
        arguments: [
            // An error's second argument, two literals, a choice between literals, a whole file.
            "The item needs its application password.",
            "The items that were found have more than %1$s bytes of attributes: narrow the query, "
                + "by service or account.",
            "the attribute %1$s is set by the keychain", "there is no attribute %1$s",
            "The password is required before biometry after a restart or a logout.",
            "After too many wrong passwords, you cannot enter a password for %1$s, until %2$s.",
            // Texts of sensors that the service passes on.
            "The face models are missing in %1$s. %2$s", "No fingerprint reader is connected.",
            "The device is in use by %1$s.",
            "The security key asks for its PIN, and the prompt cannot take the PIN of a key. "
                + "Enrol a key without a PIN, or a key with a fingerprint reader.",
            "A credential can't be read or kept in %1$s: %2$s",
        ]
    )
    func extracted(sentence: String) throws {
        let template = Catalogue(try Project.text("po/localauth.pot"))
        #expect(template.messages.contains(sentence))
    }

    @Test("No sentence of the service has an interpolation left")
    func places() throws {
        let template = Catalogue(try Project.text("po/localauth.pot"))
        #expect(!template.messages.contains { $0.contains("\\") })
    }

    @Test("localauthctl has the patterns of the service's sentences: make messages")
    func patterns() throws {
        let said = try run("env", ["scripts/messages", "patterns"])
        #expect(said.status == 0)
        let path = "Sources/Authors/AgentKit/Words/ServicePatterns.swift"
        #expect(said.output == (try Project.text(path)))
    }

    @Test("The reasons that prompts translate are the reasons that the service gives")
    func reasons() throws {
        let prompts = try Project.text("Sources/Authors/AgentKit/Words/PromptText.swift")
        let service = try Project.sources("Sources/Daemon").map(Project.text).joined()
        let reasons = prompts.matches(of: /marked\("([^"]+)"\)/).map(\.output.1)
        #expect(reasons.count == 3)
        for part in reasons.flatMap({ $0.split(separator: "%1$s") }) {
            #expect(service.contains(part), "\(part)")
        }
    }

    @Test("Arguments are found by the fixed text around them")
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
}
