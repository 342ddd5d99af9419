import Crypto
import Glibc
import Linux
import SQLite
import Sealing

/// The key under which every secret of this machine is encrypted.
struct MasterKey {
    /// In bytes.
    static let size = 32
    /// The name of the systemd credential.
    static let credential = "localauth.master-key"

    let key: SymmetricKey
    /// Whether it came as systemd's credential; else it is in a file of ours.
    let isCredential: Bool

    init(_ bytes: [UInt8], isCredential: Bool = false) {
        key = SymmetricKey(data: bytes)
        self.isCredential = isCredential
    }

    /// The key itself, to be kept elsewhere.
    var secret: SecretBytes { key.withUnsafeBytes { SecretBytes(Array($0)) } }

    /// What people tell keys apart by: 8 hexadecimal digits that say nothing of the key.
    var name: String {
        let digest = HKDF<SHA256>
            .deriveKey(
                inputKeyMaterial: key,
                info: Array("org.localauth.Keychain.1 key name".utf8),
                outputByteCount: 4
            )
        return digest.withUnsafeBytes { bytes in
            bytes.map { byte in
                let digits = String(byte, radix: 16)
                return byte < 16 ? "0" + digits : digits
            }
            .joined()
        }
    }

    /// The key of the credentials' directory, else that of the file; nil: there is none.
    ///
    /// - Throws: `notAvailable` for one that can't be read or isn't a key: another one in its
    ///   place would only hide that.
    static func find(
        in folder: DatabaseFolder,
        credentials: String?
    ) throws(KeychainError) -> MasterKey? {
        if let credentials {
            let file = credentials + "/" + credential
            // If one exists and can't be read, another one must not be used instead.
            if access(file, F_OK) == 0 || errno != ENOENT {
                return try read(file, isCredential: true)
            }
        }
        let exists = try translating { () throws(SystemError) in
            try PrivateFile.exists(folder.key)
        }
        return exists ? try read(folder.key) : nil
    }

    /// Puts a key into the file, on the disk; another one that is there is kept beside it.
    static func write(
        _ bytes: [UInt8],
        in folder: DatabaseFolder
    ) throws(KeychainError) -> MasterKey {
        let file = folder.key
        if let same = try? read(file), KeyRing.isSame(same.secret.use { $0 }, bytes) { return same }
        let fresh = file + ".new"
        // What an interrupted start left; nobody has used it.
        unlink(fresh)
        try translating { () throws(SystemError) in
            do throws(SystemError) {
                try PrivateFile.make(fresh, bytes)
                guard
                    access(file, F_OK) != 0
                        || link(file, "\(replaced(folder))-\(firstFree(replaced(folder)))") == 0,
                    rename(fresh, file) == 0
                else {
                    throw SystemError(
                        errno: errno,
                        "The master key can't be put in place",
                        path: file
                    )
                }
            } catch {
                unlink(fresh)
                throw error
            }
            try folder.directory.synchronize()
        }
        return MasterKey(bytes)
    }

    /// Overwrites the file and removes it, on the disk; it need not be there.
    ///
    /// Copies that were kept beside it go as well, if they are of this key. A file that can't be
    /// overwritten stays, so that somebody may see to it.
    static func remove(_ key: SecretBytes, in folder: DatabaseFolder) throws(KeychainError) {
        let kept = key.use { key in
            (1..<firstFree(replaced(folder)))
                .map { "\(replaced(folder))-\($0)" }
                .filter { file in
                    (try? read(file))?.secret.use { KeyRing.isSame($0, key) } ?? false
                }
        }
        try translating { () throws(SystemError) in
            // A start that was interrupted may have left the second one.
            for file in [folder.key, folder.key + ".new"] + kept
            where try PrivateFile.exists(file) {
                try overwrite(file)
                guard unlink(file) == 0 else {
                    throw SystemError(errno: errno, "The file can't be removed", path: file)
                }
            }
            try folder.directory.synchronize()
        }
    }

    /// Fills a key's file with zeros: on a disk that overwrites in place, nothing of it is left.
    private static func overwrite(_ file: String) throws(SystemError) {
        let zeros = [UInt8](repeating: 0, count: size)
        guard let key = OwnedDescriptor.open(file, O_WRONLY | O_NOFOLLOW), key.write(zeros),
            fsync(key.rawValue) == 0
        else {
            let what = "The clear key can't be overwritten (shred -u removes it)"
            throw SystemError(errno: errno, what, path: file)
        }
    }

    /// The file name of replaced keys, before their number.
    private static func replaced(_ folder: DatabaseFolder) -> String {
        folder.key + ".replaced"
    }

    private static func firstFree(_ start: String) -> Int {
        var number = 1
        while access("\(start)-\(number)", F_OK) == 0 { number += 1 }
        return number
    }

    private static func read(
        _ file: String,
        isCredential: Bool = false
    ) throws(KeychainError) -> MasterKey {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            throw KeychainError(SystemError(errno: errno, "It can't be read", path: file))
        }
        defer { close(descriptor) }
        // One byte more than the key has, so that a longer file is noticed.
        var bytes = [UInt8](repeating: 0, count: size + 1)
        defer { wipe(&bytes) }
        guard Glibc.read(descriptor, &bytes, bytes.count) == size else {
            throw KeychainError(
                .notAvailable,
                "The keychain's master key must have \(size) bytes, \(file) has not: "
                    + "restore it from the recovery key.",
                needsMasterKey: true
            )
        }
        var key = Array(bytes.prefix(size))
        defer { wipe(&key) }
        return MasterKey(key, isCredential: isCredential)
    }
}
