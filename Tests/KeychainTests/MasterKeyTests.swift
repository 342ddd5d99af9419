import Foundation
import KeychainStore
import Sealing
import TestSupport
import Testing

@testable import AuthEngine

/// L18: A wrong or missing master key never destroys data.
@Suite("Master key")
struct MasterKeyTests {
    /// Creates a credentials folder like systemd's, with the given bytes.
    private func credentials(_ bytes: [UInt8]?, in folder: StateFolder) throws -> String {
        let path = folder.path + "/credentials"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        if let bytes {
            try Data(bytes).write(to: URL(filePath: path + "/localauth.master-key"))
        }
        return path
    }

    @Test("The first start creates a private key of 32 bytes, and the next start keeps it")
    func firstStart() throws {
        let folder = try StateFolder("keychain")
        #expect(!KeychainStore.isThere(in: folder.path))
        let name = try folder.open().keyName
        #expect(KeychainStore.isThere(in: folder.path))
        #expect(try !folder.open().isKeyCredential)
        #expect(try folder.read("master.key").count == 32)
        for file in ["master.key", "items.sqlite", "anchor"] {
            #expect(folder.mode(of: folder.file(file)) == 0o600)
        }
        #expect(folder.mode(of: folder.file("")) == 0o700)
        #expect(try folder.open().keyName == name)
        #expect(try StateFolder("keychain").open().keyName != name)
    }

    @Test("A credential serves as the key, and no key file is created")
    func credential() throws {
        let folder = try StateFolder("keychain")
        let credentials = try credentials([UInt8](1...32), in: folder)
        let id = try folder.open(credentials: credentials).add("a")
        #expect(try folder.open(credentials: credentials).isKeyCredential)
        #expect(!folder.files.contains("master.key"))
        #expect(try folder.open(credentials: credentials).read(id) == "secret")
        let refusal = folder.refusal()
        #expect(refusal?.code == .notAvailable)
        #expect(refusal?.message.contains("is missing") == true)
        #expect(!folder.files.contains("master.key"))
        #expect(try folder.open(credentials: credentials).read(id) == "secret")
    }

    @Test("A credentials folder without the master key falls back to the file")
    func otherCredentials() throws {
        let folder = try StateFolder("keychain")
        let name = try folder.open(credentials: credentials(nil, in: folder)).keyName
        #expect(try folder.open().keyName == name)
    }

    @Test("L17: A lost database is reported, even if the key is sealed")
    func missingDatabase() throws {
        let folder = try StateFolder("keychain")
        let path = try credentials([UInt8](1...32), in: folder)
        let id = try folder.open(credentials: path).add("a")
        for name in folder.files where name.hasPrefix("items.sqlite") { try folder.remove(name) }
        for _ in 1...2 {
            let store = try folder.open(credentials: path)
            let refusal = expectRefusal(.notFound) { _ = try store.read(id) }
            #expect(refusal?.message.contains("damaged or lost") == true)
        }
    }

    @Test("Beside a database that was set aside, no key is created automatically")
    func damagedWithoutKey() throws {
        let folder = try StateFolder("keychain")
        let path = try credentials([UInt8](1...32), in: folder)
        try folder.open(credentials: path).add("a")
        try folder.write([UInt8](repeating: 7, count: 4096), to: "items.sqlite")
        for _ in 1...2 {
            let refusal = folder.refusal()
            #expect(refusal?.code == .notAvailable)
            #expect(refusal?.message.contains("keychain init") == true)
            #expect(!folder.files.contains("master.key"))
        }
        #expect(folder.files.contains("items.sqlite.damaged-1"))
        let keychain = try IdleKeychain(directory: folder.path)
        try keychain.writeKeyFile(keychain.freshKey())
        #expect(try keychain.fileKey() != nil)
    }

    @Test("An unreadable credential is refused, and no other key replaces it")
    func unreadableCredential() throws {
        let folder = try StateFolder("keychain")
        let path = try credentials(nil, in: folder)
        // Root can read any file, but opening a folder or following a link fails.
        try FileManager.default.createSymbolicLink(
            atPath: path + "/localauth.master-key",
            withDestinationPath: "/dev/zero"
        )
        #expect(folder.refusal(credentials: path)?.code == .notAvailable)
        #expect(!folder.files.contains("master.key"))
        // An existing key file, which fits the keychain, must not replace the credential either.
        _ = try folder.open()
        let link = path + "/localauth.master-key"
        #expect(unlink(link) == 0 && symlink(link, link) == 0)
        #expect(folder.refusal(credentials: path)?.code == .notAvailable)
        _ = try folder.open()
    }

    @Test("Removing a key overwrites it and its copies first")
    func wiped() throws {
        let folder = try StateFolder("keychain")
        _ = try folder.open()
        let key = try folder.read("master.key")
        let others = [UInt8](repeating: 9, count: 32)
        try folder.write(key, to: "master.key.replaced-1")
        try folder.write(others, to: "master.key.replaced-2")
        // An interrupted start may leave this file.
        try folder.write(key, to: "master.key.new")
        // Open descriptors show the data that would remain on a disk.
        let files = ["", ".new", ".replaced-1", ".replaced-2"]
            .map { open(folder.file("master.key" + $0), O_RDONLY | O_CLOEXEC) }
        defer { for file in files { close(file) } }
        let keychain = try IdleKeychain(directory: folder.path)
        try keychain.removeKeyFile(of: try #require(try keychain.fileKey()))
        let left = files.map { file in
            var bytes = [UInt8](repeating: 1, count: 32)
            #expect(pread(file, &bytes, bytes.count, 0) == 32)
            return bytes
        }
        let zeros = [UInt8](repeating: 0, count: 32)
        #expect(left == [zeros, zeros, zeros, others])
        #expect(folder.files.filter { $0.hasPrefix("master.key") } == ["master.key.replaced-2"])
    }

    @Test("L18: A key that can't be wiped is reported, and its file is kept")
    func notWiped() throws {
        let faults = try Faults()
        // The steps: writing zeros, syncing them, and removing the name.
        for number in 1...3 {
            let folder = try StateFolder("keychain")
            _ = try folder.open()
            let key = try folder.read("master.key")
            let probe = try ChildProcess(
                ["KeychainCrashProbe", folder.path, "remove"],
                environment: faults.environment,
                hasStream: true
            )
            #expect(try probe.line() == "open")
            faults.arm(.disk, number, with: EIO)
            probe.tell("go")
            let said = try #require(try probe.line())
            #expect(said.hasPrefix("failed") && said.contains(folder.path), "\(number): \(said)")
            #expect(faults.failed == 1)
            faults.disarm()
            #expect(folder.files.contains("master.key") == (number < 3))
            if number == 1 { #expect(try folder.read("master.key") == key) }
        }
    }

    @Test("A key that can't be installed leaves no copy beside it")
    func notPlaced() throws {
        let folder = try StateFolder("keychain")
        let keychain = try IdleKeychain(directory: folder.path)
        let key = try keychain.freshKey()
        // A folder can't be hard-linked or replaced by a file.
        #expect(mkdir(folder.file("master.key"), 0o700) == 0)
        expectRefusal(.notAvailable) { try keychain.writeKeyFile(key) }
        #expect(folder.files.filter { $0.hasPrefix("master.key") } == ["master.key"])
    }

    @Test("A keychain that lost its key's verifier accepts no other key")
    func untied() throws {
        let folder = try StateFolder("keychain")
        _ = try folder.open().add("a")
        try folder.run("DELETE FROM meta WHERE name = 'verifier'")
        let before = try folder.read("items.sqlite")
        let keychain = try IdleKeychain(directory: folder.path)
        expectRefusal(.decode) {
            _ = try keychain.tie(to: SecretBytes([UInt8](repeating: 9, count: 32)))
        }
        #expect(try folder.read("items.sqlite") == before)
    }

    @Test("A wrong, short, long or unreadable key is refused, and the right key works again")
    func wrongKeys() throws {
        let folder = try StateFolder("keychain")
        let id = try folder.open().add("a")
        let (right, database) = (try folder.read("master.key"), try folder.read("items.sqlite"))
        let wrong = right.map { ~$0 }
        for key in [wrong, [], Array(right.prefix(31)), right + [0]] {
            try folder.write(key, to: "master.key")
            let refusal = folder.refusal()
            #expect(refusal?.code == .notAvailable)
            #expect(refusal?.message.contains("recovery key") == true)
            #expect(try folder.read("master.key") == key)
            try folder.remove("master.key")
            let path = try credentials(key, in: folder)
            #expect(folder.refusal(credentials: path)?.code == .notAvailable)
        }
        #expect(folder.refusal()?.code == .notAvailable)
        #expect(try folder.read("items.sqlite") == database)
        try folder.write(right, to: "master.key")
        #expect(try folder.open().read(id) == "secret")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o640],
            ofItemAtPath: folder.file("master.key")
        )
        #expect(folder.refusal()?.code == .notAvailable)
    }

    @Test("An anchor writable by other users is refused until it is private")
    func anchorOfOthers() throws {
        let folder = try StateFolder("keychain")
        let id = try folder.open().add("a")
        try folder.setMode(0o666, of: "anchor")
        #expect(folder.refusal()?.code == .notAvailable)
        try folder.setMode(0o600, of: "anchor")
        #expect(try folder.open().read(id) == "secret")
    }

    @Test("The recovery key restores a lost key, in any spelling")
    func recovery() throws {
        let folder = try StateFolder("keychain")
        // The text contains every digit that resembles a letter.
        let digits: [UInt8] = [0x08, 0x42, 0x10, 0x84, 0x21] + [UInt8](repeating: 0, count: 27)
        try IdleKeychain(directory: folder.path).writeKeyFile(SecretBytes(digits))
        let (id, text) = try {
            let store = try folder.open()
            return (try store.add("a"), store.recoveryKey)
        }()
        #expect(text.count == 56 + 13 && text.hasPrefix("1111-1111-0000-"))
        let key = try folder.read("master.key")
        let typed = [
            text, text.lowercased(), text.replacing("-", with: ""),
            " " + text.replacing("-", with: " ") + "\n",
            text.replacing("0", with: "O").replacing("1", with: "l"),
            text.replacing("0", with: "o").replacing("1", with: "I"),
        ]
        for text in typed {
            try folder.remove("master.key")
            try KeychainStore.restore(text, directory: folder.path)
            #expect(try folder.read("master.key") == key)
            #expect(try folder.open().read(id) == "secret")
        }
    }

    @Test("A mistyped or foreign recovery key is refused without changes")
    func wrongRecovery() throws {
        let folder = try StateFolder("keychain")
        let text = try folder.open().recoveryKey
        let key = try folder.read("master.key")
        func expectRefused(_ text: String, _ reason: String) throws {
            let refusal = expectRefusal(.parameter) {
                try KeychainStore.restore(text, directory: folder.path)
            }
            #expect(refusal?.message.contains(reason) == true, "\(refusal?.message ?? "")")
            #expect(try folder.read("master.key") == key)
        }
        let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
        for (index, character) in text.enumerated() where character != "-" {
            var slip = Array(text)
            slip[index] = character == digits[0] ? digits[1] : digits[0]
            try expectRefused(String(slip), "mistyped")
        }
        try expectRefused("", "this has 0")
        try expectRefused(String(text.dropLast()), "this has 55")
        try expectRefused(text + "0", "more")
        try expectRefused("U" + text.dropFirst(), "no character")
        try expectRefused(StateFolder("keychain").open().recoveryKey, "this is the recovery key of")
    }

    @Test("A restored key keeps the replaced key, and requires a stopped service")
    func restorePlace() throws {
        let folder = try StateFolder("keychain")
        let text = try folder.open().recoveryKey
        let wrong = [UInt8](repeating: 9, count: 32)
        try folder.write(wrong, to: "master.key")
        // A wrong key yields no recovery key.
        expectRefusal(.notAvailable) {
            _ = try KeychainStore.recoveryKey(directory: folder.path, credentials: nil)
        }
        try KeychainStore.restore(text, directory: folder.path)
        let idle = try KeychainStore.recoveryKey(directory: folder.path, credentials: nil)
        #expect(idle == (text, nil))
        #expect(try folder.read("master.key.replaced-1") == wrong)
        let running = try folder.open()
        let busy = try KeychainStore.recoveryKey(directory: folder.path, credentials: nil)
        #expect(busy.text == text && busy.doubt?.message.contains("Another process") == true)
        expectRefusal(.notAvailable) {
            try KeychainStore.restore(text, directory: folder.path)
        }
        #expect(running.recoveryKey == text)
    }

    @Test("Without a master key there is no recovery key, and none is created")
    func nothingToExport() throws {
        let folder = try StateFolder("keychain")
        expectRefusal(.notAvailable) {
            _ = try KeychainStore.recoveryKey(directory: folder.path, credentials: nil)
        }
        #expect(folder.files == [])
    }

    @Test("Two processes can't open one keychain")
    func busy() throws {
        let folder = try StateFolder("keychain")
        let store = try folder.open()
        #expect(folder.refusal()?.code == .notAvailable)
        #expect(!store.keyName.isEmpty)
    }
}
