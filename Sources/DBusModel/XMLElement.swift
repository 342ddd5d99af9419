/// One element of an XML document without text content, which is all that introspection data has.
struct XMLElement: Hashable, Sendable {
    struct Attribute: Hashable, Sendable {
        let name: String
        let value: String
    }

    let name: String
    let line: Int
    var attributes: [Attribute] = []
    var children: [XMLElement] = []

    subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }
}
