import AgentKit
import ArgumentParser
import Glibc
import Localization
import Sealing

/// The master key as an encrypted systemd credential that only this machine's TPM can decrypt.
struct SealedKey {
    /// The credential's name, as the service expects it.
    static let name = "localauth.master-key"
    /// The path that `localauth-master-key.service` reads.
    static let standard = "/etc/credstore.encrypted/" + name

    let path: String
    /// The TPM device; nil: systemd finds the device.
    let device: String?

    var isThere: Bool { access(path, F_OK) == 0 }

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

    /// Encrypts the key into a new credential file; an existing file is never overwritten.
    ///
    /// The file appears only once it is complete, on the disk, and was decrypted as a check.
    func seal(_ key: SecretBytes) throws(Failure) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw unwritable }
        let fresh = path + ".new"
        // Remove the draft of an interrupted run; no program reads this name.
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
                hint: localized("the key stays unchanged at its place")
            )
        }
        // Unlike rename, link fails when the target exists.
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

extension SealedKey {
    func encrypt(_ key: SecretBytes, into file: Int32) throws(Failure) {
        var pipe = try Pipe()
        let end = pipe.writing
        guard key.use({ write(end, $0, $0.count) }) == key.count else { throw unwritable }
        pipe.closeWriting()
        // On a machine without a TPM, systemd's default would silently use the host key alone.
        // `host+tpm2` fails there.
        let run = try SystemdCreds(
            ["encrypt", "--name=" + Self.name, "--with-key=host+tpm2"] + deviceOption + ["-", "-"],
            input: pipe.reading,
            output: file
        )
        let (status, complaint) = run.finish()
        guard status == 0 else { throw try refusal(complaint) }
        if !complaint.isEmpty { tell("systemd-creds: " + complaint) }
    }

    func unseal(_ file: Int32) throws(Failure) -> SecretBytes {
        var pipe = try Pipe()
        lseek(file, 0, SEEK_SET)
        let run = try SystemdCreds(
            ["decrypt", "--name=" + Self.name] + deviceOption + ["-", "-"],
            input: file,
            output: pipe.writing
        )
        pipe.closeWriting()
        let key = SecretBytes.read(from: pipe.reading, limit: 64)
        let (status, complaint) = run.finish()
        guard status == 0, let key, key.count > 0 else {
            throw Failure(
                .refused,
                localized("%1$s can't be unsealed: %2$s", shown, complaint),
                hint: localized("localauthctl keychain restore, with the recovery key")
            )
        }
        return key
    }

    /// The error of a failed encryption, with a remedy.
    private func refusal(_ complaint: String) throws(Failure) -> Failure {
        // Bits of `has-tpm2`: the driver and userspace libraries are needed, firmware support is
        // not.
        let needed: Int32 = 2 | 4
        if device == nil {
            let (status, _) = try SystemdCreds(["has-tpm2", "--quiet"]).finish()
            if status & needed != 0 {
                return Failure(
                    .refused,
                    localized("There is no TPM 2.0 that systemd can use: %1$s", complaint),
                    hint: localized("systemd-creds has-tpm2; without one the key stays in a file")
                )
            }
        }
        return Failure(
            .refused,
            localized("systemd-creds doesn't seal the key: %1$s", complaint),
            hint: geteuid() == 0 ? "systemd-creds has-tpm2" : localized("run it as root")
        )
    }

    private var deviceOption: [String] { device.map { ["--tpm2-device=" + $0] } ?? [] }
}

struct SealedKeyArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            localized("Where the sealed master key is (default: %1$s).", SealedKey.standard),
            valueName: "file"
        ),
        completion: .file()
    )
    var credential: String?

    @Option(
        name: .customLong("tpm2-device"),
        help: ArgumentHelp(
            localized("The TPM, in the form of systemd-creds (default: the machine's TPM)."),
            valueName: "device"
        ),
        completion: .file()
    )
    var device: String?

    var key: SealedKey { SealedKey(path: credential ?? SealedKey.standard, device: device) }
}
