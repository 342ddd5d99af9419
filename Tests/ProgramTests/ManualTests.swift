import Foundation
import TestSupport
import Testing

/// The manual pages match the programs.
@Suite("Manual pages", .timeLimit(.minutes(10)))
struct ManualTests {
    private static let folder = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "docs/man").path
    private static let services = [
        "localauth-agent.1", "localauthd.8", "localauth-passcode.8", "localauth-passkey.1",
        "localauth-sensor-face.1",
        "localauth-sensor-fido2.1", "localauth-sensor-fingerprint.1",
        "localauth-sensor-simulated.1", "localauth-settings.1",
    ]
    /// An address without a bus.
    private static let nowhere = ["--bus", "unix:path=/nowhere/bus"]

    private static func page(_ file: String) throws -> ManualPage {
        try ManualPage(path: "\(folder)/\(file)")
    }

    private static func run(_ words: [String]) async throws -> ChildProcess.Ended {
        try await ChildProcess(words, mergesErrors: true).ended(within: .seconds(60))
    }

    /// The options in a help text, each at the start of a line.
    private static func options(inHelp text: String) -> Set<String> {
        Set(
            text.split(separator: "\n")
                .compactMap { $0.firstMatch(of: /^ +(?:-[a-z], )?--([a-z0-9-]+)/) }
                .map { String($0.1) }
        )
    }

    @Test("Every installed program has a page, and every page has a program")
    func programs() async throws {
        let files = try await Installation("install", "install-simulated").files()
        let programs = files.filter { $0.hasPrefix("usr/bin/") || $0.contains("/libexec/") }
            .map { $0.split(separator: "/").last ?? "" }
        let pages = files.compactMap { $0.wholeMatch(of: /usr\/share\/man\/man[18]\/(.+)\.[18]/) }
            .map(\.1)
            // A PAM module is no program.
            .filter { !$0.hasPrefix("pam_") }
        #expect(programs.count > 5)
        #expect(programs.sorted() == pages.sorted())
    }

    @Test(
        "A service's page lists exactly the options of its help",
        arguments: services + ["localauth-sensor-check.1"]
    )
    func options(_ file: String) async throws {
        let page = try Self.page(file)
        let help = try await Self.run([String(file.dropLast(2)), "--help"])
        let options = Self.options(inHelp: help.output)
        #expect(options.count > 2)
        let described = page.items("DESCRIPTION").map { ManualPage.options($0.head) }
        #expect(described.reduce([]) { $0.union($1) } == options)
        #expect(ManualPage.options(page.section("SYNOPSIS").joined(separator: " ")) == options)
    }

    @Test("A service's page lists exactly its exit statuses", arguments: services)
    func statuses(_ file: String) async throws {
        let program = String(file.dropLast(2))
        var statuses: Set<Int32> = []
        for words in [["--help"], ["--no-such-option"], Self.nowhere] {
            statuses.insert(try await Self.run([program] + words).status)
        }
        #expect(try Self.page(file).statuses == statuses)
    }

    @Test("The page of localauth-sensor-check lists its exit statuses except success")
    func checkStatuses() async throws {
        var statuses: Set<Int32> = []
        for words in [["--help"], ["--no-such-option"], ["/nowhere/sensor"]] {
            statuses.insert(try await Self.run(["localauth-sensor-check"] + words).status)
        }
        #expect(try Self.page("localauth-sensor-check.1").statuses == statuses)
    }

    private static func verbs(inHelp text: String) -> [String] {
        guard let list = text.firstRange(of: "SUBCOMMANDS:\n") else { return [] }
        return text[list.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
            .prefix { !$0.isEmpty }
            .compactMap { $0.firstMatch(of: /^  ([a-z-]+)/) }
            .map { String($0.1) }
    }

    /// The words that stand for several options in the page's synopses.
    private static func groups(_ page: ManualPage) -> [String: Set<String>] {
        var groups: [String: Set<String>] = [:]
        var group: String?
        for line in page.section("KEYCHAIN") {
            if let name = line.wholeMatch(of: /\.Ar (attributes|asking)/)?.1 {
                group = String(name)
            } else if line.hasPrefix(".Ar ") || line.hasPrefix(".It ") {
                group = nil
            }
            if let group { groups[group, default: []].formUnion(ManualPage.options(line)) }
        }
        groups["item"] = groups["attributes"]
        return groups
    }

    private static func options(
        _ synopsis: String,
        _ groups: [String: Set<String>]
    ) -> Set<String> {
        synopsis.matches(of: /Ar ([a-z]+)/)
            .reduce(into: ManualPage.options(synopsis)) { options, name in
                options.formUnion(groups[String(name.1)] ?? [])
            }
    }

    @Test(
        "The page of localauthctl lists exactly the verbs and options of its help",
        arguments: [
            (["localauthctl"], "VERBS"), (["localauthctl", "keychain"], "KEYCHAIN"),
            (["localauthctl", "passkeys"], "PASSKEYS"),
        ]
    )
    func verbs(_ command: [String], _ section: String) async throws {
        let page = try Self.page("localauthctl.1")
        let groups = Self.groups(page)
        #expect(groups["attributes"]?.count == 10 && groups["asking"]?.count == 5)
        let bus = try #require(page.items("DESCRIPTION").first { $0.head.hasPrefix("Fl -bus ") })
        let withoutBus = ManualPage.commands(bus.text).subtracting(["system", "session"])
        let items = page.items(section).filter { $0.head.hasPrefix("Cm ") }
        let described = items.map { $0.head.split(separator: " ")[1] }
        let verbs = Self.verbs(inHelp: try await Self.run(command + ["--help"]).output)
        #expect(verbs.count >= 2)
        #expect(described.map(String.init).sorted() == verbs.sorted())
        for (verb, item) in zip(described, items) {
            let help = try await Self.run(command + [String(verb), "--help"]).output
            var expected = Self.options(item.head, groups).union(["help", "version"])
            if !withoutBus.contains(String(verb)) { expected.insert("bus") }
            #expect(Self.options(inHelp: help) == expected, "\(verb)")
        }
    }

    @Test("The page of localauthctl lists exactly its exit statuses")
    func controlStatuses() async throws {
        let folder = try TemporaryFolder()
        let empty = ["keychain", "export-recovery-key", "--state-directory", folder.path]
        var statuses: Set<Int32> = []
        for words in [["--help"], ["--no-such-option"], ["status"] + Self.nowhere, empty] {
            statuses.insert(try await Self.run(["localauthctl"] + words).status)
        }
        #expect(try Self.page("localauthctl.1").statuses == statuses)
    }

    @Test("man and mandoc accept every page, and every reference has a page")
    func pages() async throws {
        let site = try await Installation("install", "install-simulated")
        let files = try site.files().filter { $0.hasPrefix("usr/share/man/") }
        #expect(files.count > 15)
        let names = Set(files.map { $0.split(separator: "/").last ?? "" })
        for file in files {
            let path = "\(site.folder)/\(file)"
            let man = "man --warnings -E UTF-8 -l -Tutf8 -Z '\(path)' > /dev/null"
            let formatted = try await Self.run(["/bin/sh", "-c", man])
            #expect(formatted.status == 0 && formatted.output.isEmpty, "\(formatted.output)")
            let lint = try await Self.run(["/usr/bin/mandoc", "-T", "lint", "-W", "warning", path])
            #expect(lint.status == 0, "\(lint.output)")
            for (name, section) in try ManualPage(path: path).references
            where name.contains("localauth") {
                #expect(names.contains("\(name).\(section)"), "\(file): \(name)(\(section))")
            }
        }
    }
}
