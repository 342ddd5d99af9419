import Glibc
import Linux
import SQLite
package import Sealing

extension KeychainStore {
    static let tampered = KeychainError(
        .decode,
        "Another program changed the keychain's database. Restore the database from a backup."
    )

    /// Whether a state directory has a keychain.
    ///
    /// Creates and opens no files.
    package static func isThere(in directory: String) -> Bool {
        access(path(in: directory) + "/" + databaseName, F_OK) == 0
    }

    /// Whether opening a closed keychain has work to do: its database has a log, as after a kill, or
    /// an earlier format.
    ///
    /// Creates and changes no files.
    package static func hasWork(in directory: String) -> Bool {
        let file = path(in: directory) + "/" + databaseName
        var status = stat()
        if stat(file + "-wal", &status) == 0, status.st_size > 0 { return true }
        // The offset of `user_version` in the header of an SQLite file.
        var format = [UInt8](repeating: 0, count: 4)
        guard let header = OwnedDescriptor.open(file, O_RDONLY | O_NOFOLLOW),
            pread(header.rawValue, &format, format.count, 60) == format.count
        else { return false }
        return format.reduce(0) { $0 << 8 | Int64($1) } < KeychainSchema.format.version
    }

    private static let databaseName = "items.sqlite"

    private static func path(in directory: String) -> String { directory + "/keychain" }

    static func folder(in directory: String) throws(KeychainError) -> DatabaseFolder {
        try translating { () throws(SystemError) in
            DatabaseFolder(
                try PrivateDirectory(path(in: directory)),
                database: databaseName,
                key: "master.key",
                // A sealed master key leaves no file here, so the anchor shows that a database
                // existed.
                traces: [Anchor.name]
            )
        }
    }

    /// Opens the database.
    ///
    /// If the caller wants it, a damaged database is set aside and replaced (L17).
    static func openDatabase(
        in folder: DatabaseFolder,
        _ settingAside: Bool = true
    ) throws(KeychainError) -> (Database, setAside: String?) {
        try translating { () throws(SystemError) in
            let lock = try folder.directory.lock()
            guard settingAside else { return (try open(folder, lock), nil) }
            return try folder.openOrReplace { () throws(SystemError) in try open(folder, lock) }
        }
    }

    private static func open(
        _ folder: DatabaseFolder,
        _ lock: DirectoryLock
    ) throws(SystemError) -> Database {
        try KeychainSchema.format.open(in: folder, lock: lock) {
            database,
            lost throws(SystemError) in
            let identity = SecretBytes.random(count: 16)
            try KeychainSchema.write(meta: "identity", identity, to: database)
            try KeychainSchema.write(meta: "lost", [lost ? 1 : 0], to: database)
        } check: { database throws(SystemError) in
            // SQLite overwrites deleted data with zeros.
            try database.run("PRAGMA secure_delete = ON")
        }
    }

    static func identity(of database: Database) throws(KeychainError) -> [UInt8] {
        let identity = try translating { () throws(SystemError) in
            try KeychainSchema.meta("identity", in: database)
        }
        guard let identity, identity.count == 16 else { throw tampered }
        return identity
    }

    /// Returns the check value of the right key; nil if the database is new.
    static func verifier(of database: Database) throws(KeychainError) -> [UInt8]? {
        let (verifier, root, codes) = try translating { () throws(SystemError) in
            (
                try KeychainSchema.meta("verifier", in: database),
                try KeychainSchema.meta("root", in: database),
                try KeychainSchema.ledgerCodes(in: database)
            )
        }
        guard verifier != nil || (root == nil && codes.isEmpty) else { throw tampered }
        return verifier
    }

    /// Refuses any key that did not write the database.
    static func check(
        _ verifier: [UInt8],
        _ ring: KeyRing,
        _ database: Database
    ) throws(KeychainError) {
        guard !KeyRing.isSame(verifier, ring.verifier) else { return }
        throw KeychainError(
            .notAvailable,
            "The keychain needs the master key \(try keyName(of: database)), and this is "
                + "\(ring.name). Put the right master key back, or restore it from the recovery "
                + "key.",
            needsMasterKey: true
        )
    }

    static let lostKey = KeychainError(
        .notAvailable,
        "A database of the keychain and its master key were damaged or lost. Restore the master "
            + "key from the recovery key, or make a new key with localauthctl keychain init."
    )

    static func lost(_ database: Database) throws(KeychainError) -> Bool {
        try translating { () throws(SystemError) in
            try KeychainSchema.meta("lost", in: database) == [1]
        }
    }

    static func missingKey(_ database: Database) throws(KeychainError) -> KeychainError {
        KeychainError(
            .notAvailable,
            "The keychain's master key \(try keyName(of: database)) is missing: put it back, or "
                + "restore it from the recovery key. If it is sealed, the journal of "
                + "localauth-master-key.service says why it was not given.",
            needsMasterKey: true
        )
    }

    static func keyName(of database: Database) throws(KeychainError) -> String {
        let name = try translating { () throws(SystemError) in
            try KeychainSchema.meta("key", in: database)
        }
        return String(decoding: name ?? [], as: UTF8.self)
    }

    static func begin(_ ring: KeyRing, _ database: Database) throws(KeychainError) {
        let root = LedgerRoot()
        try translating { () throws(SystemError) in
            try database.transaction { () throws(SystemError) in
                try KeychainSchema.write(meta: "verifier", ring.verifier, to: database)
                try KeychainSchema.write(meta: "key", Array(ring.name.utf8), to: database)
                try write(root.counter, root.code(ring), to: database)
            }
        }
    }

    static func write(
        _ counter: UInt64,
        _ code: [UInt8],
        to database: Database
    ) throws(SystemError) {
        var writer = ByteWriter()
        writer.add(counter)
        writer.add(code)
        try KeychainSchema.write(meta: "root", writer.bytes, to: database)
    }

    /// Returns the root of all ledgers if it is authentic.
    static func readRoot(
        of database: Database,
        _ ring: KeyRing
    ) throws(KeychainError) -> LedgerRoot {
        let (bytes, codes, format) = try translating { () throws(SystemError) in
            (
                try KeychainSchema.meta("root", in: database) ?? [],
                try KeychainSchema.ledgerCodes(in: database),
                try database.integer("PRAGMA user_version")
            )
        }
        var reader = ByteReader(bytes)
        var root = LedgerRoot()
        root.counter = try reader.number()
        let code = try reader.value()
        root.codes = codes
        // The first call of each user compares that user's ledger with its code.
        // The format in the file's header is not authenticated by itself.
        let isOfFormat = [format, 2].contains { KeyRing.isSame(code, root.code(ring, format: $0)) }
        guard reader.isAtEnd, isOfFormat else { throw tampered }
        return root
    }

    /// Returns the recovery key of the master key, even while a service has the keychain open.
    ///
    /// - Returns: The text, and in `doubt` why the key could not be compared with the keychain. A
    ///   running service prevents that comparison.
    /// - Throws: `notAvailable` if the key is missing, unreadable, or that of another keychain.
    package static func recoveryKey(
        directory: String,
        credentials: String?
    ) throws(KeychainError) -> (text: String, doubt: KeychainError?) {
        let folder = try folder(in: directory)
        guard let key = try MasterKey.find(in: folder, credentials: credentials) else {
            throw KeychainError(
                .notAvailable,
                "There is no master key in \(folder.directory.path). The service makes the key "
                    + "with the first item."
            )
        }
        return try recoveryKey(of: key.secret, directory: directory)
    }

    /// Returns a master key's recovery key, and compares the key with the keychain of a directory.
    ///
    /// - Throws: `notAvailable` for bytes that are no master key, or that of another keychain.
    package static func recoveryKey(
        of secret: SecretBytes,
        directory: String
    ) throws(KeychainError) -> (text: String, doubt: KeychainError?) {
        guard secret.count == MasterKey.size else {
            throw KeychainError(
                .notAvailable,
                "The keychain's master key must have \(MasterKey.size) bytes, this has "
                    + "\(secret.count)."
            )
        }
        return (secret.use { RecoveryKey.text(for: $0) }, try doubt(secret, directory))
    }

    private static func doubt(
        _ secret: SecretBytes,
        _ directory: String
    ) throws(KeychainError) -> KeychainError? {
        let nothing = KeychainError(.notFound, "The keychain has no items yet.")
        guard isThere(in: directory) else { return nothing }
        let keychain: IdleKeychain
        do throws(KeychainError) {
            // Read-only: the service must find a damaged database itself.
            keychain = try IdleKeychain(directory: directory, settingAside: false)
        } catch {
            return error
        }
        return try keychain.check(secret) ? nil : nothing
    }

    /// Writes the master key of a recovery key into the key file of a closed keychain.
    ///
    /// A different existing key is kept beside it.
    /// - Returns: The path of a damaged database that this call set aside.
    /// - Throws: `parameter` for an invalid text, or the key of another keychain; `notAvailable` if
    ///   the keychain is open. Stop the service first.
    @discardableResult
    package static func restore(
        _ text: String,
        directory: String
    ) throws(KeychainError) -> String? {
        let secret = try RecoveryKey.key(of: text)
        let keychain = try IdleKeychain(directory: directory)
        try keychain.writeKeyFile(secret)
        return keychain.setAside
    }
}
