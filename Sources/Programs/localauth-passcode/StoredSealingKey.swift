import Glibc
import Linux
import Sealing

/// Keeps the verifier's key pair beyond the process, which exits when idle.
///
/// The runtime directory is readable by root alone, and empty at each boot.
enum StoredSealingKey {
    private static let name = "sealing-key"

    /// Loads the key from the runtime directory, or creates one and stores it there.
    ///
    /// Without a directory the key lives as long as the process, and prompts fetch the next key.
    static func find(in directory: String?) -> SealingKey {
        guard let path = directory.map({ "\($0)/\(name)" }) else { return SealingKey() }
        if let bytes = SmallFile.read(path, limit: 64), let key = SealingKey(SecretBytes(bytes)) {
            return key
        }
        let key = SealingKey()
        keep(key, at: path)
        return key
    }

    /// Writes atomically: a crash leaves either the whole key or none.
    private static func keep(_ key: SealingKey, at path: String) {
        let draft = "\(path).new"
        unlink(draft)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        guard let file = OwnedDescriptor.open(draft, flags, mode: 0o600) else { return }
        let isWritten = key.rawRepresentation.use { file.write($0) }
        if isWritten { rename(draft, path) } else { unlink(draft) }
    }
}
