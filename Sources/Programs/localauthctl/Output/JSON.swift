import DBus

/// A value to write as JSON, with its keys in the given order.
indirect enum JSON: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case string(String)
    case array([JSON])
    case object([(String, JSON)])

    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .int(let value): String(value)
        case .string(let value): Self.quoted(value)
        case .array(let values): "[" + values.map(\.text).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\(Self.quoted($0.0)): \($0.1.text)" }.joined(separator: ", ") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}":
                let hex = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension JSON {
    /// Converts a value from the bus; a type without a counterpart in JSON becomes null.
    init(_ variant: Variant) {
        switch variant {
        case .bool(let value): self = .bool(value)
        case .uint8(let value): self = .int(Int64(value))
        case .int32(let value): self = .int(Int64(value))
        case .uint32(let value): self = .int(Int64(value))
        case .int64(let value): self = .int(value)
        case .string(let value): self = .string(value)
        case .strings(let values): self = .array(values.map(JSON.string))
        case .array(_, let values): self = .array(values.map { JSON($0) })
        case .variant(let inner): self.init(inner)
        default: self = .null
        }
    }
}
