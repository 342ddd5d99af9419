import Foundation
import Localization
import TestSupport
import Testing

@Suite("Catalogues") struct CatalogueTests {
    /// The programs with texts for the user.
    private static let speakers = [
        "Sources/Authors/AgentKit", "Sources/Programs/localauth-agent",
        "Sources/Programs/localauth-settings", "Sources/Programs/localauthctl",
    ]
    private static let calls = ["localized(", "localizedCount(", "marked("]

    /// The messages that `make messages` extracts from the sources.
    private func extracted() throws -> Catalogue {
        let said = try run("env", ["scripts/messages"])
        #expect(said.status == 0, "\(said.output)")
        return Catalogue(said.output)
    }

    @Test("Each call has a literal that xgettext finds, none inside another string")
    func literals() throws {
        let files = try Self.speakers.flatMap(Project.sources)
        let calls = try files.reduce(0) { count, file in
            let text = try Project.text(file)
            return count + Self.calls.reduce(0) { $0 + text.ranges(of: $1).count }
        }
        let said = try run(
            "xgettext",
            [
                "--language=Java", "--from-code=UTF-8", "--keyword", "--keyword=localized:1",
                "--keyword=localizedCount:1,2", "--keyword=marked:1", "--no-wrap", "--output=-",
            ] + files
        )
        let found = Catalogue(said.output).entries.reduce(0) { $0 + $1.references }
        #expect(calls > 100)
        #expect(found == calls)
    }

    @Test("po/localauth.pot has the messages of the sources: make messages")
    func template() throws {
        let template = Catalogue(try Project.text("po/localauth.pot"))
        #expect(try extracted().messages == template.messages)
    }

    @Test("L19: No message is missing, empty, fuzzy or obsolete", arguments: Catalogue.languages)
    func complete(language: String) throws {
        let messages = try extracted().messages
        let catalogue = Catalogue(try Project.text("po/\(language).po"))
        let translated = catalogue.messages
        #expect(messages.subtracting(translated).isEmpty)
        #expect(translated.subtracting(messages).isEmpty && !catalogue.hasObsolete)
        #expect(catalogue.entries.filter(\.isFuzzy).map(\.message).isEmpty)
        for entry in catalogue.entries {
            let forms = entry.plural == nil ? 1 : catalogue.forms
            #expect(entry.translations.count == forms, "\(entry.message)")
            #expect(!entry.translations.contains(""), "\(entry.message)")
        }
    }

    @Test("Messages say password, never passcode")
    func oneWord() throws {
        for message in try extracted().messages {
            let text = message.replacing("localauth-passcode", with: "")
                .replacing("biometrics-or-passcode", with: "")
            #expect(!text.lowercased().contains("passcode"), "\(message)")
        }
    }

    @Test("A translation has the placeholders of its message", arguments: Catalogue.languages)
    func places(language: String) throws {
        let catalogue = Catalogue(try Project.text("po/\(language).po"))
        for entry in catalogue.entries {
            let wanted = LocalizationTests.places(in: entry.plural ?? entry.message)
            for text in entry.translations {
                #expect(LocalizationTests.places(in: text) == wanted, "\(text)")
            }
        }
    }

    @Test("L19: Every desktop entry has its name and comment in every language")
    func desktopEntries() throws {
        func names(_ folder: String, _ suffix: String) throws -> [String] {
            let path = Project.root.appending(path: folder).path
            return try FileManager.default.contentsOfDirectory(atPath: path)
                .filter { $0.hasSuffix(suffix) }.sorted()
        }
        #expect(try names("po", ".po") == Catalogue.languages.map { "\($0).po" })
        let entries = try ["dbus/applications", "dbus/autostart"]
            .flatMap { folder in try names(folder, ".desktop").map { "\(folder)/\($0)" } }
        #expect(entries.count > 1)
        for entry in entries {
            let lines = try Project.text(entry).split(separator: "\n")
            for key in ["Name", "Comment"] {
                for wanted in [key] + Catalogue.languages.map({ "\(key)[\($0)]" }) {
                    let values = lines.filter { $0.hasPrefix("\(wanted)=") }
                        .map { $0.dropFirst(wanted.count + 1) }
                    #expect(values.count == 1 && values.first != "", "\(entry): \(wanted)")
                }
            }
        }
    }

    @Test("msgfmt reports no fault", arguments: Catalogue.languages)
    func checked(language: String) throws {
        let said = try run("msgfmt", ["--check", "--output-file=/dev/null", "po/\(language).po"])
        #expect(said.status == 0 && said.output.isEmpty, "\(said.output)")
    }
}
