import Crypto
import Glibc
import Linux
import SQLite
import Sealing

/// The key that encrypts every secret of this machine.
struct MasterKey {
    static let size = 32
    static let credential = "localauth.master-key"

    let key: SymmetricKey
    /// Whether systemd provided the key as a credential; otherwise it is in our file.
    let isCredential: Bool

    init(_ bytes: [UInt8], isCredential: Bool = false) {
        key = SymmetricKey(data: bytes)
        self.isCredential = isCredential
    }

    /// The key's bytes, for storage elsewhere.
    var secret: SecretBytes { key.withUnsafeBytes { SecretBytes(Array($0)) } }

    /// The fingerprint of the key: 8 hexadecimal digits, which reveal no bits of the key.
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

    /// Returns the key of the credentials directory, or of the file; nil if neither exists.
    ///
    /// - Throws: `notAvailable` for an unreadable or invalid key. Using another key would hide the
    ///   problem.
    static func find(
        in folder: DatabaseFolder,
        credentials: String?
    ) throws(KeychainError) -> MasterKey? {
        if let credentials {
            let file = credentials + "/" + credential
            // An existing but unreadable credential must not be replaced by another key.
            if access(file, F_OK) == 0 || errno != ENOENT {
                return try read(file, isCredential: true)
            }
        }
        let exists = try translating { () throws(SystemError) in
            try PrivateFile.exists(folder.key)
        }
        return exists ? try read(folder.key) : nil
    }

    /// Writes a key to the file and syncs it.
    ///
    /// A different existing key is kept beside it.
    static func write(
        _ bytes: [UInt8],
        in folder: DatabaseFolder
    ) throws(KeychainError) -> MasterKey {
        let file = folder.key
        if let same = try? read(file), KeyRing.isSame(same.secret.use { $0 }, bytes) { return same }
        let fresh = file + ".new"
        // A leftover of an interrupted start, which no database was written with.
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

    /// Overwrites and removes the file, if it exists, and syncs the directory.
    ///
    /// Copies of this key beside the file are removed too. A file that can't be overwritten stays,
    /// so that the administrator can handle it.
    static func remove(_ key: SecretBytes, in folder: DatabaseFolder) throws(KeychainError) {
        let kept = key.use { key in
            (1..<firstFree(replaced(folder)))
                .map { "\(replaced(folder))-\($0)" }
                .filter { file in
                    (try? read(file))?.secret.use { KeyRing.isSame($0, key) } ?? false
                }
        }
        try translating { () throws(SystemError) in
            // An interrupted start may have left the `.new` file.
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

    /// Fills a key file with zeros.
    ///
    /// On a disk that overwrites in place, no trace of the key remains.
    private static func overwrite(_ file: String) throws(SystemError) {
        let zeros = [UInt8](repeating: 0, count: size)
        guard let key = OwnedDescriptor.open(file, O_WRONLY | O_NOFOLLOW), key.write(zeros),
            fsync(key.rawValue) == 0
        else {
            let what = "The clear key can't be overwritten (shred -u removes it)"
            throw SystemError(errno: errno, what, path: file)
        }
    }

    /// The path of replaced keys, without their number.
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
        // An extra byte detects a file that is too long.
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
