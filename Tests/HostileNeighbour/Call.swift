/// A method call with arguments of the right types and no meaning.
struct Call {
    let path: String
    let interface: String
    let member: String
    let signature: String

    init(path: String, interface: String, member: String, signature: String) {
        (self.path, self.interface) = (path, interface)
        (self.member, self.signature) = (member, signature)
    }

    /// `PATH INTERFACE MEMBER [SIGNATURE]`.
    init?(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 3 || words.count == 4 else { return nil }
        self.init(
            path: words[0],
            interface: words[1],
            member: words[2],
            signature: words.count == 4 ? words[3] : ""
        )
    }

    /// How many descriptors the signature takes.
    var descriptors: Int { signature.count { $0 == "h" } }

    /// The whole message, in little endian.
    func message(_ serial: UInt32, to destination: String, descriptors: Int) -> [UInt8] {
        var body = Marshaller()
        var rest = signature[...]
        while !rest.isEmpty { body.appendSample(&rest) }

        var fields = Marshaller()
        fields.appendField(1, "o", path)
        fields.appendField(2, "s", interface)
        fields.appendField(3, "s", member)
        fields.appendField(6, "s", destination)
        if !signature.isEmpty { fields.appendField(8, "g", signature) }
        if descriptors > 0 { fields.appendField(9, UInt32(descriptors)) }

        var message = Marshaller()
        // Little endian, a method call, no flags, version 1.
        message.bytes = [UInt8(ascii: "l"), 1, 0, 1]
        message.append(UInt32(body.bytes.count))
        message.append(serial)
        message.append(UInt32(fields.bytes.count))
        message.bytes += fields.bytes
        message.align(8)
        return message.bytes + body.bytes
    }
}

/// Bytes in D-Bus's wire format.
private struct Marshaller {
    var bytes: [UInt8] = []

    mutating func align(_ size: Int) {
        while bytes.count % size != 0 { bytes.append(0) }
    }

    mutating func append(_ number: UInt32) {
        align(4)
        bytes += (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    mutating func append(_ text: String) {
        append(UInt32(text.utf8.count))
        bytes += text.utf8
        bytes.append(0)
    }

    mutating func appendSignature(_ text: String) {
        bytes.append(UInt8(text.utf8.count))
        bytes += text.utf8
        bytes.append(0)
    }

    mutating func appendField(_ code: UInt8, _ type: String, _ value: String) {
        align(8)
        bytes.append(code)
        appendSignature(type)
        if type == "g" { appendSignature(value) } else { append(value) }
    }

    mutating func appendField(_ code: UInt8, _ value: UInt32) {
        align(8)
        bytes.append(code)
        appendSignature("u")
        append(value)
    }

    /// A value of the first complete type, which is taken from the signature.
    mutating func appendSample(_ signature: inout Substring) {
        switch signature.removeFirst() {
        case "y": bytes.append(1)
        case "u": append(1)
        case "b", "i", "h": append(UInt32(0))
        case "t", "x", "d":
            align(8)
            bytes += [UInt8](repeating: 0, count: 8)
        case "o": append("/org/localauth/Authentication1")
        case "v":
            appendSignature("u")
            append(1)
        case "a":
            // An empty one; a dictionary's and a structure's elements are aligned to 8.
            append(0)
            if "({xtd".contains(signature.first ?? "y") { align(8) }
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
