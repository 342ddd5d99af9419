import Foundation
import Testing

@testable import AuthService

/// Compares localauth.conf(5) and localauth-sensors(5) with the parser.
struct ConfigurationPageTests {
    /// A key of a manual page, with its text.
    private struct Entry {
        let section: String
        let key: String
        let text: String

        /// The default value that the page states.
        var value: String? {
            text.firstMatch(of: /The default is ([a-z0-9]+)\b/).map { String($0.1) }
        }
    }

    /// Returns the keys of a page, with texts without macros.
    private static func entries(of page: String) throws -> [Entry] {
        let file = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "docs/man/\(page)")
        var entries: [Entry] = []
        var section = ""
        var shared = ""
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix(".Sh ") { section = "" }
            if let name = line.wholeMatch(of: /\.Ss \[(\w+)\]/)?.1 {
                (section, shared) = (String(name), "")
            } else if section.isEmpty {
                continue
            } else if let key = line.wholeMatch(of: /\.It Cm (\w+)/)?.1 {
                entries.append(Entry(section: section, key: String(key), text: shared))
            } else if let last = entries.last, last.section == section {
                let words = line.replacing(/^\.(Cm|Li|Pp|El)\b ?/, with: "")
                let entry = Entry(section: section, key: last.key, text: "\(last.text) \(words)")
                entries[entries.count - 1] = entry
            } else {
                shared += " \(line)"
            }
        }
        return entries
    }

    private static func described(_ name: SettingsFile.Name) -> String {
        "[\(name.section)] \(name.word)"
    }

    @Test("localauth.conf(5) lists exactly the parser's keys, each in its section")
    func keys() throws {
        let entries = try Self.entries(of: "localauth.conf.5")
        let described = entries.map { "[\($0.section)] \($0.key)" }
        #expect(
            described.sorted() == Configuration.Key.all.map { Self.described($0.name) }.sorted()
        )
    }

    @Test("localauth.conf(5) states the range and the default of each key")
    func ranges() throws {
        let entries = try Self.entries(of: "localauth.conf.5")
        for key in Configuration.Key.all {
            let entry = entries.first { $0.section == key.name.section && $0.key == key.name.word }
            let text = try #require(entry?.text)
            if let range = key.range.wholeMatch(of: /a whole number from (\d+) to (\d+)/) {
                let said = text.firstMatch(of: /[Ff]rom (\d+) to (\d+)/)
                #expect(said?.1 == range.1 && said?.2 == range.2, "\(key.name): \(text)")
            } else if !key.range.contains(" of ") {
                for word in key.range.split(separator: ", ") {
                    #expect(text.contains(" \(word)"), "\(key.name): \(word)")
                }
            }
            let value = try #require(entry?.value, "\(key.name)")
            var configuration = Configuration()
            let isSet = key.set(value == "none" ? "" : value, &configuration)
            // The default of this key depends on the bus, so it is unset here.
            configuration.passcodeAfterBoot = nil
            #expect(isSet && configuration == Configuration(), "\(key.name): \(value)")
        }
    }

    @Test("localauth-sensors(5) lists exactly the keys of a sensor description")
    func sensors() throws {
        let entries = try Self.entries(of: "localauth-sensors.5")
        let described = entries.map { "[\($0.section)] \($0.key)" }
        #expect(described == SensorDescriptions.keys.map(Self.described))
        #expect(entries.map(\.value) == ["root", "convenience"])
    }
}
