/// A valid D-Bus signature: any number of complete types.
public struct Signature: Hashable, Sendable, CustomStringConvertible {
    /// At most 255 bytes.
    public let rawValue: String

    public init?(_ text: String) {
        guard text.utf8.count <= 255 else { return nil }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            guard Self.takeType(&rest, depth: 0) else { return nil }
        }
        rawValue = text
    }

    /// Takes a signature from sd-bus or from the source code, without a check.
    init(unchecked: String) {
        rawValue = unchecked
    }

    public static let string = Signature(unchecked: "s")
    public static let uint32 = Signature(unchecked: "u")

    public var description: String { rawValue }

    /// The complete types in their order.
    var elements: [Signature] {
        var rest = Array(rawValue.utf8)[...]
        var found: [Signature] = []
        while !rest.isEmpty {
            let whole = rest
            guard Self.takeType(&rest, depth: 0) else { return [] }
            let type = whole[..<rest.startIndex]
            found.append(Signature(unchecked: String(decoding: type, as: UTF8.self)))
        }
        return found
    }

    var isSingle: Bool { elements.count == 1 }

    static func isBasic(_ type: UInt8) -> Bool {
        switch type {
        case UInt8(ascii: "b"), UInt8(ascii: "y"), UInt8(ascii: "n"), UInt8(ascii: "q"),
            UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "x"), UInt8(ascii: "t"),
            UInt8(ascii: "d"), UInt8(ascii: "s"), UInt8(ascii: "o"), UInt8(ascii: "g"),
            UInt8(ascii: "h"):
            true
        default:
            false
        }
    }

    /// Removes one complete type from the front.
    ///
    /// D-Bus allows 32 nested containers of a kind.
    private static func takeType(_ rest: inout ArraySlice<UInt8>, depth: Int) -> Bool {
        guard depth <= 32, let type = rest.popFirst() else { return false }
        switch type {
        case UInt8(ascii: "v"):
            return true
        case UInt8(ascii: "a"):
            guard rest.first == UInt8(ascii: "{") else { return takeType(&rest, depth: depth + 1) }
            rest.removeFirst()
            guard let key = rest.popFirst(), isBasic(key) else { return false }
            return takeType(&rest, depth: depth + 1) && rest.popFirst() == UInt8(ascii: "}")
        case UInt8(ascii: "("):
            repeat {
                guard takeType(&rest, depth: depth + 1) else { return false }
            } while rest.first != UInt8(ascii: ")")
            rest.removeFirst()
            return true
        default:
            return isBasic(type)
        }
    }
}
