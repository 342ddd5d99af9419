import CameraDevice
import Crypto
import Glibc
import Linux

/// The templates of all users: one file each, encrypted and authenticated.
///
/// The user and the camera are part of what is authenticated: a template that is moved to another
/// user, or attributed to another camera, is refused like one with a changed byte.
package actor TemplateStore {
    /// What can be told of a template.
    package struct Entry: Hashable, Sendable {
        /// 32 hexadecimal digits, at random.
        package let id: String
        package var label: String
        /// Seconds since 1970.
        package let created: Int64
        /// The camera it was enrolled with.
        package let camera: String
    }

    /// Templates of one user.
    package static let maximum = 5
    private static let maximumLabel = 256
    private static let maximumFaces = 16
    private static let keyFile = "face.key"
    private static let keySize = 32
    private static let maximumFile = 1 << 15

    private let folder: PrivateDirectory
    private let key: SymmetricKey
    /// The state of the folder at the last look, plus the changes made here since.
    private var known: [UInt32: Set<String>]

    /// Opens the store in a folder, which is made where it is missing.
    ///
    /// - Throws: ``FaceFault/failed(_:)`` when the folder or its key isn't ours alone.
    package init(folder path: String) throws(FaceFault) {
        folder = try translating { () throws(SystemError) in try PrivateDirectory(path) }
        key = try Self.key(in: folder)
        known = try Self.identifiers(in: folder)
    }

    /// The users whose templates were added or removed other than through this store since the last
    /// look.
    package func changedUsers() throws(FaceFault) -> [UInt32] {
        let now = try Self.identifiers(in: folder)
        defer { known = now }
        return Set(now.keys).union(known.keys).filter { now[$0] != known[$0] }.sorted()
    }

    /// The paths of the templates that can't be used.
    package func damaged() throws(FaceFault) -> [String] {
        var paths: [String] = []
        for (user, ids) in try Self.identifiers(in: folder) {
            for id in ids where (try? record(id, of: user)) == nil {
                paths.append("\(folder.path)/\(Self.name(user, id))")
            }
        }
        return paths.sorted()
    }

    /// The templates of a user that are not damaged, the oldest first.
    ///
    /// - Throws: Where one can't be read: what the user has isn't known then.
    package func entries(of user: UInt32) throws(FaceFault) -> [Entry] {
        try records(of: user).map(\.entry)
            .sorted { ($0.created, $0.id) < ($1.created, $1.id) }
    }

    /// What one user is recognised by with one camera.
    ///
    /// - Throws: ``FaceFault/noTemplate`` without any, a sentence when all are another camera's.
    package func templates(
        of user: UInt32,
        camera: String
    ) throws(FaceFault) -> [FaceTemplate] {
        let all = try records(of: user)
        if all.isEmpty, let id = try identifiers(of: user).first { _ = try record(id, of: user) }
        guard let other = all.first?.entry.camera else { throw .noTemplate }
        let fitting = all.filter { CameraIdentity.isSame($0.entry.camera, as: camera) }
        guard !fitting.isEmpty else {
            throw .failed(
                "The user was enrolled with the camera \(other); this camera is \(camera). Enrol "
                    + "again, or plug in the first camera."
            )
        }
        return fitting.map { record in
            FaceTemplate(id: record.entry.id, faces: record.faces + record.learned.map(\.face))
        }
    }

    /// Keeps the faces of an enrolment under a new id, and answers that.
    package func add(
        _ faces: [FaceNumbers],
        label: String,
        user: UInt32,
        camera: String
    ) throws(FaceFault) -> String {
        let id = Self.newIdentifier()
        let entry = Entry(id: id, label: label, created: Int64(time(nil)), camera: camera)
        try save(TemplateRecord(entry: entry, faces: faces), user: user)
        known[user, default: []].insert(id)
        return id
    }

    package func rename(_ id: String, of user: UInt32, to label: String) throws(FaceFault) {
        var record = try record(id, of: user)
        record.entry.label = label
        try save(record, user: user)
    }

    /// Removes a template, damaged or not.
    package func remove(_ id: String, of user: UInt32) throws(FaceFault) {
        guard Self.isIdentifier(id), try removeFile(of: id, user) else {
            throw .noTemplate
        }
        forget(id, of: user)
    }

    /// Removes all templates of a user, damaged or not, and says how many there were.
    package func removeAll(of user: UInt32) throws(FaceFault) -> UInt32 {
        var count: UInt32 = 0
        for id in try identifiers(of: user) where try removeFile(of: id, user) {
            count += 1
            forget(id, of: user)
        }
        return count
    }

    private func removeFile(of id: String, _ user: UInt32) throws(FaceFault) -> Bool {
        try translating { () throws(SystemError) in try folder.remove(Self.name(user, id)) }
    }

    private func forget(_ id: String, of user: UInt32) {
        known[user]?.remove(id)
        if known[user]?.isEmpty == true { known[user] = nil }
    }

    // MARK: Files

    private static func name(_ user: UInt32, _ id: String) -> String { "\(user)-\(id).face" }

    static func newIdentifier() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<16).map { _ in TemplateRecord.hexadecimal(random.next()) }.joined()
    }

    static func isIdentifier(_ id: String) -> Bool {
        id.utf8.count == 32
            && id.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// The ids in the folder, by user.
    private static func identifiers(
        in folder: PrivateDirectory
    ) throws(FaceFault) -> [UInt32: Set<String>] {
        var found: [UInt32: Set<String>] = [:]
        let names = try translating { () throws(SystemError) in try folder.names() }
        for name in names where name.hasSuffix(".face") {
            let parts = name.dropLast(".face".count).split(separator: "-").map(String.init)
            guard parts.count == 2, let user = UInt32(parts[0]), isIdentifier(parts[1]),
                Self.name(user, parts[1]) == name
            else { continue }
            found[user, default: []].insert(parts[1])
        }
        return found
    }

    private func identifiers(of user: UInt32) throws(FaceFault) -> Set<String> {
        try Self.identifiers(in: folder)[user] ?? []
    }

    /// The usable ones: a damaged file doesn't affect the others.
    ///
    /// - Throws: Where one can't be read: it may be sound, and what the user has isn't known then.
    func records(of user: UInt32) throws(FaceFault) -> [TemplateRecord] {
        var records: [TemplateRecord] = []
        for id in try identifiers(of: user) {
            guard let content = try content(of: id, user) else { continue }
            guard let record = TemplateRecord(content, id: id, user: user, key: key) else {
                continue
            }
            records.append(record)
        }
        return records
    }

    private func content(of id: String, _ user: UInt32) throws(FaceFault) -> [UInt8]? {
        try translating { () throws(SystemError) in
            try folder.content(of: Self.name(user, id), limit: Self.maximumFile)
        }
    }

    private func record(_ id: String, of user: UInt32) throws(FaceFault) -> TemplateRecord {
        guard Self.isIdentifier(id), let content = try content(of: id, user) else {
            throw .noTemplate
        }
        guard let record = TemplateRecord(content, id: id, user: user, key: key) else {
            throw .failed(
                "A template is damaged or not this user's: \(folder.path)/\(Self.name(user, id)). "
                    + "Remove it and enrol again."
            )
        }
        return record
    }

    func save(_ record: TemplateRecord, user: UInt32) throws(FaceFault) {
        guard record.entry.label.utf8.count <= Self.maximumLabel,
            record.entry.camera.utf8.count <= 255, record.faces.count <= Self.maximumFaces,
            let content = record.sealed(user: user, key: key)
        else {
            throw .failed("The template can't be encrypted.")
        }
        try translating { () throws(SystemError) in
            try folder.replace(Self.name(user, record.entry.id), with: content)
        }
    }

    private static func key(in folder: PrivateDirectory) throws(FaceFault) -> SymmetricKey {
        let kept = try translating { () throws(SystemError) in
            try folder.content(of: keyFile, limit: 1 << 20)
        }
        if let bytes = kept {
            guard bytes.count == keySize else {
                throw .failed("The key \(folder.path)/\(keyFile) must have \(keySize) bytes.")
            }
            return SymmetricKey(data: bytes)
        }
        // Templates without their key are unreadable, which must not look like having no templates.
        let names = try translating { () throws(SystemError) in try folder.names() }
        guard !names.contains(where: { $0.hasSuffix(".face") }) else {
            throw .failed(
                "The key \(folder.path)/\(keyFile) is missing. Restore it, or remove the templates "
                    + "in that folder and enrol again."
            )
        }
        var random = SystemRandomNumberGenerator()
        let bytes: [UInt8] = (0..<keySize).map { _ in random.next() }
        try translating { () throws(SystemError) in try folder.replace(keyFile, with: bytes) }
        return SymmetricKey(data: bytes)
    }
}
