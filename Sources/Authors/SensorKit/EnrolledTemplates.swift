import Glibc
import Linux
public import LocalAuthBus

/// The templates of all users, in memory and optionally in a file.
///
/// A change is on disk when the method returns; a method that throws changes nothing. A crash
/// leaves the old or the new file, never a mixture.
public struct EnrolledTemplates: Sendable {
    private var enrolled: [UInt32: [Template]] = [:]
    private var folder: String?

    private static let name = "templates"
    private static let limit = 16 << 20

    /// Creates an empty collection in memory only.
    public init() {}

    /// Loads the templates of an earlier process from a folder; nil keeps templates in memory only.
    ///
    /// A systemd service passes `getenv("STATE_DIRECTORY")`. The folder must belong to this user
    /// and be writable for no other user.
    ///
    /// - Throws: ``SensorFault/failed(_:)`` if the file cannot be read.
    public init(folder: String?) throws(SensorFault) {
        guard let folder else { return }
        let file = "\(folder)/\(Self.name)"
        self.folder = folder
        do throws(SystemError) {
            guard let bytes = try PrivateFile.content(of: file, limit: Self.limit) else { return }
            enrolled = try Self.templates(bytes, file)
        } catch {
            throw .failed("\(error)")
        }
    }

    /// The users with templates.
    public var users: [UInt32] { enrolled.filter { !$0.value.isEmpty }.keys.sorted() }

    /// A user's templates, oldest first.
    public subscript(user: UInt32) -> [Template] { enrolled[user] ?? [] }

    /// Adds a template with a random 128-bit id, and returns the id.
    public mutating func add(for user: UInt32, label: String) throws(SensorFault) -> String {
        var random = SystemRandomNumberGenerator()
        let digits = (0..<4)
            .map { _ in
                let part = String(random.next() as UInt32, radix: 16)
                return String(repeating: "0", count: 8 - part.count) + part
            }
        let template = Template(id: digits.joined(), label: label, created: Int64(time(nil)))
        try keep(self[user] + [template], of: user)
        return template.id
    }

    /// Changes a template's label; throws ``SensorFault/noTemplates`` for an unknown id.
    public mutating func rename(
        _ id: String,
        of user: UInt32,
        to label: String
    ) throws(SensorFault) {
        var templates = self[user]
        let index = try index(of: id, user)
        let created = templates[index].created
        templates[index] = Template(id: id, label: label, created: created)
        try keep(templates, of: user)
    }

    /// Removes a template; throws ``SensorFault/noTemplates`` for an unknown id.
    public mutating func remove(_ id: String, of user: UInt32) throws(SensorFault) {
        var templates = self[user]
        templates.remove(at: try index(of: id, user))
        try keep(templates, of: user)
    }

    /// Removes all templates of a user and returns their number.
    public mutating func removeAll(of user: UInt32) throws(SensorFault) -> UInt32 {
        let count = self[user].count
        if count > 0 { try keep([], of: user) }
        return UInt32(count)
    }

    private func index(of id: String, _ user: UInt32) throws(SensorFault) -> Int {
        guard let index = self[user].firstIndex(where: { $0.id == id }) else {
            throw .noTemplates
        }
        return index
    }

    // MARK: The file

    /// Writes uid, id, time and label, each with a terminating zero, which D-Bus strings cannot
    /// contain.
    private mutating func keep(_ templates: [Template], of user: UInt32) throws(SensorFault) {
        var enrolled = enrolled
        enrolled[user] = templates
        if let folder {
            var content: [UInt8] = []
            for (user, templates) in enrolled {
                for template in templates {
                    let (id, created, label) = (template.id, template.created, template.label)
                    for field in ["\(user)", id, "\(created)", label] {
                        content += field.utf8
                        content.append(0)
                    }
                }
            }
            do throws(SystemError) {
                try PrivateDirectory(folder).replace(Self.name, with: content)
            } catch {
                throw .failed("\(error)")
            }
        }
        self.enrolled = enrolled
    }

    private static func templates(
        _ bytes: [UInt8],
        _ file: String
    ) throws(SystemError) -> [UInt32: [Template]] {
        let fields = bytes.split(separator: 0, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        var enrolled: [UInt32: [Template]] = [:]
        let damage = SystemError(.io, "The file is damaged.", path: file)
        // The last zero ends the file.
        guard fields.last?.isEmpty == true else { throw damage }
        for start in stride(from: 0, to: fields.count - 1, by: 4) {
            guard start + 4 < fields.count, let user = UInt32(fields[start]),
                let created = Int64(fields[start + 2])
            else { throw damage }
            let template = Template(
                id: fields[start + 1],
                label: fields[start + 3],
                created: created
            )
            enrolled[user, default: []].append(template)
        }
        return enrolled
    }
}
