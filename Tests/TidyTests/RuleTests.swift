import Testing

/// Checks that each rule finds its planted offence, and passes correct code.
struct RuleTests {
    struct Planted: CustomTestStringConvertible, Sendable {
        let rule: Rule
        var path = "Sources/Engine/File.swift"
        let text: String
        /// The lines that the rule must report.
        let lines: [Int]
        var testDescription: String { "\(rule.name): \(text.prefix(60))" }
    }

    @Test("A rule finds the planted offence and its line", arguments: layout + wording + places)
    func planted(_ planted: Planted) {
        let file = SourceFile(path: planted.path, text: planted.text)
        let found = planted.rule.offences(file)
        #expect(found.map(\.line) == planted.lines)
        for offence in found {
            #expect("\(offence)".hasPrefix("\(planted.path):\(offence.line): "))
        }
    }

    @Test("Every rule has a planted offence")
    func complete() {
        let offenders = (Self.layout + Self.wording + Self.places).filter { !$0.lines.isEmpty }
        let planted = Set(offenders.map(\.rule.name))
        #expect(planted == Set(TidyTests.rules.map(\.name)))
    }

    private static func lines(_ count: Int) -> String {
        String(repeating: "x()\n", count: count)
    }

    static let layout = [
        Planted(
            rule: LayoutRules.columns,
            text: "a\n" + String(repeating: "ä", count: 101) + "\n"
                + String(repeating: "ä", count: 100),
            lines: [2]
        ),
        Planted(
            rule: LayoutRules.columns,
            path: "README.md",
            text: String(repeating: "a", count: 500),
            lines: []
        ),
        Planted(rule: LayoutRules.fileLength, text: lines(501), lines: [501]),
        Planted(rule: LayoutRules.fileLength, text: lines(500), lines: []),
        Planted(
            rule: LayoutRules.fileLength,
            path: "Sources/Bus/LocalAuthBus/Generated/A.swift",
            text: lines(501),
            lines: []
        ),
        Planted(
            rule: LayoutRules.functionLength,
            text: "\nfunc f() {\n\(lines(69))}\n",
            lines: [2]
        ),
        Planted(rule: LayoutRules.functionLength, text: "func f() {\n\(lines(68))}\n", lines: []),
        Planted(
            rule: LayoutRules.functionLength,
            text: "func == (a: Int, b: Int) -> Bool where T == U {\n\(lines(70))}",
            lines: [1]
        ),
        Planted(
            rule: LayoutRules.functionLength,
            text: "init<T>(\n    _ a: () -> Void = { }\n) throws(E) {\n\(lines(70))}",
            lines: [1]
        ),
        Planted(rule: LayoutRules.functionLength, text: "deinit {\n\(lines(70))}", lines: [1]),
        Planted(
            rule: LayoutRules.functionLength,
            text: "subscript(i: Int) -> Int {\nget {\n\(lines(70))}\n}",
            lines: [1]
        ),
        Planted(
            rule: LayoutRules.functionLength,
            text: "var a: [Int] {\n\(lines(70))}",
            lines: [1]
        ),
        Planted(
            rule: LayoutRules.functionLength,
            text: "protocol P {\nfunc f()\nvar a: Int\nlet b = 1\n}\nextension P {\n\(lines(80))}",
            lines: []
        ),
        Planted(
            rule: LayoutRules.functionLength,
            text: "func f() {\n// }\nlet a = \"}\\(g(\"}\"))}\"\n/* } */\n\(lines(68))}",
            lines: [1]
        ),
        Planted(
            rule: LayoutRules.functionLength,
            text: "func f() {\nlet a = \"\"\"\n{ \"\n\"\"\"\nlet b = #\"\"{\"#\n}\n\(lines(80))",
            lines: []
        ),
    ]

    static let wording = [
        Planted(
            rule: WordRules.notes,
            text: "a() // TODO: more\n/* FIXME */\nlet TODO = 1",
            lines: [1, 2]
        ),
        Planted(rule: WordRules.notes, text: "let a = \"// TODO\"", lines: []),
        Planted(
            rule: WordRules.traps,
            text: "fatalError()\n// fatalError()\nlet a = \"\\(try! f())\"",
            lines: [1, 3]
        ),
        Planted(rule: WordRules.traps, text: "let a = \"fatalError() try! f()\"", lines: []),
        Planted(
            rule: WordRules.names,
            text: "class SensorManager {}\nstruct A: P, Sendable {}\nenum DBusUtil {}\n"
                + "protocol HandlerOfEvents {}\nfinal class ThingImpl {}\nactor PathHelper2 {}",
            lines: [1, 3, 4, 5, 6]
        ),
        Planted(
            rule: WordRules.names,
            text: "struct ObjectManagerProxy {}\nstruct Implementation {}\nlet manager = 1",
            lines: []
        ),
        Planted(
            rule: WordRules.sleeps,
            path: "Tests/A/B.swift",
            text: "try await Task.sleep(for: .seconds(1))\nusleep(1)\n// sleep\nasleep()",
            lines: [1, 2]
        ),
        Planted(rule: WordRules.sleeps, text: "usleep(1)", lines: []),
        Planted(
            rule: WordRules.processes,
            path: "Tests/A/B.swift",
            text: "let a = Process()\nChildProcess([])\n// Process",
            lines: [1]
        ),
        Planted(
            rule: WordRules.tasks,
            text: "Task { @BusActor in f() }\nonLoop { f() }\nasync let a = f()\n// Task {",
            lines: [1, 3]
        ),
        Planted(
            rule: WordRules.texts,
            path: "Sources/Programs/localauthctl/A.swift",
            text: "print(\"two words\")\nprint(\n    \"  \" + \"Two words\"\n)\n"
                + "// print(\"two words\")\nprint(\"  \" + localized(\"Two words\"))\n"
                + "part(\"a\").text = \"Two, words\"\ntell(\"localauthctl: \\(a)\")",
            lines: [1, 2, 7]
        ),
        Planted(rule: WordRules.texts, text: "print(\"two words\")", lines: []),
    ]

    private static let slash = "/"

    static let places = [
        Planted(
            rule: WordRules.machinePaths,
            path: "docs/a.md",
            text: "see \(slash)work/main\n\"\(slash)root/x\"\n\(slash)tmp/spec\nx/root/y\n",
            lines: [1, 2, 3]
        ),
        Planted(rule: WordRules.unsafe, text: "let a: UnsafePointer<Int>?", lines: [1]),
        Planted(
            rule: WordRules.unsafe,
            text: "// Because.\nfinal class A: @unchecked Sendable {}",
            lines: [2]
        ),
        Planted(
            rule: WordRules.unsafe,
            path: "Sources/Bus/DBus/A.swift",
            text: "let a: UnsafeRawBufferPointer\nnonisolated(unsafe) let b = 1\n",
            lines: []
        ),
        Planted(
            rule: WordRules.unsafe,
            path: "Sources/Programs/localauth-passcode/A.swift",
            text: "internal import CPAM\n// Because.\nlet a: UnsafePointer<Int>\n",
            lines: []
        ),
        Planted(
            rule: WordRules.unsafe,
            path: "Tests/A/B.swift",
            text: "let a: UnsafePointer<Int>",
            lines: []
        ),
    ]
}

/// Tests of the rules for dependencies between targets.
struct ImportRuleTests {
    private static let text = """
        let package = Package(
            dependencies: [.package(url: "https://example.org/swift-crypto", from: "1.0.0")],
            targets: [
                // .target(name: "Nothing"),
                .target(name: "AuthEngine", dependencies: ["DBus"], swiftSettings: strict),
                .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["x"])]),
                .target(
                    name: "AuthStore",
                    dependencies: [
                        "AuthEngine", "CSQLite",
                        .product(name: "Crypto", package: "swift-crypto"),
                    ],
                    swiftSettings: strict),
                .target(name: "DBus", dependencies: ["AuthService"]),
                .target(name: "AgentKit", dependencies: [
                    "DBus", "SensorKit"]),
                .target(name: "Extras"),
                .executableTarget(name: "localauthd", dependencies: ["AuthService", "AuthEngine",
                    .product(name: "Crypto", package: "swift-crypto")]),
                .testTarget(name: "ATests", dependencies: ["Extras"]),
                .target(name: "Support", dependencies: ["Extras"], path: "Tests/Support"),
            ])
        """
    private let manifest = Manifest(SourceFile(path: "Package.swift", text: text))

    @Test("The manifest is read with all targets and dependencies")
    func read() {
        let expected = [
            "AuthEngine": ["DBus"], "CSQLite": [],
            "AuthStore": ["AuthEngine", "CSQLite", "Crypto"],
            "DBus": ["AuthService"], "AgentKit": ["DBus", "SensorKit"], "Extras": [],
            "localauthd": ["AuthService", "AuthEngine", "Crypto"],
        ]
        let found = manifest.targets.map { ($0.name, $0.dependencies.map(\.name)) }
        #expect(Dictionary(found) { first, _ in first } == expected)
    }

    @Test("Dependencies that point up or sideways, and targets without a layer, are found")
    func arrows() {
        #expect(
            manifest.offences.map(\.description) == [
                "Package.swift:5: AuthEngine must not depend on DBus",
                "Package.swift:14: DBus must not depend on AuthService",
                "Package.swift:16: AgentKit must not depend on SensorKit",
                "Package.swift:17: Extras is in no layer: a new target needs a reason",
                "Package.swift:18: localauthd must not depend on AuthEngine",
                "Package.swift:19: localauthd must not depend on Crypto",
            ]
        )
    }

    @Test("An unimported dependency is found; a program that a test starts is not reported")
    func unused() {
        let manifest = Manifest(
            SourceFile(
                path: "Package.swift",
                text: """
                    .target(name: "DBus", dependencies: ["CSystemd", "Linux"]),
                    .executableTarget(name: "localauthd", dependencies: ["DBus"]),
                    .executableTarget(name: "clang-client", dependencies: ["CDBus1"]),
                    .testTarget(name: "ATests", dependencies: ["DBus", "Support", "localauthd"]),
                    .target(name: "Support", dependencies: ["DBus"], path: "Tests/ATests/Support"),
                    """
            )
        )
        let files = [
            ("Sources/DBus/A.swift", "public import CSystemd\n// import Linux"),
            ("Sources/localauthd/main.swift", "print()"),
            ("Sources/clang-client/main.c", "#include <dbus/dbus.h>"),
            ("Tests/ATests/A.swift", "import Support"),
            ("Tests/ATests/Support/B.swift", "@testable import DBus"),
        ]
        let offences = manifest.unusedDependencies(
            in: files.map { SourceFile(path: $0.0, text: $0.1) }
        )
        #expect(
            offences.map(\.description) == [
                "Package.swift:1: DBus declares Linux, and imports it nowhere",
                "Package.swift:2: localauthd declares DBus, and imports it nowhere",
                "Package.swift:4: ATests declares DBus, and imports it nowhere",
            ]
        )
    }

    private func offences(_ target: String, _ text: String) -> [String] {
        manifest.importOffences(in: SourceFile(path: "Sources/Room/\(target)/A.swift", text: text))
            .map(\.description)
    }

    @Test("Pure targets import only each other")
    func pure() {
        #expect(
            offences(
                "AuthEngine",
                "import Glibc\n// import A\n  public import struct Foundation.Data"
            ) == [
                "Sources/Room/AuthEngine/A.swift:1: AuthEngine must not import Glibc",
                "Sources/Room/AuthEngine/A.swift:3: AuthEngine must not import Foundation",
            ]
        )
        #expect(offences("AuthEngine", "import DBus").count == 1)
    }

    @Test("Other targets import declared dependencies and the system's C library")
    func declared() {
        #expect(
            offences("AuthStore", "import AuthEngine\nimport Crypto\nimport Glibc\nimport CSQLite")
                .isEmpty
        )
        #expect(
            offences("AuthStore", "@testable import DBus\nimport Foundation") == [
                "Sources/Room/AuthStore/A.swift:1: AuthStore must not import DBus",
                "Sources/Room/AuthStore/A.swift:2: AuthStore must not import Foundation",
            ]
        )
        #expect(offences("localauthd", "import ArgumentParser").count == 1)
        #expect(offences("Unknown", "import DBus").count == 1)
    }

    @Test("Tests may import any module, and strings are no imports")
    func tests() {
        let file = SourceFile(path: "Tests/ATests/A.swift", text: "import Foundation")
        #expect(manifest.importOffences(in: file).isEmpty)
        #expect(offences("AuthEngine", "let a = \"import Foundation\"\nlet important = 1").isEmpty)
        #expect(offences("AuthEngine", "let a = \"\"\"\nimport Foundation\n\"\"\"").isEmpty)
    }
}
