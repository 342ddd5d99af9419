import DBusModel

/// A structure of the wire and its Swift names.
struct Structure: Hashable {
    let names: StructureNames
    let types: [SignatureType]

    var fields: String { types.map(\.text).joined() }
}

/// The structures that the arguments name, each once.
///
/// - Throws: `SourceError` where two arguments disagree about one.
func structures(of interfaces: [Interface]) throws(SourceError) -> [Structure] {
    var byName: [String: Structure] = [:]
    for interface in interfaces {
        let arguments =
            interface.methods.flatMap { $0.inputs + $0.outputs }
            + interface.signals.flatMap(\.arguments)
        for argument in arguments {
            guard let names = argument.structure, let types = argument.type.structure else {
                continue
            }
            let structure = Structure(names: names, types: types)
            if let other = byName.updateValue(structure, forKey: names.name), other != structure {
                throw interface.error(
                    argument.line,
                    "the structure '\(names.name)' is another one elsewhere"
                )
            }
        }
    }
    return byName.values.sorted { $0.names.name < $1.names.name }
}

extension SourceText {
    mutating func types(_ structures: [Structure]) {
        var separator = Separator()
        for structure in structures {
            separator.next(&self)
            type(structure)
        }
    }

    private mutating func type(_ structure: Structure) {
        let signature = "(\(structure.fields))"
        let fields = zip(structure.names.fields, structure.types)
            .map { name, type in
                (name: quoted(name), type: type.swift() ?? "Never", code: type.text)
            }
        doc("The structure `\(signature)` of the wire.")
        block("public struct \(structure.names.name): WireType, Hashable, Sendable") { source in
            source.doc("The D-Bus type.")
            source.line("public static let signature = \"\(signature)\"")
            for (index, field) in fields.enumerated() {
                source.line()
                source.doc("Field \(index + 1), a `\(field.code)`.")
                source.line("public let \(field.name): \(field.type)")
            }
            source.line()
            source.doc("Makes one of its fields.")
            source.list("public init(", fields.map { "\($0.name): \($0.type)" }, ") {")
            source.indented { source in
                for field in fields { source.line("self.\(field.name) = \(field.name)") }
            }
            source.line("}")
            source.line()
            source.doc("Reads one from a message.")
            source.block("public init(from reader: inout MessageReader) throws(DBusError)") {
                source in
                source.line(
                    "self = try reader.structure(\"\(structure.fields)\")"
                        + " { (reader) throws(DBusError) in"
                )
                source.indented { source in
                    source.list(
                        "Self(",
                        fields.map { "\($0.name): try reader.read(\($0.type).self)" },
                        ")"
                    )
                }
                source.line("}")
            }
            source.line()
            source.doc("Writes it into a message.")
            source.block("public func write(to writer: inout MessageWriter) throws(DBusError)") {
                source in
                source.line(
                    "try writer.structure(\"\(structure.fields)\") { (writer) throws(DBusError) in"
                )
                source.indented { source in
                    for field in fields { source.line("try writer.write(\(field.name))") }
                }
                source.line("}")
            }
        }
    }
}
