import DBus
import Foundation
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// Tests the apps of `examples/apps` on the real service.
///
/// Each app evaluates with a miss and a cancel, then stores a secret and reads it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AppTests {
    private static let examples =
        #filePath.split(separator: "/").dropLast(3)
        .reduce("") { "\($0)/\($1)" } + "/examples/apps"

    private let service: RealService
    private let agentTerminal: Pty
    private let agent: ChildProcess
    private let folder: TemporaryFolder

    init() async throws {
        service = try await RealService()
        try await service.addTemplate("right index")
        agentTerminal = try Pty()
        agent = try service.start(["agent", "--session"], on: agentTerminal)
        folder = try TemporaryFolder()
        #expect(appears("Ready"))
    }

    private static func isThere(_ program: String) -> Bool { access(program, F_OK) == 0 }

    /// Whether the prompt shows a text, with patience for a busy machine.
    private func appears(_ text: String, times: Int = 1) -> Bool {
        (0..<6).contains { _ in agentTerminal.shows(text, times: times) }
    }

    private func start(
        _ app: [String],
        _ verb: String?,
        at bus: PrivateBus? = nil,
        input: String = ""
    ) throws -> ChildProcess {
        let path = ChildProcess.folder + ":/usr/bin:/bin"
        return try ChildProcess(
            app + [verb, (bus ?? service.bus).address].compactMap(\.self),
            environment: ["PATH": path],
            input: Array(input.utf8),
            hasSession: true
        )
    }

    private func run(
        _ app: [String],
        _ verb: String?,
        at bus: PrivateBus? = nil,
        input: String = ""
    ) async throws -> ChildProcess.Ended {
        try await start(app, verb, at: bus, input: input).ended(within: .seconds(120))
    }

    /// Makes an app store a secret that arrives in parts: each read returns one part.
    private func keep(_ app: [String], in parts: String...) async throws -> ChildProcess.Ended {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        let ours = OwnedDescriptor(adopting: ends[0])
        let theirs = OwnedDescriptor(adopting: ends[1])
        for part in parts {
            let bytes = Array(part.utf8)
            let sent = send(ours.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            try #require(sent == bytes.count)
        }
        shutdown(ours.rawValue, Int32(SHUT_WR))
        let words = ["/bin/sh", "-c", "exec \"$@\" <&3 3<&-", "sh"] + app
        return try await ChildProcess(
            words + ["keep", service.bus.address],
            environment: ["PATH": ChildProcess.folder + ":/usr/bin:/bin"],
            descriptor: theirs.rawValue,
            hasSession: true
        )
        .ended(within: .seconds(120))
    }

    /// Plays an app through; `says` is its output after a miss.
    private func play(
        _ app: [String],
        says miss: String? = "Not recognized"
    ) async throws {
        try await service.queue("no-match", "match")
        let asked = try await run(app, "ask")
        #expect(asked.status == 0, "\(asked.errors)")
        #expect(asked.output.contains("It is you"))
        if let miss { #expect(asked.output.contains(miss)) }

        let canceled = try start(app, "ask")
        // The app reads keys from here on, and Ctrl-C is a key.
        #expect(appears("Simulated is ready", times: 2))
        agentTerminal.type("\u{3}")
        let end = try await canceled.ended(within: .seconds(120))
        #expect(end.status == 1)
        #expect(end.errors.contains("Canceled."), "\(end.errors)")

        let nothing = try await run(app, "keep", input: "first word")
        #expect(nothing.status == 0, "\(nothing.errors)")
        #expect(nothing.output.contains("Kept."))
        let again = try await keep(app, in: "second\n", "word")
        #expect(again.status == 0, "\(again.errors)")
        // A secret one byte above the limit: the app must store all of it or nothing.
        let long = try await run(app, "keep", input: String(repeating: "x", count: 65_537))
        #expect(long.status != 0 && !long.output.contains("Kept"), "\(long.errors)")

        try await service.queue("match")
        let shown = try await run(app, "show")
        #expect(shown.status == 0, "\(shown.errors)")
        #expect(shown.output == "second\nword")
        let wrong = try await run(app, "wish")
        #expect(wrong.status != 0)
        let empty = try PrivateBus()
        let unreachable = try await run(app, "ask", at: empty)
        #expect(unreachable.status == 1 && !unreachable.output.contains("It is you"))
    }

    @Test(
        "The Python app evaluates, handles cancel and miss, and keeps a secret",
        .enabled(if: isThere("/usr/bin/python3"), "python3 and python3-gi are not here")
    )
    func python() async throws {
        try await play(
            ["/usr/bin/python3", Self.examples + "/python/app.py"],
            says: "Not recognized, attempts left: 2"
        )
    }

    @Test(
        "The JavaScript app evaluates, handles cancel and miss, and keeps a secret",
        .enabled(if: isThere("/usr/bin/gjs"), "gjs is not here")
    )
    func javascript() async throws {
        try await play(
            ["/usr/bin/gjs", "-m", Self.examples + "/javascript/app.js"],
            says: "Not recognized, attempts left: 2"
        )
    }

    @Test(
        "The C app evaluates, handles cancel and miss, and keeps a secret",
        .enabled(if: isThere("/usr/include/systemd/sd-bus.h"), "libsystemd-dev is not here")
    )
    func c() async throws {
        let program = folder.path + "/app"
        let built = try ChildProcess.run([
            "/bin/sh", "-c",
            """
            cc -Wall -Wextra -Werror "$1" -o "$2" $(pkg-config --cflags --libs libsystemd)
            """,
            "sh", Self.examples + "/c/app.c", program,
        ])
        try #require(built.status == 0, "\(built.errors)")
        try await play([program])
    }

    /// The folder in which Debian's packages install crates.
    private static let crates = "/usr/share/cargo/registry"

    @Test(
        "The Rust app evaluates, handles cancel and miss, and keeps a secret",
        .enabled(if: isThere(crates), "cargo and librust-dbus-dev are not here")
    )
    func rust() async throws {
        // Cargo writes beside the sources and into a home folder, so both are in the test's folder.
        let built = try await ChildProcess(
            [
                "/bin/sh", "-ec",
                """
                cp -r "$1" "$2/rust"
                cd "$2/rust"
                export CARGO_HOME="$2/cargo"
                cargo build --offline \
                    --config 'source.crates-io.replace-with="debian"' \
                    --config 'source.debian.directory="'"$3"'"'
                """,
                "sh", Self.examples + "/rust", folder.path, Self.crates,
            ]
        )
        .ended(within: .seconds(280))
        try #require(built.status == 0, "\(built.errors)")
        try await play(
            [folder.path + "/rust/target/debug/app"],
            says: "Not recognized, attempts left: 2"
        )
    }

    @Test(
        "The shell script evaluates, handles a cancel, and keeps a secret by localauthctl",
        .enabled(if: isThere("/usr/bin/gdbus"), "libglib2.0-bin is not here")
    )
    func shell() async throws {
        try await play(
            ["/bin/sh", Self.examples + "/shell/app.sh"],
            says: nil
        )
    }

    private static var hasQt: Bool {
        (try? ChildProcess.run(["pkg-config", "--exists", "Qt6DBus"]).status) == 0
    }

    @Test(
        "The Qt program evaluates, and handles a cancel",
        .enabled(if: hasQt, "qt6-base-dev is not here")
    )
    func qt() async throws {
        let program = folder.path + "/ask"
        let built = try ChildProcess.run([
            "/bin/sh", "-c",
            """
            c++ -Wall -Wextra -Werror -fPIC "$1" -o "$2" $(pkg-config --cflags --libs Qt6DBus)
            """,
            "sh", Self.examples + "/qt/ask.cpp", program,
        ])
        try #require(built.status == 0, "\(built.errors)")
        try await service.queue("match")
        let asked = try await run([program], nil)
        #expect(asked.status == 0 && asked.output.contains("It is you"), "\(asked.errors)")
        let canceled = try start([program], nil)
        #expect(appears("Simulated is ready", times: 2))
        agentTerminal.type("\u{3}")
        let end = try await canceled.ended(within: .seconds(120))
        #expect(end.status == 1)
        #expect(end.errors.contains("org.localauth.Error.UserCancel"), "\(end.errors)")
    }

    // MARK: The pages for apps

    private static let pages = ["quickstart", "secrets", "languages", "testing"]

    /// The code blocks of a page in docs/apps, each with its language.
    private static func pieces(of name: String) throws -> [(language: String, code: String)] {
        let page = URL(filePath: examples).appending(path: "../../docs/apps/\(name).md")
        let text = try String(contentsOf: page.standardized, encoding: .utf8)
        return text.components(separatedBy: "\n```").enumerated()
            .compactMap { number, part in
                guard !number.isMultiple(of: 2), let end = part.firstIndex(of: "\n") else {
                    return nil
                }
                return (String(part[..<end]), String(part[part.index(after: end)...]))
            }
    }

    /// Removes the indentation, which differs between a page and a program.
    private static func flat(_ code: String) -> String {
        code.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: "\n")
    }

    @Test("Shell commands in the pages for apps work, and their code is the examples' code")
    func page() async throws {
        let files = [
            "python": ["python/app.py"], "js": ["javascript/app.js", "node/ask.mjs"],
            "c": ["c/app.c"], "rust": ["rust/src/main.rs"], "cpp": ["qt/ask.cpp"],
        ]
        let environment = [
            "PATH": ChildProcess.folder + ":/usr/bin:/bin",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere/bus",
            "DBUS_SYSTEM_BUS_ADDRESS": service.bus.address,
        ]
        let pieces = try Self.pages.flatMap { try Self.pieces(of: $0) }
        let languages = Set(pieces.map(\.language))
        #expect(languages.isSuperset(of: ["sh", "python", "js", "c", "cpp", "rust"]))
        for (language, code) in pieces {
            if let places = files[language] {
                let programs = try places.map { place in
                    let example = URL(filePath: "\(Self.examples)/\(place)")
                    return Self.flat(try String(contentsOf: example, encoding: .utf8))
                }
                #expect(programs.contains { $0.contains(Self.flat(code)) }, "\(code)")
            }
            guard language == "sh" else { continue }
            // One finger for each command that asks.
            let asking = code.matches(of: /Evaluate \'|keychain read|app\S* (?:ask|show)/).count
            for _ in 0..<asking { try await service.queue("match") }
            let typed = code.replacing("/tmp/app", with: folder.path + "/app")
            let ran = try await ChildProcess(
                ["/bin/sh", "-ec", "cd \(Self.examples)/../..\n" + typed],
                environment: environment,
                hasSession: true
            )
            .ended(within: .seconds(200))
            #expect(ran.status == 0, "\(code): \(ran.errors)")
        }
    }
}
