import DBus
import Foundation
import LocalAuthBus
import TestSupport
import Testing

/// Tests the verbs of `localauthctl keychain` with the real service.
@Suite(.serialized, .timeLimit(.minutes(10))) struct KeychainCommandTests {
    private let service: RealService
    private let folder: Folder

    init() async throws {
        service = try await RealService()
        folder = try Folder()
    }

    /// Runs a verb without a terminal.
    private func keychain(_ verb: String, _ arguments: String...) async throws -> ChildProcess.Ended
    {
        try await keychain([verb] + arguments)
    }

    private func keychain(_ words: [String]) async throws -> ChildProcess.Ended {
        try await control(["keychain"] + words + ["--bus", service.bus.address])
    }

    private func json(_ ended: ChildProcess.Ended) throws -> [String: Any] {
        #expect(ended.status == 0, "\(ended.errors)")
        let value = try JSONSerialization.jsonObject(with: Data(ended.output.utf8))
        return try #require(value as? [String: Any])
    }

    private func bytes(_ ended: ChildProcess.Ended, _ name: String) throws -> Data {
        let text = try #require(try json(ended)[name] as? String)
        return try #require(Data(base64Encoded: text))
    }

    private func add(
        _ name: String,
        _ secret: String,
        _ arguments: String...
    ) async throws -> String {
        let file = try folder.file(Data(secret.utf8))
        let ended = try await control(
            ["keychain", "add", "--bus", service.bus.address, "--service", name, "--json"]
                + ["--secret-file", file] + arguments
        )
        return try #require(try json(ended)["id"] as? String)
    }

    @Test("A secret from a file is stored, listed, read byte for byte, and deleted")
    func items() async throws {
        let secret = Data((0..<65_536).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 >> 8) })
        let file = try folder.file(secret)
        let added = try await keychain(
            "add",
            "--service",
            "mail",
            "--account",
            "ann",
            "--secret-file",
            file
        )
        #expect(added.status == 0 && added.output.hasPrefix("Stored as "))
        let listed = try await keychain("list", "--service", "mail", "--json")
        let value = try JSONSerialization.jsonObject(with: Data(listed.output.utf8))
        let item = try #require((value as? [[String: Any]])?.first)
        #expect(item["class"] as? String == "genp" && item["account"] as? String == "ann")
        #expect(item["accessible"] as? String == "ak" && item["created"] is Int)
        let id = try #require(item["id"] as? String)
        #expect(try await keychain("list").output.contains(id))
        #expect(try await keychain("list", "--service", "male", "--json").output == "[]\n")
        let next = "Next: localauthctl keychain add (with --bus \(service.bus.address))"
        #expect(try await keychain("list", "--service", "male").output == "No item. \(next)\n")

        #expect(try bytes(await keychain("read", id, "--json"), "secret") == secret)
        let output = folder.path + "/secret"
        #expect(try await keychain("read", id, "--output", output).status == 0)
        #expect(try Data(contentsOf: URL(filePath: output)) == secret)
        let mode = try FileManager.default.attributesOfItem(atPath: output)[.posixPermissions]
        #expect(mode as? Int == 0o600)

        let again = try await keychain(
            "add",
            "--service",
            "mail",
            "--account",
            "ann",
            "--secret-file",
            file
        )
        #expect(again.status == 1 && again.errors.contains("localauthctl keychain list"))
        // Repeating an id deletes the item once.
        let deleted = try await keychain("delete", id, id)
        #expect(deleted.status == 0 && deleted.output == "Deleted 1 item.\n", "\(deleted)")
        let gone = try await keychain("delete", id, "--json")
        #expect(gone.status == 1 && gone.output == "{\"deleted\": 0}\n")
        let missing = try await keychain("read", id)
        #expect(missing.status == 1 && missing.output.isEmpty)
        #expect(missing.errors.contains("The item does not exist."))
    }

    @Test("An item with a server is an internet password with every given attribute")
    func internetPassword() async throws {
        let file = try folder.file(Data("sesame".utf8))
        let given = [
            "server": "mail.example.org", "account": "ann", "protocol": "imap", "port": "993",
            "path": "/inbox", "label": "Mail", "comment": "at work",
        ]
        let words = given.flatMap { ["--\($0)", $1] }
        let added = try await keychain(["add", "--secret-file", file, "--json"] + words)
        let id = try #require(try json(added)["id"] as? String)
        let listed = try await keychain(["list", "--json"] + words)
        let value = try JSONSerialization.jsonObject(with: Data(listed.output.utf8))
        let items = try #require(value as? [[String: Any]])
        #expect(items.map { $0["id"] as? String } == [id])
        let item = try #require(items.first)
        #expect(item["class"] as? String == "inet")
        for (name, text) in given { #expect("\(item[name] ?? "none")" == text, "\(name)") }
    }

    @Test("An existing file is not overwritten")
    func existingFile() async throws {
        let id = try await add("mail", "sesame")
        let file = try folder.file(Data("an older one".utf8))
        let refused = try await keychain("read", id, "--output", file)
        #expect(refused.status == 1, "\(refused)")
        #expect(try Data(contentsOf: URL(filePath: file)) == Data("an older one".utf8))
    }

    @Test("The words for protection are Apple's bits, and accessibility is stored as given")
    func access() async throws {
        let id = try await add("usual", "sesame", "--accessible", "aku")
        let listed = try await keychain("list", "--service", "usual", "--json").output
        #expect(listed.contains(id) && listed.contains("\"aku\""), "\(listed)")
        let words: [(flags: String, bits: UInt64)] = [
            ("user-presence", 1 << 0), ("biometry-any", 1 << 1), ("biometry-current-set", 1 << 3),
            ("device-passcode", 1 << 4), ("companion", 1 << 5),
            ("device-passcode,or,companion", 1 << 4 | 1 << 5 | 1 << 14),
            ("device-passcode,and,companion", 1 << 4 | 1 << 5 | 1 << 15),
            ("private-key-usage", 1 << 30), ("application-password", 1 << 31),
        ]
        let password = try folder.file(Data("1234".utf8))
        // An item of the current enrolment needs an enrolment.
        try await service.addTemplate("thumb")
        let bus = service.bus
        for (flags, bits) in words {
            _ = try await add(flags, "sesame", "--flags", flags, "--password-file", password)
            let found = try await onBus {
                let keychain = Keychain1Proxy(
                    try bus.connect(),
                    destination: TestDaemon.name,
                    path: Keychain1.path
                )
                return try await keychain.search(query: ["svce": .string(flags)], options: [:])
            }
            #expect(found.map { $0["flags"] } == [.uint64(bits)], "\(flags)")
        }
    }

    @Test("A typed secret is never shown, and a pipe receives the bytes only")
    func typed() async throws {
        let pty = try Pty()
        let adding = try service.start(["keychain", "add", "--service", "mail"], on: pty)
        #expect(pty.shows("Secret:"))
        pty.type("op\u{7F}en sesame\n")
        #expect(try adding.wait() == 0)
        #expect(pty.shows("Stored as "))
        #expect(!pty.screen.contains("sesame") && pty.isPlain)
        #expect(try await keychain("read", "--service", "mail").output == "oen sesame")
        let reading = try service.start(["keychain", "read", "--service", "mail"], on: pty)
        #expect(try reading.wait() == 0)
        #expect(pty.shows("oen sesame\r\n"))

        let canceled = try service.start(["keychain", "add", "--service", "no"], on: pty)
        #expect(pty.shows("Secret:", times: 2))
        pty.type("never\u{3}")
        #expect(try canceled.wait() == 1)
        #expect(try await keychain("list", "--service", "no", "--json").output == "[]\n")
    }

    @Test("A finger opens an item, and a miss leaves no output")
    func finger() async throws {
        try await service.queue("match", "match", "match", "match", "match")
        let pty = try Pty()
        let enrolling = try service.start(["enroll"], on: pty)
        if geteuid() != 0 {
            #expect(pty.shows("Password of"))
            pty.type("\(PAMService.passcode)\n")
        }
        #expect(try enrolling.wait() == 0)
        let id = try await add("vault", "sesame", "--flags", "biometry-current-set")

        let listed = try await keychain("list").output
        #expect(listed.contains("GUARDED BY") && listed.contains("biometry-current-set"))
        let output = folder.path + "/secret"
        let quiet = try await keychain("read", id, "--no-prompt", "--output", output)
        #expect(quiet.status == 1 && quiet.errors.contains("--no-prompt"))
        #expect(!FileManager.default.fileExists(atPath: output))

        let words = ["keychain", "read", "--service", "vault", "--output", output]
        try await service.queue("no-match", "no-match", "no-match")
        let refused = try service.start(words, on: pty)
        #expect(pty.shows("is trying to use “vault” of your keychain"))
        #expect(try refused.wait() == 1)
        #expect(pty.shows("localauthctl doctor"))
        #expect(!FileManager.default.fileExists(atPath: output))

        try await service.queue("match")
        #expect(try service.start(words, on: pty).wait() == 0)
        #expect(try String(contentsOfFile: output, encoding: .utf8) == "sesame")
        #expect(!pty.screen.contains("sesame"))
    }

    @Test("Only an item's application password opens it, from a file or typed")
    func password() async throws {
        let right = try folder.file(Data("1234".utf8))
        let wrong = try folder.file(Data("1235".utf8))
        let flags = ["--flags", "application-password", "--password-file", right]
        let id = try await add("vault", "sesame", flags[0], flags[1], flags[2], flags[3])
        #expect(try await keychain("read", id, "--password-file", right).output == "sesame")
        let refused = try await keychain("read", id, "--password-file", wrong)
        #expect(refused.status == 1 && refused.output.isEmpty)
        #expect(refused.errors.contains("The application password is wrong."))
        let pty = try Pty()
        let reading = try service.start(["keychain", "read", id], on: pty)
        #expect(pty.shows("is trying to use “vault” of your keychain"))
        pty.type("1234\n")
        #expect(try reading.wait() == 0)
        #expect(pty.shows("sesame"))
    }

    @Test("OpenSSL verifies a key's signatures, and derives equal secrets")
    func keys() async throws {
        let made = try json(await keychain("create-key", "--tag", "work", "--json"))
        let id = try #require(made["id"] as? String)
        let text = try #require(made["publicKey"] as? String)
        let point = try #require(Data(base64Encoded: text))
        #expect(point.count == 65)
        #expect(try await keychain("keys", "--json").output.contains(text))
        let plain = try await keychain("public-key", "--tag", "work")
        #expect(plain.output == text + "\n", "\(plain.errors)")
        #expect(try await keychain("public-key", id, "--pem", "--json").status == 64)
        let message = try folder.file(Data("a message".utf8))
        // The PEM output has to equal the PEM file that this test makes.
        let written = try await keychain("public-key", id, "--pem")
        let pem = try folder.file(Data(written.output.utf8))
        let expected = try String(contentsOfFile: folder.publicKey(point), encoding: .utf8)
        #expect(written.output == expected.replacing("\r\n", with: "\n"))

        let signature = folder.path + "/signature"
        let signed = try await keychain("sign", id, "--file", message, "--output", signature)
        #expect(signed.status == 0, "\(signed.errors)")
        #expect(
            try folder.openssl("dgst", "-sha256", "-verify", pem, "-signature", signature, message)
                == 0
        )
        let other = try folder.file(Data("a massage".utf8))
        #expect(
            try folder.openssl("dgst", "-sha256", "-verify", pem, "-signature", signature, other)
                != 0
        )
        let short = try await keychain(
            "sign",
            id,
            "--algorithm",
            "ecdsa-digest-sha256",
            "--file",
            message
        )
        #expect(short.status == 1 && short.errors.contains("32 bytes"))

        let (their, theirPoint) = try folder.key()
        let exchanged = try await keychain(
            "exchange",
            "--tag",
            "work",
            "--algorithm",
            "ecdh",
            "--public-key",
            theirPoint.base64EncodedString(),
            "--json"
        )
        let shared = folder.path + "/shared"
        #expect(
            try folder.openssl(
                "pkeyutl",
                "-derive",
                "-inkey",
                their,
                "-peerkey",
                pem,
                "-out",
                shared
            ) == 0
        )
        #expect(try bytes(exchanged, "secret") == Data(contentsOf: URL(filePath: shared)))
        let garbage = try await keychain("decrypt", id, "--file", message)
        #expect(garbage.status == 1 && garbage.output.isEmpty)
    }

    @Test("A key decrypts other programs' ciphertexts, and derives secrets as requested")
    func derivation() async throws {
        let made = try json(await keychain("create-key", "--tag", "work", "--json"))
        let id = try #require(made["id"] as? String)
        let text = try #require(made["publicKey"] as? String)
        let script = """
            import sys
            from cryptography.hazmat.primitives import hashes, serialization
            from cryptography.hazmat.primitives.asymmetric import ec
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
            from cryptography.hazmat.primitives.kdf.x963kdf import X963KDF
            point = ec.EllipticCurvePublicKey.from_encoded_point(
                ec.SECP256R1(), sys.stdin.buffer.read())
            other = ec.generate_private_key(ec.SECP256R1())
            encoded = other.public_key().public_bytes(
                serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
            shared = other.exchange(ec.ECDH(), point)
            derived = X963KDF(hashes.SHA256(), 32, encoded).derive(shared)
            box = AESGCM(derived[:16]).encrypt(derived[16:], b"for the key", None)
            sys.stdout.buffer.write(
                X963KDF(hashes.SHA256(), 32, None).derive(shared)
                + X963KDF(hashes.SHA256(), 20, b"both know it").derive(shared) + encoded + box)
            """
        let point = try #require(Data(base64Encoded: text))
        let others = try ChildProcess.run(["/usr/bin/python3", "-c", script], input: Array(point))
        try #require(others.bytes.count == 144, "\(others.errors)")
        let box = try folder.file(Data(others.bytes[52...]))
        #expect(try await keychain("decrypt", id, "--file", box).output == "for the key")
        let words = ["exchange", id, "--json", "--public-key"]
        let their = Data(others.bytes[52..<117]).base64EncodedString()
        let plain = try await keychain(words + [their])
        #expect(try bytes(plain, "secret") == Data(others.bytes[..<32]))
        let told = ["--shared-info", "both know it", "--size", "20"]
        let derived = try await keychain(words + [their] + told)
        #expect(try bytes(derived, "secret") == Data(others.bytes[32..<52]))
    }

    @Test("A prompt for an item has the given reason, and ends by timeout or Ctrl-C")
    func prompting() async throws {
        let password = try folder.file(Data("1234".utf8))
        let id = try await add("vault", "sesame", "--flags", "device-passcode")
        let flags = "device-passcode,application-password"
        let other = try await add("safe", "sesame", "--flags", flags, "--password-file", password)
        let pty = try Pty()
        let agent = try service.start(["agent", "--session"], on: pty)
        #expect(pty.shows("Ready: serves this session."))
        let late = try await keychain("read", id, "--timeout", "1s")
        #expect(late.status == 1 && late.output.isEmpty, "\(late)")
        #expect(late.errors.contains("The time for this evaluation is over."), "\(late)")
        // With an application password the command invalidates a context instead.
        let uses = [
            ([id, "--reason", "open the vault"], "is trying to open the vault"),
            ([other, "--password-file", password], "is trying to use “safe” of your keychain"),
        ]
        for (number, (words, question)) in uses.enumerated() {
            let reading = try ChildProcess(
                ["localauthctl", "keychain", "read", "--bus", service.bus.address] + words,
                hasSession: true
            )
            #expect(pty.shows(question))
            reading.signal(SIGINT)
            let ended = try await reading.ended(within: .seconds(60))
            #expect(ended.status == 1 && ended.output.isEmpty, "\(ended)")
            #expect(pty.shows("Canceled.", times: number + 1) && agent.isRunning)
        }
    }

    @Test("Wrong usage is status 64, an unreachable service 3, with a remedy each")
    func usage() async throws {
        for words in [
            ["add", "--secret-file", "-", "--flags", "nonsense"], ["add", "--class", "keys"],
            ["read"], ["read", "id", "--service", "mail"], ["exchange", "id", "--public-key", "?"],
            ["add", "--service", "mail"],
            ["add", "--service", "mail", "--secret-file", "-", "--accessible", "forever"],
        ] {
            let ended = try await control(
                ["keychain"] + words + ["--bus", service.bus.address]
            )
            #expect(ended.status == 64, "\(words)")
            #expect(!ended.errors.isEmpty && ended.output.isEmpty, "\(words)")
        }
        let away = try await control("keychain", "list", "--bus", "unix:path=/nonexistent")
        #expect(away.status == 3)
        let large = try folder.file(Data(count: 65_537))
        let refused = try await keychain("add", "--service", "mail", "--secret-file", large)
        #expect(refused.status == 1 && refused.errors.contains("more than 65536 bytes"))
        let comment = String(repeating: "x", count: 9999)
        let empty = "/dev/null"
        let long = try await keychain("add", "--secret-file", empty, "--comment", comment)
        #expect(long.status == 1 && long.errors.contains("Next: use shorter texts"), "\(long)")
    }

    @Test("--replace replaces the secret of the existing item only")
    func replacing() async throws {
        let id = try await add("mail", "first")
        let other = try await add("mail", "of ann", "--account", "ann")
        let file = try folder.file(Data("second".utf8))
        let again = ["--service", "mail", "--secret-file", file]
        let words = ["keychain", "add", "--bus", service.bus.address] + again
        let refused = try await control(words)
        #expect(refused.status == 1 && refused.errors.contains("keychain list"), "\(refused)")
        let replaced = try await control(words + ["--replace", "--json"])
        #expect(try json(replaced)["id"] as? String == id)
        #expect(try await keychain("read", id).output == "second")
        #expect(try await keychain("read", other).output == "of ann")
        let nobody = try await control(words + ["--account", "", "--replace", "--json"])
        #expect(try json(nobody)["id"] as? String == id)
        // An item without an access control must not receive a guarded secret.
        let guarded = try await control(words + ["--flags", "user-presence", "--replace"])
        #expect(guarded.status == 1 && guarded.errors.contains("access control"), "\(guarded)")
        // A weaker accessibility must not receive the secret either.
        let open = try await control(words + ["--accessible", "aku", "--replace"])
        #expect(open.status == 1 && open.errors.contains("access control"), "\(open)")
        let new = try await add("news", "third", "--replace")
        #expect(try await keychain("read", new).output == "third")
    }
}
