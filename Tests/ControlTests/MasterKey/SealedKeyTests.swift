import Foundation
import TestSupport
import Testing

/// L18: Tests the master key sealed by a TPM, with swtpm and the system's systemd-creds.
@Suite(
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(if: SoftwareTPM.isReady, SoftwareTPM.reason)
)
struct SealedKeyTests {
    private let host: KeychainHost
    private let tpm: SoftwareTPM

    init() throws {
        host = try KeychainHost()
        tpm = try SoftwareTPM()
    }

    private func recoveryKey() async throws -> String {
        let exported = try await host.keychain("export-recovery-key", on: tpm)
        #expect(exported.status == 0, "\(exported.errors)")
        return exported.output
    }

    @Test("A new keychain is sealed at once, and opens only with the unsealed credential")
    func fullCircle() async throws {
        let made = try await host.keychain("init", "--tpm", "--json", on: tpm)
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.contains("\"credential\": \"\(host.credential)\""))
        #expect(!host.exists(host.keyFile))
        let mode = try FileManager.default.attributesOfItem(atPath: host.credential)
        #expect(mode[.posixPermissions] as? Int == 0o600)
        let key = try #require(try host.unseal(on: tpm))
        #expect(key.count == 32)

        try await host.start(credentials: key)
        try await host.add("mail", "sesame")
        #expect(try await host.read("mail").output == "sesame")
        host.stop()

        // Without the credential or with another credential the daemon refuses, and creates no key.
        try await host.start()
        let missing = try await host.refusal()
        #expect(missing.name == "org.localauth.Keychain1.Error.NotAvailable")
        #expect(missing.message.contains("is missing"))
        #expect(missing.message.contains("localauth-master-key.service"))
        #expect(!host.exists(host.keyFile))
        host.stop()
        for wrong in [Data(key.reversed()), Data(), Data(key.dropLast())] {
            try await host.start(credentials: wrong)
            #expect(try await host.refusal().name == "org.localauth.Keychain1.Error.NotAvailable")
            #expect(try await host.read("mail").status == 1)
            #expect(!host.exists(host.keyFile))
            host.stop()
        }

        try await host.start(credentials: key)
        #expect(try await host.read("mail").output == "sesame")
    }

    @Test("A key in a file moves into the credential with every item, and the file is deleted")
    func migration() async throws {
        try await host.start()
        try await host.add("mail", "sesame")
        let running = try await host.keychain("init", "--tpm", on: tpm)
        #expect(running.status == 1 && running.errors.contains("stop the service"))
        #expect(!host.exists(host.credential))
        host.stop()
        let key = try host.bytes(host.keyFile)
        let text = try await host.keychain("export-recovery-key").output

        let sealed = try await host.keychain("init", "--tpm", on: tpm)
        #expect(sealed.status == 0, "\(sealed.errors)")
        #expect(sealed.output.contains(host.credential))
        #expect(sealed.output.contains("export-recovery-key"))
        #expect(!host.exists(host.keyFile) && !host.exists(host.credential + ".new"))
        #expect(try host.unseal(on: tpm) == key)
        #expect(try await recoveryKey() == text)
        try await host.start(credentials: key)
        #expect(try await host.read("mail").output == "sesame")
        host.stop()

        let before = try host.bytes(host.credential)
        let again = try await host.keychain("init", "--tpm", on: tpm)
        #expect(again.status == 1 && again.errors.contains("already"))
        let plain = try await host.keychain("init")
        #expect(plain.status == 1 && plain.errors.contains("is missing"))
        #expect(try host.bytes(host.credential) == before && !host.exists(host.keyFile))
    }

    @Test("The credential is on disk before the key's file is overwritten")
    func onTheDisk() async throws {
        #expect(try await host.keychain("init").status == 0)
        let faults = try Faults()
        let sealed = try await host.keychain(
            "init",
            "--tpm",
            on: tpm,
            environment: faults.environment
        )
        #expect(sealed.status == 0, "\(sealed.errors)")
        var left = faults.synchronised[...]
        for path in [
            host.credential + ".new", parent(of: host.credential),
            host.keyFile, parent(of: host.keyFile),
        ] {
            let place = try #require(left.firstIndex(of: path), "\(path): \(faults.synchronised)")
            left = left[(place + 1)...]
        }
    }

    private func parent(of path: String) -> String {
        URL(filePath: path).deletingLastPathComponent().path
    }

    @Test("Sealing deletes clear copies of the key from earlier restores, and keeps other keys")
    func copies() async throws {
        #expect(try await host.keychain("init").status == 0)
        let text = try await host.keychain("export-recovery-key").output
        let key = try host.bytes(host.keyFile)
        let other = Data(repeating: 9, count: 32)
        try host.write(key, to: host.keyFile + ".replaced-1")
        try host.write(other, to: host.keyFile + ".replaced-2")
        let file = try host.folder.file(Data(text.utf8))
        #expect(try await host.keychain("restore", "--key-file", file).status == 0)
        #expect(!host.exists(host.keyFile + ".replaced-3"))
        #expect(try await host.keychain("init", "--tpm", on: tpm).status == 0)
        #expect(try host.unseal(on: tpm) == key)
        #expect(!host.exists(host.keyFile) && !host.exists(host.keyFile + ".replaced-1"))
        #expect(try host.bytes(host.keyFile + ".replaced-2") == other)
    }

    @Test("Another TPM fails with a message; the recovery key restores the items")
    func movedDisk() async throws {
        try await host.start()
        try await host.add("mail", "sesame")
        host.stop()
        #expect(try await host.keychain("init", "--tpm", on: tpm).status == 0)
        let text = try await recoveryKey()
        let sealed = try host.bytes(host.credential)

        let other = try SoftwareTPM()
        #expect(try host.unseal(on: other) == nil)
        let refused = try await host.keychain("export-recovery-key", on: other)
        #expect(refused.status == 1 && refused.output.isEmpty)
        #expect(refused.errors.contains("can't be unsealed"))
        #expect(refused.errors.contains("keychain restore"))
        #expect(try host.bytes(host.credential) == sealed)
        // The TPM alone is not enough: the other half is this installation's key.
        let elsewhere = ["SYSTEMD_CREDENTIAL_SECRET": host.folder.path + "/other.secret"]
        let half = try await host.keychain("export-recovery-key", on: tpm, environment: elsewhere)
        #expect(half.status == 1 && half.output.isEmpty)

        let file = try host.folder.file(Data(text.utf8))
        #expect(try await host.keychain("restore", "--key-file", file).status == 0)
        try await host.start()
        #expect(try await host.read("mail").output == "sesame")
    }

    @Test(
        "After a kill at any step the key is in its file, and the next run completes the sealing",
        arguments: ["before encrypt", "after encrypt", "before decrypt", "after decrypt"]
    )
    func killed(instant: String) async throws {
        #expect(try await host.keychain("init").status == 0)
        let key = try host.bytes(host.keyFile)
        let spy = Spy(in: host.folder)
        let killed = try await host.keychain(
            "init",
            "--tpm",
            on: tpm,
            environment: spy.environment(doing: instant)
        )
        #expect(killed.status == 128 + SIGKILL)
        #expect(try host.bytes(host.keyFile) == key)
        #expect(!host.exists(host.credential))
        let next = try await host.keychain("init", "--tpm", on: tpm)
        #expect(next.status == 0, "\(next.errors)")
        #expect(!host.exists(host.keyFile) && !host.exists(host.credential + ".new"))
        #expect(try host.unseal(on: tpm) == key)
    }

    @Test(
        "After a kill behind the sealing the next run deletes the file if the keys are equal"
    )
    func both() async throws {
        #expect(try await host.keychain("init").status == 0)
        let key = try host.bytes(host.keyFile)
        #expect(try await host.keychain("init", "--tpm", on: tpm).status == 0)
        try host.write(key, to: host.keyFile)
        try await host.start(credentials: key)
        #expect(try await host.refusal().name.isEmpty)
        host.stop()
        let next = try await host.keychain("init", "--tpm", on: tpm)
        #expect(next.status == 0, "\(next.errors)")
        #expect(!host.exists(host.keyFile))
        #expect(try host.unseal(on: tpm) == key)
    }

    @Test("A credential with another key than the file is reported, and both stay")
    func different() async throws {
        #expect(try await host.keychain("init", "--tpm", on: tpm).status == 0)
        let sealed = try host.bytes(host.credential)
        try FileManager.default.removeItem(atPath: host.state + "/keychain")
        #expect(try await host.keychain("init").status == 0)
        let key = try host.bytes(host.keyFile)
        let refused = try await host.keychain("init", "--tpm", on: tpm)
        #expect(refused.status == 1 && refused.errors.contains("another key"))
        #expect(try host.bytes(host.keyFile) == key)
        #expect(try host.bytes(host.credential) == sealed)
    }

    @Test("If the TPM returns another key, the file stays")
    func forgotten() async throws {
        #expect(try await host.keychain("init").status == 0)
        let key = try host.bytes(host.keyFile)
        let spy = Spy(in: host.folder)
        let refused = try await host.keychain(
            "init",
            "--tpm",
            on: tpm,
            environment: spy.environment(doing: "forget decrypt")
        )
        #expect(refused.status == 1 && refused.errors.contains("another key back"))
        #expect(try host.bytes(host.keyFile) == key)
        #expect(!host.exists(host.credential) && !host.exists(host.credential + ".new"))
    }

    @Test("The key file of another keychain is not sealed")
    func foreignKey() async throws {
        #expect(try await host.keychain("init").status == 0)
        let foreign = Data(repeating: 7, count: 32)
        try host.write(foreign, to: host.keyFile)
        let refused = try await host.keychain("init", "--tpm", on: tpm)
        #expect(refused.status == 1 && refused.errors.contains("needs the master key"))
        #expect(!host.exists(host.credential))
        #expect(try host.bytes(host.keyFile) == foreign)
    }

    @Test("The key is in no command line, environment or named file")
    func unseen() async throws {
        #expect(try await host.keychain("init").status == 0)
        let key = try host.bytes(host.keyFile)
        let spy = Spy(in: host.folder)
        let sealed = try await host.keychain(
            "init",
            "--tpm",
            on: tpm,
            environment: spy.environment()
        )
        #expect(sealed.status == 0, "\(sealed.errors)")
        let exported = try await host.keychain(
            "export-recovery-key",
            on: tpm,
            environment: spy.environment()
        )
        let text = exported.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(exported.status == 0 && !text.isEmpty, "\(exported.errors)")
        let notes = try host.bytes(spy.log)
        let said = String(decoding: notes, as: UTF8.self)
        #expect(said.contains("encrypt\n--name=localauth.master-key\n--with-key=host+tpm2\n"))
        #expect(said.contains("decrypt\n--name=localauth.master-key\n"))
        let hex = key.map { String(format: "%02x", $0) }.joined()
        let spellings = [
            key, Data(hex.utf8), Data(key.base64EncodedString().utf8), Data(text.utf8),
        ]
        let all = try FileManager.default.subpathsOfDirectory(atPath: host.folder.path)
        for path in all.map({ host.folder.path + "/" + $0 }) {
            guard let content = FileManager.default.contents(atPath: path) else { continue }
            for spelling in spellings {
                #expect(content.range(of: spelling) == nil, "\(path)")
            }
        }
    }
}

@Suite struct SoftwareTPMTests {
    @Test("In CI swtpm and systemd's libraries for it are installed")
    func complete() {
        guard SoftwareTPM.isCI else { return }
        #expect(SoftwareTPM.missing.isEmpty)
    }
}

/// A fake systemd-creds, which records its environment and kills its caller at a chosen step.
private struct Spy {
    let log: String

    init(in folder: Folder) { log = folder.path + "/seen" }

    func environment(doing event: String = "") -> [String: String] {
        let source = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        return [
            "PATH": source.appending(path: "Spy").path + ":/usr/bin:/bin", "SPY_LOG": log,
            "SPY_DOES": event,
        ]
    }
}
