import DBus
import Glibc
import SensorContract
import TestSupport
import Testing

/// Runs the checks on the example prompts and on `localauthctl agent`, and plants faults in an
/// example.
@Suite(.timeLimit(.minutes(10)))
struct PromptContractTests {
    private static let folder =
        #filePath.split(separator: "/").dropLast(3)
        .reduce("") { "\($0)/\($1)" } + "/examples/prompts"

    /// A long limit, because many of these tests run at once.
    private static let patience = Duration.seconds(20)

    private static func python(_ file: String) -> PromptFixture {
        example(["/usr/bin/python3", file])
    }

    /// An example prompt, which calls the built localauthctl to seal passwords.
    private static func example(_ program: [String]) -> PromptFixture {
        let path = ["PATH": ChildProcess.folder + ":/usr/bin:/bin"]
        return PromptFixture(program: program, environment: path, patience: patience)
    }

    init() { EventLoop.shared.startThread() }

    @Test("The prompt in Python keeps the contract", arguments: PromptContractSuite.checks)
    func python(_ check: PromptCheck) async throws {
        try await check.run(Self.python(Self.folder + "/python/prompt.py"))
    }

    @Test("The prompt in C keeps the contract", arguments: PromptContractSuite.checks)
    func c(_ check: PromptCheck) async throws {
        let program = try #require(Self.compiled).path + "/prompt"
        try await check.run(Self.example([program]))
    }

    @Test(
        "The prompt in JavaScript keeps the contract of a prompt for passwords",
        .enabled(if: isThere("/usr/bin/gjs"), "gjs is not here"),
        arguments: passwordChecks
    )
    func javascript(_ check: PromptCheck) async throws {
        let program = Self.folder + "/javascript/prompt.js"
        try await check.run(Self.example(["/usr/bin/gjs", "-m", program]))
    }

    private static func isThere(_ program: String) -> Bool { access(program, F_OK) == 0 }

    /// The checks without the features that the JavaScript example omits.
    private static let passwordChecks = PromptContractSuite.checks.filter { check in
        !leftOut.contains { check.description.contains($0) }
    }

    /// Words that identify checks of omitted features: item passwords, choices and sensors' own
    /// instructions.
    private static let leftOut = [
        "item's password", "No password crosses", "fallback", "confirm", "sensor's own instruction",
    ]

    @Test(
        "The example prompts are short",
        arguments: [("python/prompt.py", 250), ("c/prompt.c", 120), ("javascript/prompt.js", 120)]
    )
    func length(_ file: String, _ limit: Int) throws {
        let text = String(
            decoding: try TemporaryFolder.read("\(Self.folder)/\(file)"),
            as: UTF8.self
        )
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count <= limit)
        #expect(lines.allSatisfy { $0.unicodeScalars.count <= 100 })
    }

    /// The folder with the compiled C example; nil if compilation failed.
    private static let compiled: TemporaryFolder? = {
        guard let target = try? TemporaryFolder() else { return nil }
        let words = [
            "/bin/sh", "-c",
            "cc -O2 -Wall -Wextra -Werror -Wno-unused-parameter -o \"$1\" \"$2\" "
                + "$(pkg-config --cflags --libs gio-unix-2.0)",
            "sh", target.path + "/prompt", folder + "/c/prompt.c",
        ]
        return (try? ChildProcess.run(words))?.status == 0 ? target : nil
    }()

    @Test("localauthctl agent keeps the contract", arguments: PromptContractSuite.checks)
    func terminal(_ check: PromptCheck) async throws {
        try await check.run(
            PromptFixture(program: ["localauthctl", "agent"], patience: Self.patience)
        )
    }

    @Test("The prompt in Swift keeps the contract", arguments: PromptContractSuite.checks)
    func swift(_ check: PromptCheck) async throws {
        try await check.run(PromptFixture(program: ["ask"], patience: Self.patience))
    }

    @Test("A planted fault is found by its check", arguments: faults)
    func planted(_ fault: PlantedFault) async throws {
        let file = Self.folder + "/python/prompt.py"
        let folder = try TemporaryFolder()
        try fault.plant(in: file, into: folder, as: "prompt.py")
        let check = PromptContractSuite.checks.first { $0.description.hasPrefix(fault.check) }
        let fixture = Self.python(folder.path + "/prompt.py")
        let outcome = try await #require(check).outcome(fixture)
        guard case .failed(let why) = outcome else {
            Issue.record("\(fault.name) was not found: \(outcome)")
            return
        }
        // A program that does not start would fail every check.
        #expect(!why.contains("SyntaxError") && !why.contains("NameError"), "\(why)")
    }

    static let faults = secretFaults + answerFaults + textFaults + callFaults

    private static let secretFaults = [
        PlantedFault(
            "half a password",
            "self.submit(line[:-1])",
            "self.submit(line[:3])",
            "A password is sealed to"
        ),
        PlantedFault(
            "a password for whatever prompt",
            #""org.localauth.Passcode1", self.handle"#,
            #""org.localauth.Passcode1", """#,
            "A password is sealed to"
        ),
        PlantedFault(
            "a password that is shown",
            "line = os.read(0, 4096)",
            "line = os.read(0, 4096); self.say(line.decode())",
            "Typed letters are not shown"
        ),
        PlantedFault(
            "an empty password",
            #"elif line != b"\n" and self.takes"#,
            "elif self.takes",
            "An empty password is not sent"
        ),
        PlantedFault(
            "one password a prompt",
            "self.submit(line[:-1])",
            "self.submit(line[:-1]); self.takes = False",
            "A password that the service refuses"
        ),
        PlantedFault(
            "one key of the verifier for ever",
            #"detail.get("passcode-key", self.key)"#,
            "self.key",
            "A new key of the verifier"
        ),
        PlantedFault(
            "no password while sensors look",
            #"details["policy"] == 2"#,
            "False",
            "While sensors look"
        ),
        PlantedFault(
            "a password under every policy",
            #"details["policy"] == 2"#,
            "True",
            "Under policy 1"
        ),
        PlantedFault(
            "what was begun kept",
            "termios.tcflush(0, termios.TCIFLUSH)",
            "pass",
            "A half-typed password"
        ),
        PlantedFault(
            "a terminal that is kept",
            "termios.tcsetattr(0, termios.TCSAFLUSH, self.saved)",
            "pass",
            "A terminal is given back"
        ),
        PlantedFault(
            "an item's password to the verifier",
            "self.is_item = is_item",
            "self.is_item = False",
            "An item's password is never"
        ),
        PlantedFault(
            "an item's password that is not sealed",
            "self.handle, sealed, SEALED",
            "self.handle, secret, SEALED",
            "An item's password is sealed to the service, for"
        ),
        PlantedFault(
            "one key of the service for ever",
            "key = self.service_key()",
            #"key = self.kept = getattr(self, "kept", None) or self.service_key()"#,
            "An item's password is sealed to the asking"
        ),
    ]

    private static let answerFaults = [
        PlantedFault(
            "a fallback that is not on offer",
            "and self.offer:\n            self.ask(self.offer",
            "and True:\n            self.ask(self.offer or \"SubmitFallback\"",
            "The prompt sends a fallback"
        ),
        PlantedFault(
            "a fallback without a button",
            "and self.fallback and not self.offer",
            "and not self.offer",
            "With an empty title"
        ),
        PlantedFault(
            "confirmed again and again",
            "            self.offer = None\n        return True",
            "        return True",
            "A confirmation is sent once"
        ),
        PlantedFault(
            "a fallback in the place of a confirmation",
            #"if kind == "confirmation-required":"#,
            #"if kind == "confirmation-required" and not self.offer:"#,
            "Where a match is to be confirmed"
        ),
        PlantedFault(
            "a cancel that is not sent",
            #"self.ask("SubmitCancel", "(s)", self.handle)"#,
            "pass",
            "Cancel at once"
        ),
        PlantedFault(
            "a cancel with half a password",
            #"self.ask("SubmitCancel""#,
            #"self.submit(line[:-1]), self.ask("SubmitCancel""#,
            "Cancel in the middle of a password"
        ),
        PlantedFault(
            "an end that is not heard",
            "if not self.handle or handle != self.handle:",
            "if True:",
            "Each outcome"
        ),
    ]

    private static let textFaults = [
        PlantedFault(
            "a delay that is not heard",
            "self.takes = False\n            text",
            "text",
            "The prompt shows the length of a delay"
        ),
        PlantedFault(
            "a sensor's own words left out",
            #"self.instruction(detail["sensor"]) or text"#,
            "text",
            "The prompt shows a sensor's own"
        ),
        PlantedFault(
            "control characters",
            "c.isprintable()",
            #"(c.isprintable() or c < " ")"#,
            "Control characters"
        ),
        PlantedFault(
            "characters of direction",
            "c.isprintable()",
            #"(c.isprintable() or c in "\u061C\u200E\u202E")"#,
            "A text can't change"
        ),
        PlantedFault(
            "texts without an end",
            "[:limit]",
            "",
            "An overlong text"
        ),
        PlantedFault(
            "no reason",
            "wants to: {plain(details['reason'])}",
            "wants something",
            "The prompt shows the reason"
        ),
        PlantedFault(
            "a sandbox that is not told",
            #"f"The sandboxed app “{name}”""#,
            "name",
            "A sandboxed app is shown"
        ),
        PlantedFault(
            "the program of a sandboxed app",
            #"else "A sandboxed app""#,
            #"else os.readlink(f"/proc/{details['pid']}/exe")"#,
            "A sandboxed app without"
        ),
        PlantedFault(
            "a path that anybody can have had",
            "os.path.samefile(path, file) and ",
            "",
            "The prompt says if a program"
        ),
    ]

    private static let callFaults = [
        PlantedFault(
            "strangers listened to",
            "if sender != self.owner:",
            "if False:",
            "Every call of another"
        ),
        PlantedFault(
            "a handle twice",
            "if self.handle:\n            raise",
            "if False:\n            raise",
            "A handle that is in use"
        ),
        PlantedFault(
            "one service for ever",
            "self.owner = owner",
            "self.owner = self.owner or owner",
            "After a restart of the service"
        ),
        PlantedFault(
            "a service asked again and again",
            "if owner:\n            self",
            "if owner:\n            GLib.timeout_add(100, self.meet, self.bus, SERVICE, owner)\n"
                + "            self",
            "After a refusal"
        ),
        PlantedFault(
            "prompts of a service that is gone",
            "        self.End(self.handle, \"system\")\n        self",
            "        self",
            "After a restart of the service"
        ),
        PlantedFault(
            "a status of its own at SIGTERM",
            "    agent.End(agent.handle, \"system\")\n",
            "    agent.End(agent.handle, \"system\"); sys.exit(3)\n",
            "SIGTERM ends it with status 0 within a second"
        ),
    ]
}
