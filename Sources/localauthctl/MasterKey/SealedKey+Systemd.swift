import Glibc
import KeychainStore
import Localization

/// What systemd-creds does of it.
extension SealedKey {
    /// Encrypts the key into a file that nobody uses yet.
    func encrypt(_ key: SecretBytes, into file: Int32) throws(Failure) {
        var pipe = try Pipe()
        let end = pipe.writing
        guard key.use({ write(end, $0, $0.count) }) == key.count else { throw unwritable }
        pipe.closeWriting()
        // The keys that systemd itself takes where there is a TPM, but never without the TPM.
        let run = try SystemdCreds(
            ["encrypt", "--name=" + Self.name, "--with-key=host+tpm2"] + deviceOption + ["-", "-"],
            input: pipe.reading,
            output: file
        )
        let (status, complaint) = run.finish()
        guard status == 0 else { throw try refusal(complaint) }
        if !complaint.isEmpty { tell("systemd-creds: " + complaint) }
    }

    /// Decrypts what is in a file.
    func unseal(_ file: Int32) throws(Failure) -> SecretBytes {
        var pipe = try Pipe()
        lseek(file, 0, SEEK_SET)
        let run = try SystemdCreds(
            ["decrypt", "--name=" + Self.name] + deviceOption + ["-", "-"],
            input: file,
            output: pipe.writing
        )
        pipe.closeWriting()
        let buffer = SecretBuffer(capacity: 64)
        let count = max(0, buffer.fill(from: pipe.reading))
        let (status, complaint) = run.finish()
        guard status == 0, count > 0 else {
            throw Failure(
                .refused,
                localized("%1$s can't be unsealed: %2$s", shown, complaint),
                hint: localized("localauthctl keychain restore, with the recovery key")
            )
        }
        return SecretBytes(Array(buffer.bytes[..<count]))
    }

    /// Why systemd-creds seals nothing.
    private func refusal(_ complaint: String) throws(Failure) -> Failure {
        // Driver and userspace; firmware that knows nothing of the TPM is not in the way.
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
