import AgentKit
import ArgumentParser
import Glibc
import KeychainStore
import Localization

/// The master key as a credential of systemd, which only this machine's TPM opens.
struct SealedKey {
    /// The name of the credential, as the service knows it.
    static let name = "localauth.master-key"
    /// Where `localauth-master-key.service` looks.
    static let standard = "/etc/credstore.encrypted/" + name

    let path: String
    /// The TPM; nil: the one that systemd finds.
    let device: String?

    var isThere: Bool { access(path, F_OK) == 0 }

    /// The key, opened by the TPM.
    func unseal() throws(Failure) -> SecretBytes {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw Failure(
                .refused,
                localized("%1$s can't be read: %2$s", shown, reason),
                hint: localized("as root; --credential names another file")
            )
        }
        defer { close(descriptor) }
        return try unseal(descriptor)
    }

    /// Encrypts the key and puts it in place, where nothing may be yet.
    ///
    /// It is there in whole, and on the disk, or not at all; and it has been opened again.
    func seal(_ key: SecretBytes) throws(Failure) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw unwritable }
        let fresh = path + ".new"
        // What an interrupted run left; nobody uses it.
        unlink(fresh)
        let descriptor = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw unwritable }
        defer {
            unlink(fresh)
            close(descriptor)
        }
        try encrypt(key, into: descriptor)
        let opened = try unseal(descriptor)
        guard opened.use({ bytes in key.use { $0 == bytes } }) else {
            throw Failure(
                .refused,
                localized("The TPM gives another key back than it was given."),
                hint: localized("nothing was changed; the key is where it was")
            )
        }
        // A link, unlike a rename, never takes the place of another file.
        guard fsync(descriptor) == 0, link(fresh, path) == 0, synchronize(folder) else {
            throw unwritable
        }
    }

    var shown: String { plainText(path, limit: 256) }

    var unwritable: Failure {
        let reason = String(cString: strerror(errno))
        return Failure(
            .refused,
            localized("%1$s can't be written: %2$s", shown, reason),
            hint: localized("as root; --credential names another file")
        )
    }

    private func synchronize(_ folder: String) -> Bool {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(descriptor) }
        return descriptor >= 0 && fsync(descriptor) == 0
    }
}

/// Where the sealed master key is, and which TPM opens it.
struct SealedKeyArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            localized("Where the sealed master key is (default: %1$s).", SealedKey.standard),
            valueName: "file"
        )
    )
    var credential: String?

    @Option(
        name: .customLong("tpm2-device"),
        help: ArgumentHelp(
            localized("The TPM, as systemd-creds takes it (default: the one there is)."),
            valueName: "device"
        )
    )
    var device: String?

    var key: SealedKey { SealedKey(path: credential ?? SealedKey.standard, device: device) }
}
