import DBus
import SensorContract
import TestSupport
import Testing

/// Prompts that know nothing of this project, ours for a terminal, and the first with faults.
@Suite(.timeLimit(.minutes(10)))
struct PromptContractTests {
    private static let folder =
        #filePath.split(separator: "/").dropLast(3)
        .reduce("") { "\($0)/\($1)" } + "/examples/prompts"

    /// The machine is busy: many of these run at once.
    private static let patience = Duration.seconds(20)

    private static func python(_ file: String) -> PromptFixture {
        PromptFixture(program: ["/usr/bin/python3", file], patience: patience)
    }

    init() { EventLoop.shared.startThread() }

    @Test("The prompt in Python keeps the contract", arguments: PromptContractSuite.checks)
    func python(_ check: PromptCheck) async throws {
        try await check.run(Self.python(Self.folder + "/python/prompt.py"))
    }

    @Test("The prompt in C keeps the contract", arguments: PromptContractSuite.checks)
    func c(_ check: PromptCheck) async throws {
        let program = try #require(Self.compiled).path + "/prompt"
        try await check.run(PromptFixture(program: [program], patience: Self.patience))
    }

    /// The folder that the example in C was compiled into, once; nil: it doesn't compile.
    private static let compiled: TemporaryFolder? = {
        guard let target = try? TemporaryFolder() else { return nil }
        let words = [
            "/bin/sh", "-c",
            "cc -O2 -Wall -Wextra -Werror -Wno-unused-parameter -o \"$1\" \"$2\" "
                + "$(pkg-config --cflags --libs libsystemd libcrypto)",
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
        // A program that doesn't start would be found by every check.
        #expect(!why.contains("SyntaxError") && !why.contains("NameError"), "\(why)")
    }

    static let faults = secretFaults + answerFaults + textFaults + callFaults

    private static let secretFaults = [
        PlantedFault(
            "half a password",
            "seal(prompt.key, prompt.typed,",
            "seal(prompt.key, prompt.typed[:3],",
            "A password is sealed to"
        ),
        PlantedFault(
            "a password for whatever prompt",
            "VERIFIER, next(iter(self.prompts))",
            #"VERIFIER, """#,
            "A password is sealed to"
        ),
        PlantedFault(
            "a password that is shown",
            "prompt.typed.append(byte)",
            "prompt.typed.append(byte), self.say(chr(byte))",
            "What is typed is not shown"
        ),
        PlantedFault(
            "an empty password",
            "in (10, 13) and prompt.typed:",
            "in (10, 13) and prompt.takes:",
            "Nothing typed is no attempt"
        ),
        PlantedFault(
            "one password a prompt",
            "prompt.wipe()\n    def send_password",
            "prompt.wipe(); prompt.takes = False\n    def send_password",
            "A password that the service refuses"
        ),
        PlantedFault(
            "one key of the verifier for ever",
            "public_key(detail) or prompt.key",
            "prompt.key",
            "A new key of the verifier"
        ),
        PlantedFault(
            "no password while sensors look",
            #"stage != "biometry" or policy == 2"#,
            #"stage != "biometry""#,
            "While sensors look"
        ),
        PlantedFault(
            "a password under every policy",
            #"stage != "biometry" or policy == 2"#,
            "True",
            "Under policy 1"
        ),
        PlantedFault(
            "what was begun kept",
            "        self.shown().wipe()\n",
            "",
            "A password that was begun"
        ),
        PlantedFault(
            "a terminal that is kept",
            "termios.tcsetattr(self.terminal, termios.TCSAFLUSH, self.saved)",
            "pass",
            "A terminal is given back"
        ),
        PlantedFault(
            "an item's password to the verifier",
            #"prompt.key = kind[0] == "a", "#,
            "prompt.key = False, ",
            "An item's password is never"
        ),
        PlantedFault(
            "an item's password that is not sealed",
            "sealed = seal(self.key, prompt.typed, KEYCHAIN, self.bus.get_unique_name())",
            "sealed = bytes(prompt.typed)",
            "An item's password is sealed to the service, for"
        ),
        PlantedFault(
            "one key of the service for ever",
            "self.owner, self.key = owner, None",
            "self.owner = owner",
            "An item's password is sealed to the service that"
        ),
    ]

    private static let answerFaults = [
        PlantedFault(
            "a fallback that is not on offer",
            "and prompt.offer: self.submit(prompt.offer)",
            #"and True: self.submit(prompt.offer or "SubmitFallback")"#,
            "A fallback is taken"
        ),
        PlantedFault(
            "a fallback without a button",
            #""fallback-available" and prompt.fallback and not prompt.offer"#,
            #""fallback-available" and not prompt.offer"#,
            "With an empty title"
        ),
        PlantedFault(
            "confirmed again and again",
            #"setattr(prompt, "offer", None)"#,
            "None",
            "A confirmation is sent once"
        ),
        PlantedFault(
            "a fallback in the place of a confirmation",
            #"if kind == "confirmation-required": prompt"#,
            #"if kind == "confirmation-required" and not prompt.offer: prompt"#,
            "Where a match is to be confirmed"
        ),
        PlantedFault(
            "a cancel that is not sent",
            #"self.submit("SubmitCancel"), "#,
            "",
            "Cancel at once"
        ),
        PlantedFault(
            "a cancel with half a password",
            #"self.submit("SubmitCancel"), "#,
            #"prompt.typed and self.send(prompt), self.submit("SubmitCancel"), "#,
            "Cancel in the middle of a password"
        ),
        PlantedFault(
            "an end that is not heard",
            "def End(self, handle, outcome): self.over(handle, outcome)",
            "def End(self, handle, outcome): pass",
            "Each outcome"
        ),
    ]

    private static let textFaults = [
        PlantedFault(
            "a delay that is not heard",
            #"detail.get("delay", 0) > 0"#,
            "False",
            "A delay is told"
        ),
        PlantedFault(
            "a sensor's own words left out",
            #"prompt.own.get(detail.get("sensor"))"#,
            "False",
            "What a sensor has"
        ),
        PlantedFault(
            "control characters",
            #"" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c"#,
            "c",
            "Control characters"
        ),
        PlantedFault(
            "characters of direction",
            #" if unicodedata.category(c) != "Cf""#,
            "",
            "A text can't change"
        ),
        PlantedFault(
            "texts without an end",
            "[:limit].strip()",
            ".strip()",
            "A text without an end"
        ),
        PlantedFault(
            "no reason",
            "wants to: {prompt.reason}",
            "wants something",
            "It shows what for"
        ),
        PlantedFault(
            "a sandbox that is not told",
            #"f"The sandboxed app {name}""#,
            "name",
            "A sandboxed app is shown"
        ),
        PlantedFault(
            "the program of a sandboxed app",
            #"if name and text("sandbox-id", 255) else "A sandboxed app""#,
            "if name else proven(pid)",
            "A sandboxed app without"
        ),
        PlantedFault(
            "a path that anybody can have had",
            #" if os.path.samefile(path, f"/proc/{pid}/exe") else None"#,
            "",
            "A program whose file"
        ),
    ]

    private static let callFaults = [
        PlantedFault(
            "strangers listened to",
            #"if caller != self.owner: raise Fault("AccessDenied")"#,
            "pass",
            "Strangers are refused"
        ),
        PlantedFault("a handle twice", " or handle in self.prompts", "", "A handle that is in use"),
        PlantedFault(
            "one service for ever",
            "if owner == self.owner: return",
            "if self.owner or not owner: return",
            "A service that comes back"
        ),
        PlantedFault(
            "a service asked again and again",
            "if owner: self.ask(",
            "if owner: self.owner = GLib.timeout_add(100, self.serve, owner); self.ask(",
            "A service that refuses"
        ),
        PlantedFault(
            "prompts of a service that is gone",
            #"for handle in list(self.prompts): self.over(handle, "system")"#,
            "pass",
            "A service that comes back"
        ),
        PlantedFault(
            "a status of its own at SIGTERM",
            "    agent.restore()\n",
            "    agent.restore(); sys.exit(3)\n",
            "SIGTERM ends it with status 0 within a second"
        ),
    ]
}
