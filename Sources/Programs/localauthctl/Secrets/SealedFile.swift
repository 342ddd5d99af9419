import AgentKit
import ArgumentParser
import Glibc
import Linux
import Localization
import Sealing

/// A kind of text files whose content opens with a person's X25519 key alone.
struct SealedFile: Sendable {
    /// The name in the lines around the content.
    let label: String
    let purpose: SealingPurpose
    /// Bytes of a file.
    let limit: Int

    /// Seals a secret to the public key of a PEM file.
    func seal(_ secret: [UInt8], to publicKey: String) throws(Failure) -> String {
        let bytes = try X25519File.publicKey.read(publicKey).use { $0 }
        guard let recipient = RecipientKey(bytes),
            let sealed = recipient.seal(secret, for: purpose, of: "")
        else { throw X25519File.publicKey.refusal(of: publicKey) }
        return "-----BEGIN \(label)-----\n\(Base64.text(sealed))\n-----END \(label)-----\n"
    }

    /// Opens a file with the private key of a PEM file; nil if the file is sealed to another key.
    func open(_ file: String?, with privateKey: String) throws(Failure) -> SecretBytes? {
        let text = try SecretInput.read(file, limit: limit)
        guard let key = SealingKey(try X25519File.privateKey.read(privateKey)) else {
            throw X25519File.privateKey.refusal(of: privateKey)
        }
        let sealed = text.use { PEM.contents(of: String(decoding: $0, as: UTF8.self), label) }
        return key.open(sealed ?? [], for: purpose, of: "")
    }
}

/// The Base64 text between two lines that name it.
private enum PEM {
    /// Returns the bytes under a label; nil without exactly these lines.
    static func contents(of text: String, _ label: String) -> [UInt8]? {
        let lines = text.split(whereSeparator: \.isNewline)
        guard let begin = lines.firstIndex(of: "-----BEGIN \(label)-----"),
            let end = lines[begin...].firstIndex(of: "-----END \(label)-----")
        else { return nil }
        return Base64.decode(lines[(begin + 1)..<end].joined())
    }
}

/// A PEM file with half of an X25519 key pair, as openssl writes it.
private struct X25519File {
    let label: String
    /// The DER before the 32 bytes of the key.
    let head: [UInt8]

    static let publicKey = X25519File(
        label: "PUBLIC KEY",
        head: [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x6E, 0x03, 0x21, 0x00]
    )
    static let privateKey = X25519File(
        label: "PRIVATE KEY",
        head: [
            0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x6E, 0x04, 0x22,
            0x04, 0x20,
        ]
    )
    private static let size = 32
    private static let limit = 4096

    func read(_ file: String) throws(Failure) -> SecretBytes {
        let text = try SecretInput.read(file, limit: Self.limit)
        let contents = text.use { PEM.contents(of: String(decoding: $0, as: UTF8.self), label) }
        guard var bytes = contents, bytes.count == head.count + Self.size, bytes.starts(with: head)
        else { throw refusal(of: file) }
        defer { wipe(&bytes) }
        return SecretBytes(Array(bytes[head.count...]))
    }

    func refusal(of file: String) -> Failure {
        Failure(
            .refused,
            localized("%1$s has no X25519 key in PEM.", plainText(file, limit: 256)),
            hint: "openssl genpkey -algorithm X25519"
        )
    }
}

/// A new file, or a descriptor that the caller opened.
enum ExportTarget: ExpressibleByArgument {
    case file(String)
    case descriptor(Int32)

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self = Int32(argument).map { .descriptor($0) } ?? .file(argument)
    }

    /// Writes the text and syncs it; an existing file is never overwritten.
    func write(_ text: String) throws(Failure) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let (name, descriptor) =
            switch self {
            case .descriptor(let number): ("\(number)", dup(number))
            case .file(let path): (path, Glibc.open(path, flags, 0o600))
            }
        let target = OwnedDescriptor(adopting: descriptor)
        // A pipe has nothing to sync.
        guard descriptor >= 0, target.write(Array(text.utf8)),
            fsync(descriptor) == 0 || errno == EINVAL
        else {
            let reason = String(cString: strerror(errno))
            // A cut file would block the next run.
            if case .file(let path) = self, descriptor >= 0 { unlink(path) }
            throw Failure(
                .refused,
                localized("%1$s can't be written: %2$s", plainText(name, limit: 256), reason)
            )
        }
    }
}
