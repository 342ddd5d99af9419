import TestSupport

/// A method call with arguments of the right types and no meaning.
struct Call {
    let path: String
    let interface: String
    let member: String
    let signature: String

    /// `PATH INTERFACE MEMBER [SIGNATURE]`.
    init?(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 3 || words.count == 4 else { return nil }
        (path, interface, member) = (words[0], words[1], words[2])
        signature = words.count == 4 ? words[3] : ""
    }

    /// How many descriptors the signature takes.
    var descriptors: Int { signature.count { $0 == "h" } }

    /// The arguments, as D-Bus lays them out.
    var body: [UInt8] {
        var values = RawValues()
        var rest = signature[...]
        while !rest.isEmpty { values.appendSample(&rest) }
        return values.bytes
    }
}

extension RawValues {
    /// A value of the first complete type, which is taken from the signature.
    fileprivate mutating func appendSample(_ signature: inout Substring) {
        switch signature.removeFirst() {
        case "y": append(raw: [1])
        case "u": append(UInt32(1))
        case "b", "i", "h": append(UInt32(0))
        case "t", "x", "d":
            pad(8)
            append(raw: [UInt8](repeating: 0, count: 8))
        case "o": append("/org/localauth/Authentication1")
        case "v":
            append(raw: [1, UInt8(ascii: "u"), 0])
            append(UInt32(1))
        case "a":
            // An empty one; a dictionary's and a structure's elements are aligned to 8.
            append(UInt32(0))
            if "({xtd".contains(signature.first ?? "y") { pad(8) }
            Self.skip(&signature)
        default: append("open the vault")
        }
    }

    /// Takes one complete type from the signature.
    private static func skip(_ signature: inout Substring) {
        var depth = 0
        repeat {
            let letter = signature.removeFirst()
            if "({".contains(letter) { depth += 1 }
            if ")}".contains(letter) { depth -= 1 }
            if letter == "a" { skip(&signature) }
        } while depth > 0
    }
}
