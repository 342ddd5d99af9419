import DBus
import Foundation
import Localization
import TestSupport
import Testing

/// Tests of programs in the languages of their users.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SpokenTests {
    private let catalogues: CompiledCatalogues

    init() throws { catalogues = try CompiledCatalogues() }

    @Test(
        "The help is in the user's language",
        arguments: [
            ("de", "Authentifiziert Benutzer"), ("zh_CN", "验证用户身份"), ("", "Authenticates users"),
            ("fr", "Authenticates users"), ("fr:de", "Authentifiziert Benutzer"),
        ]
    )
    func help(language: String, words: String) async throws {
        let answer = try await control("--help", environment: catalogues.environment(language))
        #expect(answer.status == 0)
        #expect(answer.output.contains(words), "\(answer.output)")
    }

    @Test(
        "The titles of the help and the notes on its options are in the user's language",
        arguments: [("de", "OPTIONEN:", "(Vorgabe:"), ("zh_CN", "选项:", "(默认:")]
    )
    func helpWords(language: String, title: String, part: String) async throws {
        let variables = catalogues.environment(language)
        for words in [["--help"], ["evaluate", "--help"], ["help", "keychain"]] {
            let answer = try await control(words, environment: variables)
            #expect(answer.status == 0 && answer.output.contains("\n\(title)\n"))
            for english in ["OVERVIEW", "USAGE", "OPTIONS", "SUBCOMMANDS", "Show ", "See '"] {
                #expect(!answer.output.contains(english), "\(answer.output)")
            }
        }
        let evaluate = try await control("evaluate", "--help", environment: variables)
        #expect(evaluate.output.contains(part), "\(evaluate.output)")
    }

    @Test(
        "Errors and their remedies are in the user's language",
        arguments: [("de", "Der Dienst ist nicht erreichbar"), ("zh_CN", "无法连接服务")]
    )
    func failure(language: String, words: String) async throws {
        let environment = catalogues.environment(language)
        let bus = "unix:path=/nonexistent"
        let answer = try await control("status", "--bus", bus, environment: environment)
        #expect(answer.status == 3)
        #expect(answer.errors.contains(words), "\(answer.errors)")
        #expect(answer.errors.split(separator: "\n").count == 2)
    }

    private static let localeSource = "/usr/share/i18n/locales/de_DE"

    @Test(
        "A system locale is enough",
        .enabled(
            if: FileManager.default.fileExists(atPath: localeSource),
            "there is no \(localeSource)"
        )
    )
    func locale() async throws {
        let locale = catalogues.folder + "/de_DE.UTF-8"
        let made = try run("localedef", ["-i", "de_DE", "-f", "UTF-8", locale])
        #expect(made.status == 0, "\(made.output)")
        let answer = try await control(
            "--help",
            environment: [
                "LC_ALL": "de_DE.UTF-8", "LOCPATH": catalogues.folder,
                "TEXTDOMAINDIR": catalogues.folder,
            ]
        )
        #expect(answer.output.contains("Authentifiziert Benutzer"))
    }

    private struct Words {
        let question: String
        let label: String
        let one: String
        let many: String
        let cause: String
        let end: String
    }

    private static let words = [
        "de": Words(
            question: "Die Sandbox-App „Notes“ möchte: open the diary",
            label: "Passwort von jo: ",
            one: "Falsches Passwort. 1 Versuch ist noch übrig.",
            many: "Falsches Passwort. 2 Versuche sind noch übrig.",
            cause: "Nach einem Neustart oder einer Abmeldung wird Ihr Passwort einmal gebraucht.",
            end: "Fertig."
        ),
        "zh_CN": Words(
            question: "沙盒应用“Notes”正在请求：open the diary",
            label: "jo 的密码： ",
            one: "密码错误，还剩 1 次机会。",
            many: "密码错误，还剩 2 次机会。",
            cause: "重启或注销后，需要输入一次密码。",
            end: "完成。"
        ),
    ]

    @Test("L19: A prompt on a terminal is in the user's language", arguments: Catalogue.languages)
    func prompt(language: String) async throws {
        let words = try #require(Self.words[language])
        let (bus, pty) = (try PrivateBus(), try Pty())
        let service = try await onBus { try StandInService(bus) }
        let agent = try ChildProcess(
            ["localauthctl", "agent", "--session", "--bus", bus.address],
            environment: catalogues.environment(language),
            terminal: pty.path
        )
        let handle = try await onBus {
            _ = await service.next()
            return try await service.begin([
                "app-name": .string("Notes"), "sandboxed": .bool(true),
                "sandbox-id": .string("org.example.Notes"), "reason": .string("open the diary"),
                "policy": .uint32(2), "stage": .string("passcode"), "user": .string("jo"),
            ])
        }
        #expect(pty.shows(words.question))
        #expect(pty.shows(words.label))
        try await tell(service, handle, "passcode-required", ["cause": .string("boot")])
        #expect(pty.shows(words.cause))
        try await tell(service, handle, "passcode-rejected", ["attempts-left": .uint32(2)])
        #expect(pty.shows(words.many))
        try await tell(service, handle, "passcode-rejected", ["attempts-left": .uint32(1)])
        #expect(pty.shows(words.one))
        try await onBus { try await service.end(handle, "success") }
        #expect(pty.shows(words.end))
        agent.signal(SIGTERM)
        #expect(try agent.wait() == 0)
    }

    private func tell(
        _ service: StandInService,
        _ handle: String,
        _ kind: String,
        _ detail: [String: Variant]
    ) async throws {
        try await onBus { try await service.update(handle, kind, detail) }
    }

    @Test("Findings are translated, names and JSON are not, and columns stay aligned")
    func findings() async throws {
        let bus = try PrivateBus()
        let checks: [[String: Variant]] = [
            [
                "name": .string("agent"), "state": .string("failed"),
                "message": .string("No prompt agent serves you."),
                "remedy": .string("Start a prompt: localauthctl agent."),
            ],
            [
                "name": .string("passcode-delay"), "state": .string("warning"),
                "message": .string(
                    "After too many wrong passwords, you cannot enter a password for 30 seconds, "
                        + "until 10:30."
                ),
                "message-format": .string(
                    "After too many wrong passwords, you cannot enter a password for %1$s, until "
                        + "%2$s."
                ), "message-values": .strings(["30 seconds", "10:30"]),
                "remedy": .string("Something newer than this program."),
            ],
        ]
        let service = try await onBus {
            let service = try StandInService(bus)
            service.checks = checks
            return service
        }
        let environment = catalogues.environment("zh_CN")
        let text = try await control("doctor", "--bus", bus.address, environment: environment)
        let report = text.output.split(separator: "\n")
        // The titles, the findings and their remedies.
        #expect(report.count == 1 + 2 + 2)
        #expect(report.first?.contains("状态") == true)
        let lines = report.dropFirst().prefix(2)
        #expect(lines.first?.hasSuffix("没有提示代理为您服务。") == true)
        #expect(lines.last?.hasSuffix("错误密码过多，30 秒内不能输入密码，直到 10:30。") == true)
        // Both messages begin in a common column.
        let starts = zip(lines, ["没有", "错误"])
            .map { line, word in
                line.firstRange(of: word).map { columns(of: String(line[..<$0.lowerBound])) }
            }
        #expect(starts.first == starts.last && starts.first != .some(nil))
        #expect(report.last == "passcode-delay: Something newer than this program.")
        #expect(text.errors.isEmpty)
        let json = try await control(
            "doctor",
            "--json",
            "--bus",
            bus.address,
            environment: environment
        )
        #expect(json.output.contains("\"state\": \"failed\""))
        #expect(json.output.contains("No prompt agent serves you."))
        try await onBus { service.leave() }
    }
}
