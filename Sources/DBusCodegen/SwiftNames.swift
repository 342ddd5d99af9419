import DBusModel

extension Interface {
    /// `Context1` of `org.localauth.Context1`.
    var prefix: String { name.split(separator: ".").last.map(String.init) ?? name }
}

/// `canEvaluate` of `CanEvaluate`, `pinCode` of `PINCode`.
func lowerCamel(_ name: some StringProtocol) -> String {
    let characters = Array(name)
    var upper = characters.prefix { $0.isUppercase }.count
    // The last capital of several starts the next word.
    if upper > 1, upper < characters.count, characters[upper].isLetter { upper -= 1 }
    return String(characters[..<upper]).lowercased() + String(characters[upper...])
}

/// The name as Swift takes it where a declaration or a call names something.
func quoted(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

private let keywords: Set<String> = [
    "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
    "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil",
    "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return",
    "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
    "typealias", "var", "where", "while",
]

extension SignatureType {
    /// The Swift type; nil for a structure in a place that no annotation names.
    ///
    /// `structure` names the one that this type is or is an array of.
    func swift(structure: String? = nil) -> String? {
        switch self {
        case .basic(let code): basicTypes[code]
        case .variant: "Variant"
        case .array(.structure): structure.map { "[\($0)]" }
        case .array(let element): element.swift().map { "[\($0)]" }
        case .structure: structure
        case .dictionary(let key, let value):
            if let key = key.swift(), let value = value.swift() {
                "[\(key): \(value)]"
            } else {
                nil
            }
        }
    }
}

private let basicTypes: [Character: String] = [
    "y": "UInt8", "b": "Bool", "n": "Int16", "q": "UInt16", "i": "Int32", "u": "UInt32",
    "x": "Int64", "t": "UInt64", "d": "Double", "s": "String", "o": "ObjectPath", "g": "Signature",
]

extension Argument {
    /// The Swift type: the checks have refused what has none.
    var swift: String { type.swift(structure: structure?.name) ?? "Never" }

    /// `policy: UInt32`.
    var parameter: String { "\(quoted(name)): \(swift)" }

    /// `reader.read(UInt32.self)`.
    var read: String { "reader.read(\(swift).self)" }
}

extension Property {
    /// The Swift type: the checks have refused what has none.
    var swift: String { type.swift() ?? "Never" }
}

extension [Argument] {
    /// The Swift type of all of them as one value.
    var swift: String {
        switch count {
        case 0: "Void"
        case 1: self[0].swift
        default: "(" + map(\.parameter).joined(separator: ", ") + ")"
        }
    }

    /// ` -> Type`, or nothing for nothing.
    var returns: String { isEmpty ? "" : " -> \(swift)" }

    /// The arguments that have a doc comment.
    var docs: [(name: String, doc: String)] {
        compactMap { argument in argument.doc.map { (argument.name, $0) } }
    }
}
