import Glibc
package import Linux

/// The credentials of all users, each in a file, in a folder that only this process's user can
/// read.
package actor CredentialStore {
    package struct Entry: Hashable, Sendable {
        /// 32 random hexadecimal digits.
        package let id: String
        package let label: String
        /// Seconds since 1970.
        package let created: Int64
        package let credential: Credential
    }

    package static let maximum = 10
    private static let suffix = ".credential"
    private static let partyFile = "machine"
    private static let maximumFile = 4096

    package nonisolated let party: RelyingParty
    private let folder: PrivateDirectory
    /// Ids in the folder when it was last read, plus changes by this store.
    private var known: [UInt32: Set<String>]

    /// Opens the store in a folder, which is created if necessary.
    package init(folder path: String) throws(SystemError) {
        folder = try PrivateDirectory(path)
        party = try Self.party(in: folder)
        known = try Self.identifiers(in: folder)
    }

    /// Returns users whose credentials another program added or removed since the last call.
    package func changedUsers() throws(SystemError) -> [UInt32] {
        let now = try Self.identifiers(in: folder)
        defer { known = now }
        return Set(now.keys).union(known.keys).filter { now[$0] != known[$0] }.sorted()
    }

    package func damaged() throws(SystemError) -> [String] {
        var paths: [String] = []
        for (user, ids) in try Self.identifiers(in: folder) {
            for id in ids where (try? record(id, of: user)) == nil {
                paths.append(folder.file(Self.name(user, id)))
            }
        }
        return paths.sorted()
    }

    /// Returns a user's undamaged credentials, the oldest first.
    ///
    /// - Throws: ``SystemError`` if a file cannot be read: it may be intact, so the user's
    ///   credentials are unknown.
    package func entries(of user: UInt32) throws(SystemError) -> [Entry] {
        var entries: [Entry] = []
        for id in try identifiers(of: user) {
            guard let content = try content(of: id, user) else { continue }
            guard let record = CredentialRecord(content) else { continue }
            entries.append(
                Entry(
                    id: id,
                    label: record.label,
                    created: record.created,
                    credential: record.credential
                )
            )
        }
        return entries.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
    }

    /// Stores a credential and returns the new id.
    package func add(
        _ credential: Credential,
        label: String,
        user: UInt32
    ) throws(SystemError) -> String {
        let id = Self.random()
        let created = Int64(time(nil))
        try save(
            CredentialRecord(label: label, created: created, credential: credential),
            id,
            user
        )
        known[user, default: []].insert(id)
        return id
    }

    /// Updates the counter of a credential that has signed, and returns when it is on disk.
    ///
    /// - Returns: False if the credential is gone or its counter is not new.
    package func take(
        _ signed: Credential,
        of id: String,
        user: UInt32
    ) throws(SystemError) -> Bool {
        guard var record = try record(id, of: user), record.credential.handle == signed.handle,
            record.credential.isNew(signed.counter)
        else { return false }
        guard record.credential.counter != signed.counter else { return true }
        record.credential.counter = signed.counter
        try save(record, id, user)
        return true
    }

    /// Changes a credential's label; returns false if it does not exist.
    package func rename(
        _ id: String,
        of user: UInt32,
        to label: String
    ) throws(SystemError) -> Bool {
        guard var record = try record(id, of: user) else { return false }
        record.label = label
        try save(record, id, user)
        return true
    }

    /// Removes a credential, damaged or not; returns false if it did not exist.
    package func remove(_ id: String, of user: UInt32) throws(SystemError) -> Bool {
        guard Self.isIdentifier(id), try folder.remove(Self.name(user, id)) else { return false }
        known[user]?.remove(id)
        if known[user]?.isEmpty == true { known[user] = nil }
        return true
    }

    /// Removes all credentials of a user, damaged or not, and returns their number.
    package func removeAll(of user: UInt32) throws(SystemError) -> UInt32 {
        var count: UInt32 = 0
        for id in try identifiers(of: user) where try remove(id, of: user) { count += 1 }
        return count
    }

    // MARK: Files

    private static func name(_ user: UInt32, _ id: String) -> String { "\(user)-\(id)\(suffix)" }

    private static func isIdentifier(_ id: String) -> Bool {
        id.utf8.count == 32
            && id.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func random() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<32).map { _ in String(random.next(upperBound: 16 as UInt8), radix: 16) }
            .joined()
    }

    private static func identifiers(
        in folder: PrivateDirectory
    ) throws(SystemError) -> [UInt32: Set<String>] {
        var found: [UInt32: Set<String>] = [:]
        for file in try folder.names() where file.hasSuffix(suffix) {
            let parts = file.dropLast(suffix.count).split(separator: "-").map(String.init)
            guard parts.count == 2, let user = UInt32(parts[0]), isIdentifier(parts[1]),
                name(user, parts[1]) == file
            else { continue }
            found[user, default: []].insert(parts[1])
        }
        return found
    }

    private func identifiers(of user: UInt32) throws(SystemError) -> Set<String> {
        try Self.identifiers(in: folder)[user] ?? []
    }

    private func record(_ id: String, of user: UInt32) throws(SystemError) -> CredentialRecord? {
        guard Self.isIdentifier(id), let content = try content(of: id, user) else { return nil }
        guard let record = CredentialRecord(content) else {
            throw SystemError(
                .io,
                "The credential of a security key is damaged. Remove it and enrol the key again.",
                path: folder.file(Self.name(user, id))
            )
        }
        return record
    }

    private func content(of id: String, _ user: UInt32) throws(SystemError) -> [UInt8]? {
        try folder.content(of: Self.name(user, id), limit: Self.maximumFile)
    }

    private func save(
        _ record: CredentialRecord,
        _ id: String,
        _ user: UInt32
    ) throws(SystemError) {
        try folder.replace(Self.name(user, id), with: record.content)
    }

    /// Returns the relying party of credentials, with a random name.
    ///
    /// The random name makes answers worthless on other machines, and does not identify this
    /// machine.
    private static func party(in folder: PrivateDirectory) throws(SystemError) -> RelyingParty {
        if let kept = try folder.content(of: partyFile, limit: maximumFile) {
            guard let id = String(validating: kept, as: UTF8.self), isIdentifier(id) else {
                throw SystemError(
                    .io,
                    "The name of this machine must have 32 hexadecimal digits.",
                    path: folder.file(partyFile)
                )
            }
            return RelyingParty(id: "localauth.\(id)")
        }
        // With another name, a security key would find none of its credentials.
        guard try identifiers(in: folder).isEmpty else {
            throw SystemError(
                .io,
                "The name of this machine is missing. Restore it, or remove the credentials in "
                    + "that folder and enrol the security keys again.",
                path: folder.file(partyFile)
            )
        }
        let id = random()
        try folder.replace(partyFile, with: Array(id.utf8))
        return RelyingParty(id: "localauth.\(id)")
    }
}
