import Glibc
import Linux
import SQLite
package import Sealing

/// The keychain of a stopped service, for moving its master key.
///
/// The service cannot start while this object exists.
package final class IdleKeychain {
    /// The daemon's own lock, because the daemon may run without opening its keychain.
    private let daemonLock: DirectoryLock
    private let folder: DatabaseFolder
    private let database: Database
    private let identity: [UInt8]
    package let setAside: String?

    /// Opens the keychain of a state directory, or creates an empty keychain without a key.
    ///
    /// Without `settingAside`, a damaged database is refused and stays in place.
    /// - Throws: `notAvailable` if a service runs there, or other users have access to a file;
    ///   `decode` if the database as a whole was tampered with.
    package init(directory: String, settingAside: Bool = true) throws(KeychainError) {
        daemonLock = try translating { () throws(SystemError) in
            try PrivateDirectory(directory).lock()
        }
        folder = try KeychainStore.folder(in: directory)
        (database, setAside) = try KeychainStore.openDatabase(in: folder, settingAside)
        identity = try KeychainStore.identity(of: database)
    }

    package var keyFile: String { folder.key }

    /// Returns the master key of the file; nil if there is no file.
    ///
    /// - Throws: `notAvailable` for an unreadable key, or another keychain's key.
    package func fileKey() throws(KeychainError) -> SecretBytes? {
        guard let key = try MasterKey.find(in: folder, credentials: nil) else { return nil }
        try check(key.secret)
        return key.secret
    }

    /// Refuses any master key that did not write this keychain.
    ///
    /// - Returns: Whether the keychain was written with a key at all.
    @discardableResult
    func check(_ secret: SecretBytes) throws(KeychainError) -> Bool {
        guard let verifier = try KeychainStore.verifier(of: database) else { return false }
        let ring = KeyRing(secret.use { MasterKey($0) }, identity: identity)
        try KeychainStore.check(verifier, ring, database)
        return true
    }

    /// Returns a random master key, for a keychain that never had a key.
    ///
    /// - Throws: `duplicate` if a key exists, `notAvailable` if the key is missing. Another key
    ///   could never read the existing items.
    package func freshKey() throws(KeychainError) -> SecretBytes {
        guard try fileKey() == nil else {
            throw KeychainError(.duplicate, "There is a master key in \(folder.key) already.")
        }
        guard try KeychainStore.verifier(of: database) == nil else {
            throw try KeychainStore.missingKey(database)
        }
        var bytes = SecretBytes.random(count: MasterKey.size)
        return SecretBytes(wiping: &bytes)
    }

    /// Ties the keychain to a master key, so that it opens with no other key.
    ///
    /// - Returns: The fingerprint of the key.
    /// - Throws: `parameter` if the keychain is tied to another key.
    @discardableResult
    package func tie(to secret: SecretBytes) throws(KeychainError) -> String {
        let ring = try ring(secret)
        if try KeychainStore.verifier(of: database) == nil {
            try KeychainStore.begin(ring, database)
        }
        return ring.name
    }

    /// Writes a master key to the file and syncs it.
    ///
    /// A replaced key is kept beside it.
    ///
    /// - Throws: `parameter` for the recovery key of another keychain.
    package func writeKeyFile(_ secret: SecretBytes) throws(KeychainError) {
        _ = try ring(secret)
        _ = try secret.use { bytes throws(KeychainError) in
            try MasterKey.write(bytes, in: folder)
        }
    }

    /// Removes the file of the master key.
    ///
    /// Call this only after storing the key elsewhere.
    ///
    /// - Throws: `notAvailable` if the file can't be removed.
    package func removeKeyFile(of secret: SecretBytes) throws(KeychainError) {
        try MasterKey.remove(secret, in: folder)
    }

    private func ring(_ secret: SecretBytes) throws(KeychainError) -> KeyRing {
        let ring = KeyRing(secret.use { MasterKey($0) }, identity: identity)
        guard let verifier = try KeychainStore.verifier(of: database),
            !KeyRing.isSame(verifier, ring.verifier)
        else { return ring }
        throw .parameter(
            "this is the recovery key of the master key \(ring.name), the keychain was "
                + "written with \(try KeychainStore.keyName(of: database))"
        )
    }
}
