import Glibc
import Linux
public import LocalAuthBus

/// The templates of all users, in memory and, where there is one, in a file.
///
/// What changes is in the file, on the disk, when a method returns; one that throws changes
/// nothing. The file is the old one or the new one, also after a crash.
public struct TemplateShelf: Sendable {
    private var enrolled: [UInt32: [Template]] = [:]
    private var folder: String?

    private static let name = "templates"
    private static let limit = 16 << 20

    /// Nothing, and in memory alone.
    public init() {}

    /// What was kept in this folder by an earlier process; without a folder in memory alone.
    ///
    /// A service of systemd has one: `getenv("STATE_DIRECTORY")`. It has to be this user's, and
    /// nobody else may write to it.
    ///
    /// - Throws: ``SensorFault/failed(_:)`` when there is a file that can't be read.
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

    /// Who has templates.
    public var users: [UInt32] { enrolled.filter { !$0.value.isEmpty }.keys.sorted() }

    /// A user's templates, the oldest first.
    public subscript(user: UInt32) -> [Template] { enrolled[user] ?? [] }

    /// Adds a template under a new random id of 128 bits.
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

    /// Gives a template another label; unknown: ``SensorFault/noTemplates``.
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

    /// Removes a template; unknown: ``SensorFault/noTemplates``.
    public mutating func remove(_ id: String, of user: UInt32) throws(SensorFault) {
        var templates = self[user]
        templates.remove(at: try index(of: id, user))
        try keep(templates, of: user)
    }

    /// Removes all templates of a user and says how many there were.
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

    /// Uid, id, time and label, each ended by a zero, which no text of the bus contains.
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
        // Nothing stands behind the last zero.
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
