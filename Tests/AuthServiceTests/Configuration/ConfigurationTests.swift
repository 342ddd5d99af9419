import Contract
import Glibc
import TestSupport
import Testing

@testable import AuthEngine
@testable import AuthService

/// Checks every key against the contract's table, and the file's syntax.
struct ConfigurationTests {
    private func parse(_ text: String) throws(ConfigurationError) -> Configuration {
        try Configuration.parse(text, file: "localauth.conf")
    }

    private func refusal(of text: String) -> String {
        #expect(throws: ConfigurationError.self) {
            try Configuration.parse(text, file: "localauth.conf")
        }?
        .description ?? ""
    }

    // MARK: Defaults

    @Test("An empty file sets the contract's defaults")
    func defaults() throws {
        let configuration = try parse("")
        #expect(configuration == Configuration())
        #expect(configuration.passcodeAfterBoot == nil)
        #expect(configuration.passcodeAfterHours == 48)
        #expect(configuration.passcodeAfterHoursWithBiometry == 156)
        #expect(configuration.lockoutAttempts == 5)
        #expect(configuration.attemptsFingerprint == 3)
        #expect(configuration.attemptsFace == 2)
        #expect(configuration.faceConfirmation == .automatic)
        #expect(!configuration.faceLearning)
        #expect(configuration.keychainStrength == .strong)
        #expect(configuration.passcodeAttempts == 5)
        #expect(configuration.disabledSensors.isEmpty)
        #expect(configuration.contextsPerConnection == 256)
        #expect(configuration.contextsPerUser == 1024)
        #expect(configuration.pendingPerConnection == 8)
        #expect(configuration.queuePerSession == 8)
        #expect(configuration.itemsPerUser == 20_000)
    }

    @Test("The defaults equal the engine's defaults")
    func engineDefaults() {
        #expect(Configuration().engineSettings(isSystemBus: false) == Settings())
    }

    @Test("L11: a boot counts on the system bus, on other buses only by configuration")
    func boot() {
        var configuration = Configuration()
        #expect(configuration.engineSettings(isSystemBus: true).passcodeAfterBoot)
        #expect(!configuration.engineSettings(isSystemBus: false).passcodeAfterBoot)
        configuration.passcodeAfterBoot = false
        #expect(!configuration.engineSettings(isSystemBus: true).passcodeAfterBoot)
        configuration.passcodeAfterBoot = true
        #expect(configuration.engineSettings(isSystemBus: false).passcodeAfterBoot)
    }

    @Test("L11: without a password the interval starts at boot, or at the service's start")
    func beginning() async throws {
        let (boot, now) = (Instant(nanoseconds: 0), Instant(nanoseconds: 77))
        #expect(AuthService.beginning(isSystemBus: true, now: now) == boot)
        #expect(AuthService.beginning(isSystemBus: false, now: now) == now)
        try await AuditBench.run { bench in
            #expect(bench.service.evaluations.engine.since > boot)
        }
    }

    @Test("L11: zero hours disable one age rule and not the other")
    func hours() {
        for (hours, withBiometry) in [(0, 0), (0, 5), (5, 0), (5, 5)] {
            var configuration = Configuration()
            configuration.passcodeAfterHours = hours
            configuration.passcodeAfterHoursWithBiometry = withBiometry
            let settings = configuration.engineSettings(isSystemBus: true)
            let expected: [Duration?] = [hours, withBiometry]
                .map { $0 == 0 ? nil : .seconds(5 * 3600) }
            #expect([settings.passcodeAfter, settings.passcodeAfterWithBiometry] == expected)
        }
    }

    @Test("The engine's settings come from the file")
    func engineSettings() throws {
        let settings = try parse(
            """
            [Biometry]
            PasscodeAfterBoot=yes
            PasscodeAfterHours=24
            PasscodeAfterHoursWithBiometry=100
            LockoutAttempts=11
            AttemptsFingerprint=7
            AttemptsFace=6
            FaceConfirmation=always
            FaceLearning=yes
            SuccessMinutes=3
            [Passcode]
            Attempts=4
            [Limits]
            PendingPerConnection=12
            QueuePerSession=13
            """
        )
        .engineSettings(isSystemBus: false)
        var expected = Settings()
        expected.passcodeAfterBoot = true
        expected.passcodeAfter = .seconds(24 * 3600)
        expected.passcodeAfterWithBiometry = .seconds(100 * 3600)
        expected.lockoutAttempts = 11
        expected.fingerprintAttempts = 7
        expected.faceAttempts = 6
        expected.faceConfirmation = .always
        expected.updatesFaceTemplates = true
        expected.contextLifetime = .seconds(180)
        expected.passcodeAttempts = 4
        expected.pendingPerConnection = 12
        expected.queuePerSession = 13
        #expect(settings == expected)
    }

    // MARK: Numbers

    struct Number: CustomTestStringConvertible, Sendable {
        let section: String
        let key: String
        let field: any KeyPath<Configuration, Int> & Sendable
        let range: ClosedRange<Int>
        var testDescription: String { "[\(section)] \(key)" }
    }

    static let numbers = [
        Number(
            section: "Biometry",
            key: "PasscodeAfterHours",
            field: \.passcodeAfterHours,
            range: 0...720
        ),
        Number(
            section: "Biometry",
            key: "PasscodeAfterHoursWithBiometry",
            field: \.passcodeAfterHoursWithBiometry,
            range: 0...720
        ),
        Number(
            section: "Biometry",
            key: "LockoutAttempts",
            field: \.lockoutAttempts,
            range: 1...20
        ),
        Number(
            section: "Biometry",
            key: "AttemptsFingerprint",
            field: \.attemptsFingerprint,
            range: 1...10
        ),
        Number(section: "Biometry", key: "AttemptsFace", field: \.attemptsFace, range: 1...10),
        Number(section: "Passcode", key: "Attempts", field: \.passcodeAttempts, range: 1...10),
        Number(
            section: "Limits",
            key: "ContextsPerConnection",
            field: \.contextsPerConnection,
            range: 1...1_000_000
        ),
        Number(
            section: "Limits",
            key: "ContextsPerUser",
            field: \.contextsPerUser,
            range: 1...1_000_000
        ),
        Number(
            section: "Limits",
            key: "PendingPerConnection",
            field: \.pendingPerConnection,
            range: 1...1_000_000
        ),
        Number(
            section: "Limits",
            key: "QueuePerSession",
            field: \.queuePerSession,
            range: 1...1_000_000
        ),
        Number(
            section: "Biometry",
            key: "SuccessMinutes",
            field: \.successMinutes,
            range: 1...480
        ),
        Number(
            section: "Limits",
            key: "ItemsPerUser",
            field: \.itemsPerUser,
            range: 1...1_000_000
        ),
    ]

    @Test("A number may have its lowest and its highest value", arguments: numbers)
    func numberInRange(_ number: Number) throws {
        for value in [
            number.range.lowerBound, number.range.lowerBound + 1, number.range.upperBound,
        ] {
            let configuration = try parse("[\(number.section)]\n\(number.key)=\(value)\n")
            #expect(configuration[keyPath: number.field] == value)
        }
    }

    @Test("A number just out of range is refused with key, line and range", arguments: numbers)
    func numberOutOfRange(_ number: Number) {
        let (low, high) = (number.range.lowerBound, number.range.upperBound)
        let wrong = [
            "\(low - 1)", "\(high + 1)", "", "many", "1.5", "0x2", "+\(high)", "\(high) # all",
            "99999999999999999999", "２", "yes", "\(low) \(low)", "=\(low)",
        ]
        for value in wrong {
            #expect(
                refusal(of: "\n[\(number.section)]\n\(number.key)=\(value)")
                    == "localauth.conf:3: \(number.key)=\(value) is not allowed; "
                    + "it takes a whole number from \(low) to \(high)."
            )
        }
    }

    // MARK: Words

    @Test("PasscodeAfterBoot is yes or no", arguments: [("yes", true), ("no", false)])
    func passcodeAfterBoot(_ word: String, _ value: Bool) throws {
        #expect(try parse("[Biometry]\nPasscodeAfterBoot=\(word)").passcodeAfterBoot == value)
    }

    @Test(
        "FaceConfirmation is auto, always or never",
        arguments: [
            ("auto", Settings.Confirmation.automatic), ("always", .always), ("never", .never),
        ]
    )
    func faceConfirmation(_ word: String, _ value: Settings.Confirmation) throws {
        #expect(try parse("[Biometry]\nFaceConfirmation=\(word)").faceConfirmation == value)
    }

    @Test("FaceLearning is yes or no", arguments: [("yes", true), ("no", false)])
    func faceLearning(_ word: String, _ value: Bool) throws {
        #expect(try parse("[Biometry]\nFaceLearning=\(word)").faceLearning == value)
    }

    @Test(
        "KeychainStrength is strong, weak or convenience",
        arguments: [("strong", Strength.strong), ("weak", .weak), ("convenience", .convenience)]
    )
    func keychainStrength(_ word: String, _ value: Strength) throws {
        #expect(try parse("[Biometry]\nKeychainStrength=\(word)").keychainStrength == value)
    }

    @Test(
        "An unknown word is refused with the allowed words",
        arguments: [
            ("PasscodeAfterBoot", "yes, no"),
            ("FaceConfirmation", "auto, always, never"),
            ("FaceLearning", "yes, no"),
            ("KeychainStrength", "strong, weak, convenience"),
        ]
    )
    func otherWord(_ key: String, _ words: String) {
        for value in ["", "enormous", "Yes", "true", "1", "yes no", "strong,", "AUTO"] {
            #expect(
                refusal(of: "[Biometry]\n\(key)=\(value)")
                    == "localauth.conf:2: \(key)=\(value) is not allowed; it takes \(words)."
            )
        }
    }

    @Test("Disabled takes any number of sensor names")
    func disabled() throws {
        #expect(try parse("[Sensors]\nDisabled=").disabledSensors == [])
        #expect(try parse("[Sensors]\nDisabled=Face").disabledSensors == ["Face"])
        #expect(
            try parse("[Sensors]\nDisabled=Face  my_sensor2\tFace").disabledSensors
                == ["Face", "my_sensor2"]
        )
        for value in ["Face,Iris", "a.b", "Kamera-1", "Gesicht\u{E4}", "\"Face\""] {
            let message = refusal(of: "[Sensors]\nDisabled=\(value)")
            #expect(message.hasPrefix("localauth.conf:2: Disabled=\(value) is not allowed"))
            #expect(message.contains("letters, digits, _"))
        }
    }
}

/// Checks the syntax of the file: lines, sections, limits.
struct ConfigurationSyntaxTests {
    private func refusal(of text: String) -> String {
        #expect(throws: ConfigurationError.self) {
            try Configuration.parse(text, file: "localauth.conf")
        }?
        .description ?? ""
    }

    @Test("Comments, blank lines, spaces around = and CRLF are allowed")
    func syntax() throws {
        let configuration = try Configuration.parse(
            "# a\n; b\n\n   \n  # c\r\n[Biometry]\r\n  LockoutAttempts \t=  7  \r\n[Passcode]\n"
                + "Attempts=2\n[Biometry]\nAttemptsFace = 3",
            file: "x"
        )
        #expect(configuration.lockoutAttempts == 7)
        #expect(configuration.passcodeAttempts == 2)
        #expect(configuration.attemptsFace == 3)
    }

    @Test("An unknown key is refused with its line, even if another section has it")
    func unknownKey() {
        #expect(
            refusal(of: "# a comment\n[Biometry]\nNoSuchKeyAtAll=1\n")
                .hasPrefix(
                    "localauth.conf:3: NoSuchKeyAtAll is no key of [Biometry]; there are Passcode"
                )
        )
        #expect(
            refusal(of: "[Passcode]\nLockoutAttempts=1")
                == "localauth.conf:2: LockoutAttempts is no key of [Passcode]; there are Attempts."
        )
        #expect(refusal(of: "[Passcode]\nattempts=1").contains(":2: attempts is no key"))
        #expect(refusal(of: "[Passcode]\n=1").contains(":2:"))
    }

    @Test(
        "An unknown section is refused with its line",
        arguments: [
            "[NoSuchSection]", "[biometry]", "[Biometry", "[Biometry]x", "[ Biometry ]", "[]",
        ]
    )
    func unknownSection(_ section: String) {
        #expect(
            refusal(of: "\n\(section)\n")
                == "localauth.conf:2: \(section) is no section here; "
                + "there are [Biometry], [Passcode], [Sensors], [Limits]."
        )
    }

    @Test("A key outside a section is refused")
    func noSection() {
        #expect(
            refusal(of: "Attempts=1")
                == "localauth.conf:1: Attempts stands before any [Section]."
        )
    }

    @Test("A repeated key is refused with both line numbers")
    func duplicate() {
        #expect(
            refusal(of: "[Passcode]\nAttempts=1\n[Biometry]\n[Passcode]\nAttempts=1")
                == "localauth.conf:5: Attempts was set in line 2 already."
        )
    }

    @Test("A line that is neither a section nor a key is refused")
    func nonsense() {
        #expect(
            refusal(of: "[Passcode]\nAttempts")
                == "localauth.conf:2: Attempts is neither a [Section] nor Key=value."
        )
    }

    @Test("A control character is refused", arguments: ["\0", "\u{1B}", "\u{85}", "\u{7F}"])
    func control(_ character: String) {
        #expect(
            refusal(of: "[Sensors]\nDisabled=A\(character)B")
                == "localauth.conf:2: The line contains a control character."
        )
    }

    @Test("Invalid UTF-8 is refused with its line, even in a comment")
    func invalidText() {
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration.parse(bytes: Array("[Passcode]\n# ".utf8) + [0xFF], file: "x")
        }
        #expect(error?.description == "x:2: The line is not valid UTF-8.")
    }

    @Test("A line of 4096 bytes is read, a longer line is refused")
    func longLine() throws {
        let comment = "#" + String(repeating: "x", count: 4095)
        #expect(try Configuration.parse("\n" + comment, file: "x") == Configuration())
        #expect(
            refusal(of: "\n" + comment + "x")
                == "localauth.conf:2: The line is longer than 4096 bytes."
        )
    }

    @Test("A file of 64 KiB is read, a longer file is refused")
    func longFile() throws {
        let full = String(repeating: "#\n", count: 32768)
        #expect(try Configuration.parse(full, file: "x") == Configuration())
        #expect(
            refusal(of: full + "\n") == "localauth.conf: The file is longer than 65536 bytes."
        )
    }

    @Test("No content of a file causes a trap")
    func noTrap() {
        var random = SeededGenerator()
        let pieces =
            [
                "[", "]", "=", "\n", " ", "#", ";", "Biometry", "LockoutAttempts", "5", "\0",
                "\u{301}",
                "\r", "-", "Disabled", "Sensors", "99999999999999999999999",
            ]
            .map { Array($0.utf8) } + [[0xFF], [0xC3]]
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...24, using: &random))
                .flatMap { _ in
                    pieces[Int.random(in: pieces.indices, using: &random)]
                }
            _ = try? Configuration.parse(bytes: bytes, file: "x")
        }
    }
}

/// Checks reading from the disk.
struct ConfigurationFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func refusal(of path: String) -> String {
        #expect(throws: ConfigurationError.self) { try Configuration.read(path: path) }?
            .description ?? ""
    }

    @Test("A file is read, and its errors name the file")
    func read() throws {
        let path = folder.path + "/localauth.conf"
        try folder.write("localauth.conf", "[Biometry]\nLockoutAttempts=2\n".utf8)
        #expect(try Configuration.read(path: path).lockoutAttempts == 2)
        try folder.write("localauth.conf", "[Biometry]\nLockoutAttempts=1000\n".utf8)
        #expect(refusal(of: path).hasPrefix("\(path):2: LockoutAttempts=1000 is not allowed"))
    }

    @Test("A missing file causes an error that names it")
    func missing() {
        let path = folder.path + "/missing.conf"
        #expect(
            refusal(of: path) == "\(path): The file can't be opened: No such file or directory."
        )
    }

    @Test("A directory, a device and a FIFO are refused at once")
    func notRegular() throws {
        let fifo = folder.path + "/fifo"
        #expect(mkfifo(fifo, 0o600) == 0)
        for path in [folder.path, "/dev/zero", fifo] {
            #expect(refusal(of: path) == "\(path): This is not a regular file.")
        }
    }

    @Test("A file over 64 KiB on the disk is refused, a file of 64 KiB is read")
    func long() throws {
        let path = folder.path + "/localauth.conf"
        try folder.write("localauth.conf", [UInt8](repeating: 0x0A, count: 65536))
        #expect(try Configuration.read(path: path) == Configuration())
        try folder.write("localauth.conf", [UInt8](repeating: 0x0A, count: 65537))
        #expect(refusal(of: path) == "\(path): The file is longer than 65536 bytes.")
    }
}
