import Foundation
import TestSupport
import Testing

/// L18: Tests loss and recovery of the master key in its file, with the real daemon.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RecoveryTests {
    private let host: KeychainHost

    init() throws { host = try KeychainHost() }

    /// Runs a daemon until it has an item.
    private func used() async throws {
        try await host.start()
        try await host.add("mail", "sesame")
        host.stop()
    }

    private func recoveryKey() async throws -> String {
        let exported = try await host.keychain("export-recovery-key")
        #expect(exported.status == 0, "\(exported.errors)")
        return exported.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func restore(_ text: String) async throws -> ChildProcess.Ended {
        let file = try host.folder.file(Data(text.utf8))
        return try await host.keychain("restore", "--key-file", file)
    }

    @Test(
        "A lost key is named, not replaced, and the recovery key restores it"
    )
    func lost() async throws {
        try await host.start()
        try await host.add("mail", "sesame")
        let text = try await recoveryKey()
        let running = try await restore(text)
        #expect(running.status == 1 && running.errors.contains("stop the service"))
        host.stop()
        let key = try host.bytes(host.keyFile)
        try FileManager.default.removeItem(atPath: host.keyFile)

        try await host.start()
        let refusal = try await host.refusal()
        #expect(refusal.name == "org.localauth.Keychain1.Error.NotAvailable")
        #expect(refusal.message.contains("is missing"))
        #expect(refusal.message.contains("recovery key"))
        let read = try await host.read("mail")
        #expect(read.status == 1 && read.output.isEmpty)
        #expect(read.errors.contains("is missing"))
        host.stop()
        for verb in ["export-recovery-key", "init"] {
            let refused = try await host.keychain(verb)
            #expect(refused.status == 1 && refused.output.isEmpty, "\(verb)")
        }
        #expect(!host.exists(host.keyFile))

        #expect(try await restore(text).status == 0)
        #expect(try host.bytes(host.keyFile) == key)
        try await host.start()
        #expect(try await host.read("mail").output == "sesame")
    }

    @Test("A running service is detected, also before it opens its keychain")
    func running() async throws {
        #expect(try await host.keychain("init").status == 0)
        let text = try await recoveryKey()
        let key = try host.bytes(host.keyFile)
        try await host.start()
        for ended in [
            try await restore(text), try await host.keychain("init"),
            try await host.keychain("init", "--tpm", "--credential", host.credential),
        ] {
            #expect(ended.status == 1 && ended.errors.contains("stop the service"))
        }
        #expect(try host.bytes(host.keyFile) == key)
        #expect(!host.exists(host.keyFile + ".replaced-1") && !host.exists(host.credential))
    }

    @Test(
        "A wrong key is refused with both names, and restoring keeps it beside the right key"
    )
    func wrong() async throws {
        try await used()
        let text = try await recoveryKey()
        let wrong = Data(repeating: 9, count: 32)
        try host.write(wrong, to: host.keyFile)
        try await host.start()
        let refusal = try await host.refusal()
        #expect(refusal.name == "org.localauth.Keychain1.Error.NotAvailable")
        let names = try #require(
            refusal.message.firstMatch(of: /needs the master key (\w+), and this is (\w+)\./)
        )
        #expect(names.1 != names.2)
        #expect(try await host.read("mail").status == 1)
        host.stop()
        #expect(try host.bytes(host.keyFile) == wrong)
        #expect(try await restore(text).status == 0)
        #expect(try host.bytes(host.keyFile + ".replaced-1") == wrong)
        try await host.start()
        #expect(try await host.read("mail").output == "sesame")
    }

    @Test("Exporting leaves a damaged database alone, and does not vouch for the key")
    func exportOfDamaged() async throws {
        try await used()
        let database = host.state + "/keychain/items.sqlite"
        // Without the log, which would repair the damage.
        try? FileManager.default.removeItem(atPath: database + "-wal")
        let damaged = Data("rubbish".utf8) + (try host.bytes(database)).dropFirst(7)
        try host.write(damaged, to: database)
        let exported = try await host.keychain("export-recovery-key")
        #expect(exported.status == 0 && exported.errors.contains("was not compared"))
        #expect(try host.bytes(database) == damaged)
        #expect(!host.exists(database + ".damaged-1"))
        let restored = try await restore(exported.output)
        #expect(restored.status == 0 && restored.errors.contains(database + ".damaged-1"))
        #expect(try host.bytes(database + ".damaged-1") == damaged)
    }

    @Test("A recovery key with a typo, in part or of another keychain changes nothing")
    func slips() async throws {
        try await used()
        let text = try await recoveryKey()
        let key = try host.bytes(host.keyFile)
        let other = try KeychainHost()
        #expect(try await other.keychain("init").status == 0)
        let foreign = try await other.keychain("export-recovery-key").output
        let slip = String(text.dropLast()) + (text.hasSuffix("0") ? "1" : "0")
        for (wrong, reason) in [
            (slip, "mistyped"), (String(text.dropLast(5)), "letters and digits"),
            (foreign, "recovery key of the master key"), ("", "letters and digits"),
        ] {
            let refused = try await restore(wrong)
            #expect(refused.status == 1 && refused.errors.contains(reason), "\(refused.errors)")
            #expect(refused.errors.contains("Next: "))
            #expect(try host.bytes(host.keyFile) == key)
            #expect(!host.exists(host.keyFile + ".replaced-1"))
        }
    }

    @Test("A recovery key sealed to a public key opens with its private key alone, and restores")
    func sealed() async throws {
        try await used()
        let (mine, other) = (host.folder.path + "/mine", host.folder.path + "/other")
        for pair in [mine, other] {
            for words in [
                ["genpkey", "-algorithm", "X25519", "-out", pair + ".key"],
                ["pkey", "-in", pair + ".key", "-pubout", "-out", pair + ".pub"],
            ] {
                #expect(try ChildProcess.run(["/usr/bin/openssl"] + words).status == 0)
            }
        }
        let (text, file) = (try await recoveryKey(), host.folder.path + "/sealed")
        func export(_ key: String, _ target: String) async throws -> ChildProcess.Ended {
            try await host.keychain("export-recovery-key", "--public-key", key, "--to", target)
        }
        let written = try await export(mine + ".pub", file)
        #expect(written.status == 0 && written.output.isEmpty, "\(written.errors)")
        #expect(!String(decoding: try host.bytes(file), as: UTF8.self).contains(text.prefix(9)))
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try await export(mine + ".pub", file).errors.contains("can't be written"))
        for wrong in [mine + ".key", file] {
            let refused = try await export(wrong, file + "2")
            #expect(refused.status == 1 && refused.errors.contains("no X25519 key"))
        }
        #expect(try await host.keychain("export-recovery-key", "--to", file).status == 64)
        let piped = try await export(mine + ".pub", "1")
        #expect(piped.output.hasPrefix("-----BEGIN LOCALAUTH RECOVERY KEY-----\n"))

        func open(_ sealed: String, _ key: String) async throws -> ChildProcess.Ended {
            try await control([
                "keychain", "open-recovery-key", "--key-file", sealed, "--private-key", key,
            ])
        }
        let foreign = try await open(file, other + ".key")
        #expect(foreign.status == 1 && foreign.output.isEmpty)
        #expect(foreign.errors.contains("does not open with this private key"))
        let again = try host.folder.file(Data(piped.output.utf8))
        for sealed in [file, again] {
            let opened = try await open(sealed, mine + ".key")
            #expect(opened.output == text + "\n", "\(opened.errors)")
        }
        try FileManager.default.removeItem(atPath: host.keyFile)
        #expect(try await restore(try await open(file, mine + ".key").output).status == 0)
        try await host.start()
        #expect(try await host.read("mail").output == "sesame")
    }

    @Test("A typed recovery key is never shown, and case does not matter")
    func typed() async throws {
        try await used()
        let text = try await recoveryKey()
        let key = try host.bytes(host.keyFile)
        try FileManager.default.removeItem(atPath: host.keyFile)
        let pty = try Pty()
        let restoring = try ChildProcess(
            ["localauthctl", "keychain", "restore", "--state-directory", host.state],
            terminal: pty.path
        )
        #expect(pty.shows("Recovery key:"))
        let typed = text.lowercased().replacing("-", with: " ")
        pty.type(typed + "\n")
        #expect(try restoring.wait() == 0)
        #expect(pty.shows("The master key is in place."))
        #expect(!pty.screen.contains(typed.prefix(4)) && !pty.screen.contains(text.prefix(4)))
        #expect(try host.bytes(host.keyFile) == key)
    }

    @Test("A key that other users can read is not exported")
    func permissions() async throws {
        try await used()
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644],
            ofItemAtPath: host.keyFile
        )
        let open = try await host.keychain("export-recovery-key")
        #expect(open.status == 1 && open.output.isEmpty)
        #expect(open.errors.contains("0600"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600],
            ofItemAtPath: host.keyFile
        )
        #expect(try await host.keychain("export-recovery-key").status == 0)
    }

    @Test(
        "A key that another user owns is not exported",
        .enabled(if: geteuid() == 0, "only root can be two users")
    )
    func foreignKey() async throws {
        try await used()
        try #require(chown(host.keyFile, 65_534, 65_534) == 0)
        let foreign = try await host.keychain("export-recovery-key")
        #expect(foreign.status == 1 && foreign.output.isEmpty)
        #expect(foreign.errors.contains("with chown"))
    }

    @Test("init creates one key of 32 bytes, and never a second")
    func initialize() async throws {
        let made = try await host.keychain("init", "--json")
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.contains("\"file\": \"\(host.keyFile)\""))
        let key = try host.bytes(host.keyFile)
        #expect(key.count == 32)
        let again = try await host.keychain("init")
        #expect(again.status == 1 && again.errors.contains("already"))
        #expect(try host.bytes(host.keyFile) == key)
        try await used()
        #expect(try host.bytes(host.keyFile) == key)
        try FileManager.default.removeItem(atPath: host.keyFile)
        let lost = try await host.keychain("init")
        #expect(lost.status == 1 && lost.errors.contains("is missing"))
        #expect(!host.exists(host.keyFile))
    }

    @Test(
        "Files that root creates belong to the service",
        .enabled(if: geteuid() == 0, "only root can be two users")
    )
    func owner() async throws {
        try #require(chmod(host.folder.path, 0o711) == 0)
        try #require(chown(host.state, 65_534, 65_534) == 0)
        #expect(try await host.keychain("init").status == 0)
        let text = try await recoveryKey()
        try host.write(Data(repeating: 9, count: 32), to: host.keyFile)
        try #require(chown(host.keyFile, 65_534, 65_534) == 0)
        #expect(try await restore(text).status == 0)
        for name in ["", "/master.key", "/items.sqlite", "/lock", "/master.key.replaced-1"] {
            let file = host.state + "/keychain" + name
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.ownerAccountID] as? Int == 65_534, "\(name)")
        }
    }

    @Test(
        "Without a TPM or systemd-creds the key stays in its file, with a reason"
    )
    func unsealable() async throws {
        #expect(try await host.keychain("init").status == 0)
        let key = try host.bytes(host.keyFile)
        let place = ["--tpm", "--credential", host.credential]
        let none = try await host.keychain(
            "init",
            place[0],
            place[1],
            place[2],
            "--tpm2-device",
            "swtpm:path=/nonexistent"
        )
        #expect(none.status == 1 && none.errors.contains("doesn't seal the key: "))
        let path = try await host.keychain(
            "init",
            place[0],
            place[1],
            place[2],
            environment: ["PATH": "/nonexistent"]
        )
        #expect(path.status == 1 && path.errors.contains("systemd-creds can't be started"))
        #expect(path.errors.contains("Next: "))
        let nowhere = try await host.keychain("init", "--tpm", "--credential", "/proc/no/file")
        #expect(nowhere.status == 1 && nowhere.errors.contains("can't be written"))
        #expect(try host.bytes(host.keyFile) == key)
        #expect(!host.exists(host.credential) && !host.exists(host.credential + ".new"))
        let usage = try await host.keychain("init", "--credential", host.credential)
        #expect(usage.status == 64 && usage.errors.contains("--tpm"))
        let away = try await control("keychain", "init", "--state-directory", "/nonexistent")
        #expect(away.status == 1 && away.errors.contains("--state-directory"))
    }
}
