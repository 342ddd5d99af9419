import CameraDevice
import Crypto
import Glibc
import Linux

/// The templates of all users, each in an encrypted and authenticated file.
///
/// The authentication covers user and camera. A template that was moved to another user, or
/// attributed to another camera, is refused like any changed file.
package actor TemplateStore {
    package struct Entry: Hashable, Sendable {
        /// 32 random hexadecimal digits.
        package let id: String
        package var label: String
        /// Seconds since 1970.
        package let created: Int64
        /// Empty if the file cannot be used; then the label says why.
        package let camera: String
    }

    package static let maximum = 5
    private static let maximumLabel = 256
    private static let maximumFaces = 16
    private static let keyFile = "face.key"
    private static let keySize = 32
    private static let maximumFile = 1 << 15
    private static let indistinct =
        "The camera can't tell this face from other people's well enough. Use a fingerprint or "
        + "your password."

    private let folder: PrivateDirectory
    private let key: SymmetricKey
    /// Ids in the folder when it was last read, plus changes by this store.
    private var known: [UInt32: Set<String>]

    /// Opens the store in a folder, which is created if necessary.
    ///
    /// - Throws: ``FaceFault/failed(_:)`` if another user can access the folder or its key.
    package init(folder path: String) throws(FaceFault) {
        folder = try translating { () throws(SystemError) in try PrivateDirectory(path) }
        key = try Self.key(in: folder)
        known = try Self.identifiers(in: folder)
    }

    /// Returns users whose templates another program added or removed since the last call.
    package func changedUsers() throws(FaceFault) -> [UInt32] {
        let now = try Self.identifiers(in: folder)
        defer { known = now }
        return Set(now.keys).union(known.keys).filter { now[$0] != known[$0] }.sorted()
    }

    /// The files that cannot be used.
    package struct Unusable: Hashable, Sendable {
        package var damaged: [String]
        /// Files with a wrong owner or mode.
        package var refused: [String]
        /// Files whose faces are too close to the cohort's, as of an older version.
        package var indistinct: [String]

        package init(
            damaged: [String] = [],
            refused: [String] = [],
            indistinct: [String] = []
        ) {
            self.damaged = damaged
            self.refused = refused
            self.indistinct = indistinct
        }
    }

    package func unusable() throws(FaceFault) -> Unusable {
        var found = Unusable()
        for (user, ids) in try Self.identifiers(in: folder) {
            for id in ids.sorted() {
                if let record = try? record(id, of: user) {
                    guard !Cohort.isDistinct(record.faces) else { continue }
                    found.indistinct.append(path(user, id))
                } else if (try? isRefused(id, user)) == true {
                    found.refused.append(path(user, id))
                } else {
                    found.damaged.append(path(user, id))
                }
            }
        }
        return found
    }

    /// Returns a user's undamaged templates, the oldest first.
    ///
    /// The label of an unused template says why. Templates in a file with a wrong owner or mode are
    /// listed, so that they can be removed.
    ///
    /// - Throws: ``FaceFault`` if a file cannot be read: then the user's templates are unknown.
    package func entries(of user: UInt32) throws(FaceFault) -> [Entry] {
        var entries = try records(of: user)
            .map { record in
                var entry = record.entry
                if !Cohort.isDistinct(record.faces) {
                    entry.label =
                        "Not used. The camera can't tell this face from other people's well enough."
                }
                return entry
            }
        for id in try identifiers(of: user) where try isRefused(id, user) {
            let label =
                "Not used. Give this file the owner \(geteuid()) and the mode 0600: "
                + "\(path(user, id))"
            entries.append(Entry(id: id, label: label, created: 0, camera: ""))
        }
        return entries.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
    }

    /// Returns a user's templates of a camera.
    ///
    /// Faces that would shorten the limit of the enrolled faces are left out.
    ///
    /// - Throws: ``FaceFault/noTemplate`` without templates, ``FaceFault/failed(_:)`` if all belong
    ///   to another camera or are too close to the cohort.
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
        let distinct = fitting.filter { Cohort.isDistinct($0.faces) }
        guard !distinct.isEmpty else { throw .failed(Self.indistinct) }
        return distinct.map { record in
            let learned = record.learned.map(\.face)
                .filter { Cohort.allows($0, besides: record.faces) }
            return FaceTemplate(id: record.entry.id, faces: record.faces + learned)
        }
    }

    /// Stores the faces of an enrolment and returns the new id.
    ///
    /// - Throws: ``FaceFault/failed(_:)`` if the faces are too close to the cohort's.
    package func add(
        _ faces: [FaceDescriptor],
        label: String,
        user: UInt32,
        camera: String
    ) throws(FaceFault) -> String {
        guard Cohort.isDistinct(faces) else { throw .failed(Self.indistinct) }
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

    /// Removes all templates of a user, damaged or not, and returns their number.
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

    private func path(_ user: UInt32, _ id: String) -> String {
        folder.file(Self.name(user, id))
    }

    /// Returns the usable records; a file that is damaged or refused doesn't affect the others.
    ///
    /// - Throws: ``FaceFault`` if a file cannot be read: it may be intact, so the records are
    ///   unknown.
    func records(of user: UInt32) throws(FaceFault) -> [TemplateRecord] {
        var records: [TemplateRecord] = []
        for id in try identifiers(of: user) where try !isRefused(id, user) {
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

    /// Whether a file has a wrong mode or owner.
    private func isRefused(_ id: String, _ user: UInt32) throws(FaceFault) -> Bool {
        do throws(SystemError) {
            _ = try PrivateFile.exists(path(user, id))
            return false
        } catch {
            guard error.code == .permission else { throw FaceFault(error) }
            return true
        }
    }

    private func record(_ id: String, of user: UInt32) throws(FaceFault) -> TemplateRecord {
        guard Self.isIdentifier(id), let content = try content(of: id, user) else {
            throw .noTemplate
        }
        guard let record = TemplateRecord(content, id: id, user: user, key: key) else {
            throw .failed(
                "A template is damaged or not this user's: \(path(user, id)). "
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
        // Without the key, existing templates are unreadable. Do not treat that as no templates.
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
