/// One complete D-Bus type, as a tree.
public indirect enum SignatureType: Hashable, Sendable {
    /// A basic type: one of the letters of `SignatureType.basicCodes`.
    case basic(Character)
    /// `v`.
    case variant
    /// `a` and its element.
    case array(SignatureType)
    /// `(…)`, never empty.
    case structure([SignatureType])
    /// `a{…}`: the key is always a basic type.
    case dictionary(key: SignatureType, value: SignatureType)

    /// The codes of the types that may be the key of a dictionary.
    public static let basicCodes = "ybnqiuxtdsogh"
}

extension SignatureType {
    /// The type in D-Bus notation.
    public var text: String {
        switch self {
        case .basic(let code): String(code)
        case .variant: "v"
        case .array(let element): "a" + element.text
        case .structure(let fields): "(" + fields.map(\.text).joined() + ")"
        case .dictionary(let key, let value): "a{" + key.text + value.text + "}"
        }
    }

    /// Reads a signature of exactly one complete type.
    ///
    /// - Throws: `SignatureError` for none, several, or one that breaks the rules of D-Bus.
    public init(_ text: String) throws(SignatureError) {
        let types = try SignatureType.list(text)
        guard types.count == 1, let only = types.first else {
            throw SignatureError("'\(text)' is not exactly one complete type")
        }
        self = only
    }

    /// Reads a signature of any number of complete types.
    ///
    /// At most 255 bytes, 32 arrays and 32 structures deep, as D-Bus has it.
    public static func list(_ text: String) throws(SignatureError) -> [SignatureType] {
        guard text.utf8.count <= SignatureParser.maximumLength else {
            throw SignatureError(
                "the signature is longer than \(SignatureParser.maximumLength) bytes"
            )
        }
        var parser = SignatureParser(text)
        var types: [SignatureType] = []
        while !parser.isAtEnd {
            types.append(try parser.type(arrays: 0, structures: 0))
        }
        return types
    }
}

/// Why a text is not a D-Bus signature.
public struct SignatureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One clause in plain words.
    public let description: String

    init(_ description: String) { self.description = description }
}

private struct SignatureParser {
    static let maximumLength = 255
    static let maximumDepth = 32

    let text: String
    var rest: Substring

    init(_ text: String) {
        self.text = text
        rest = text[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Recursion is bounded by the two depths.
    mutating func type(arrays: Int, structures: Int) throws(SignatureError) -> SignatureType {
        guard let code = rest.popFirst() else { throw SignatureError("'\(text)' ends too early") }
        switch code {
        case "v": return .variant
        case "a": return try array(arrays: arrays + 1, structures: structures)
        case "(": return try structure(arrays: arrays, structures: structures + 1)
        case _ where SignatureType.basicCodes.contains(code): return .basic(code)
        default: throw SignatureError("'\(code)' in '\(text)' is not a D-Bus type")
        }
    }

    private mutating func array(
        arrays: Int,
        structures: Int
    ) throws(SignatureError) -> SignatureType {
        guard arrays <= Self.maximumDepth else {
            throw SignatureError("the signature has arrays over \(Self.maximumDepth) deep")
        }
        guard rest.first == "{" else {
            return .array(try type(arrays: arrays, structures: structures))
        }
        rest.removeFirst()
        // A dictionary entry counts as a structure.
        guard structures < Self.maximumDepth else { throw tooDeep }
        let key = try type(arrays: arrays, structures: structures + 1)
        guard case .basic = key else {
            throw SignatureError("the key of a dictionary in '\(text)' is not a basic type")
        }
        let value = try type(arrays: arrays, structures: structures + 1)
        guard rest.popFirst() == "}" else {
            throw SignatureError("a dictionary in '\(text)' is not one key and one value")
        }
        return .dictionary(key: key, value: value)
    }

    private mutating func structure(
        arrays: Int,
        structures: Int
    ) throws(SignatureError)
        -> SignatureType
    {
        guard structures <= Self.maximumDepth else { throw tooDeep }
        var fields: [SignatureType] = []
        while let next = rest.first, next != ")" {
            fields.append(try type(arrays: arrays, structures: structures))
        }
        guard rest.popFirst() == ")" else { throw SignatureError("'\(text)' ends too early") }
        guard !fields.isEmpty else { throw SignatureError("'\(text)' has an empty structure") }
        return .structure(fields)
    }

    private var tooDeep: SignatureError {
        SignatureError("the signature has structures over \(Self.maximumDepth) deep")
    }
}
