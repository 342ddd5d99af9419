import AgentKit
import ArgumentParser
import Localization
import Sealing

/// A recovery key that only an administrator's private key opens, as text.
enum SealedRecoveryKey {
    private static let file = SealedFile(
        label: "LOCALAUTH RECOVERY KEY",
        purpose: .recovery,
        limit: 4096
    )

    /// Seals a recovery key to the public key of a PEM file.
    static func seal(_ text: String, to publicKey: String) throws(Failure) -> String {
        try file.seal(Array(text.utf8), to: publicKey)
    }

    private static func isOfKey(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Opens a sealed recovery key with the private key of a PEM file.
    static func open(_ sealed: String?, with privateKey: String) throws(Failure) -> SecretBytes {
        // Anybody can seal to a public key, so only a recovery key reaches the terminal.
        guard let opened = try file.open(sealed, with: privateKey),
            opened.use({ $0.count < 128 && $0.allSatisfy(Self.isOfKey) })
        else {
            throw Failure(
                .refused,
                localized("The sealed recovery key does not open with this private key.")
            )
        }
        return opened
    }
}

struct KeychainOpenRecoveryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open-recovery-key",
        abstract: localized("Print a recovery key that was sealed to your public key."),
        discussion: localized("Needs no service: run it where your private key is.")
    )

    @Option(
        help: ArgumentHelp(
            localized("The sealed recovery key: a file, or - for a pipe."),
            valueName: "file"
        ),
        completion: .file()
    )
    var keyFile: String

    @Option(
        help: ArgumentHelp(
            localized("Your X25519 private key, in PEM."),
            valueName: "file"
        ),
        completion: .file()
    )
    var privateKey: String

    func run() throws {
        try performOnLoop {
            let key = try SealedRecoveryKey.open(keyFile, with: privateKey)
            key.use { print(String(decoding: $0, as: UTF8.self)) }
        }
    }
}
