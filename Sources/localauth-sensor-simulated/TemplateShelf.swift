import Glibc
import LocalAuthBus
import SensorKit

/// The templates of all users, in memory only.
struct TemplateShelf {
    private var enrolled: [UInt32: [Template]] = [:]

    /// Who has templates.
    var users: [UInt32] { enrolled.filter { !$0.value.isEmpty }.keys.sorted() }

    subscript(user: UInt32) -> [Template] { enrolled[user] ?? [] }

    /// Adds a template under a new random id of 128 bits.
    mutating func add(for user: UInt32, label: String) -> String {
        var random = SystemRandomNumberGenerator()
        let digits = (0..<4)
            .map { _ in
                let part = String(random.next() as UInt32, radix: 16)
                return String(repeating: "0", count: 8 - part.count) + part
            }
        let template = Template(id: digits.joined(), label: label, created: Int64(time(nil)))
        enrolled[user, default: []].append(template)
        return template.id
    }

    mutating func rename(_ id: String, of user: UInt32, to label: String) throws(SensorFault) {
        let index = try index(of: id, user)
        let created = self[user][index].created
        enrolled[user]?[index] = Template(id: id, label: label, created: created)
    }

    mutating func remove(_ id: String, of user: UInt32) throws(SensorFault) {
        let index = try index(of: id, user)
        enrolled[user]?.remove(at: index)
    }

    mutating func removeAll(of user: UInt32) -> UInt32 {
        UInt32(enrolled.removeValue(forKey: user)?.count ?? 0)
    }

    private func index(of id: String, _ user: UInt32) throws(SensorFault) -> Int {
        guard let index = self[user].firstIndex(where: { $0.id == id }) else {
            throw .noTemplates
        }
        return index
    }
}
