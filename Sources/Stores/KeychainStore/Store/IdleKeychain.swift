import Glibc
import Linux
import SQLite
package import Sealing

/// The keychain of a service that doesn't run, so that its master key can be put elsewhere.
///
/// No service can start on it as long as this lives.
package final class IdleKeychain {
    /// The daemon's: it may run without having its keychain open.
    private let daemonLock: DirectoryLock
    private let folder: DatabaseFolder
    private let database: Database
    private let identity: [UInt8]
    /// Where a damaged database was set aside just now.
    package let setAside: String?

    /// Opens the keychain of a state directory, or makes one that is empty and has no key.
    ///
    /// Without `settingAside` a damaged database is refused, and stays where it is.
    /// - Throws: `notAvailable` when a service runs there, or a file isn't ours alone; `decode`
    ///   for a database that was tampered with as a whole.
    package init(directory: String, settingAside: Bool = true) throws(KeychainError) {
        daemonLock = try translating { () throws(SystemError) in
            try PrivateDirectory(directory).lock()
        }
        folder = try KeychainStore.folder(in: directory)
        (database, setAside) = try KeychainStore.openDatabase(in: folder, settingAside)
        identity = try KeychainStore.identity(of: database)
    }

    /// The file that a clear master key is in.
    package var keyFile: String { folder.key }

    /// The master key of the file; nil: there is no file.
    ///
    /// - Throws: `notAvailable` for a key that can't be read, or that isn't this keychain's.
    package func fileKey() throws(KeychainError) -> SecretBytes? {
        guard let key = try MasterKey.find(in: folder, credentials: nil) else { return nil }
        try check(key.secret)
        return key.secret
    }

    /// Refuses a master key that isn't the one the keychain was written with.
    ///
    /// - Returns: Whether it was written with any.
    @discardableResult
    func check(_ secret: SecretBytes) throws(KeychainError) -> Bool {
        guard let verifier = try KeychainStore.verifier(of: database) else { return false }
        let ring = KeyRing(secret.use { MasterKey($0) }, identity: identity)
        try KeychainStore.check(verifier, ring, database)
        return true
    }

    /// A random master key, for a keychain that never had one.
    ///
    /// - Throws: `duplicate` when there is a key, `notAvailable` when one is missing: what was
    ///   written with it could never be read with another.
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

    /// Ties the keychain to its master key: from now on it opens with no other.
    ///
    /// - Returns: What people tell the key apart by.
    /// - Throws: `parameter` when it is tied to another.
    @discardableResult
    package func tie(to secret: SecretBytes) throws(KeychainError) -> String {
        let ring = try ring(secret)
        if try KeychainStore.verifier(of: database) == nil {
            try KeychainStore.begin(ring, database)
        }
        return ring.name
    }

    /// Puts a master key into the file, on the disk; what was there is kept beside it.
    ///
    /// - Throws: `parameter` for the recovery key of another keychain.
    package func writeKeyFile(_ secret: SecretBytes) throws(KeychainError) {
        _ = try ring(secret)
        _ = try secret.use { bytes throws(KeychainError) in
            try MasterKey.write(bytes, in: folder)
        }
    }

    /// Removes the file of the master key, which has to be somewhere else by now.
    ///
    /// - Throws: `notAvailable` when it can't be removed.
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
