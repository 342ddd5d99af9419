import TestSupport

/// A method call with arguments of the right types and no meaning.
struct Call {
    private(set) var path: String
    let interface: String
    let member: String
    private(set) var signature: String
    /// The first text arguments.
    private let texts: ArraySlice<String>
    /// The encoded arguments.
    private(set) var body: [UInt8] = []

    /// Parses `PATH INTERFACE MEMBER [SIGNATURE [TEXT]...]`.
    init?(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        guard words.count >= 3 else { return nil }
        (path, interface, member) = (words[0], words[1], words[2])
        signature = words.count > 3 ? words[3] : ""
        texts = words.dropFirst(4)
        body = body(WideDictionary())
    }

    private func body(_ dictionary: WideDictionary) -> [UInt8] {
        var values = RawValues()
        var rest = signature[...]
        appendTexts(to: &values, &rest)
        while !rest.isEmpty { values.appendSample(&rest, dictionary) }
        return values.bytes
    }

    private func appendTexts(to values: inout RawValues, _ signature: inout Substring) {
        for text in texts where signature.first == "s" {
            signature.removeFirst()
            values.append(text)
        }
    }

    /// Returns the call with random arguments; a call on a context uses the caller's own context.
    ///
    /// The arguments mostly have the right types, sometimes others, or encodings that no bus passes
    /// on.
    func anyhow(_ random: inout Source) -> Call {
        var call = self
        if path.hasPrefix(Given.contexts) { call.path = random.given.context }
        if random.next() % 8 == 0 { call.path = AnyValue.path(&random) }
        if random.next() % 8 == 0 { call.signature = AnyValue.signature(&random) }
        var values = RawValues()
        var rest = call.signature[...]
        if random.next() % 8 != 0 { appendTexts(to: &values, &rest) }
        while !rest.isEmpty { AnyValue.append(&rest, to: &values, &random) }
        call.body = values.bytes
        guard random.next() % 32 == 0, !call.body.isEmpty else { return call }
        call.body[Int(random.next() % UInt64(call.body.count))] = UInt8(random.next() & 255)
        return call
    }

    /// Returns the call with this dictionary in place of empty dictionaries.
    func with(_ dictionary: WideDictionary) -> Call {
        var call = self
        call.body = body(dictionary)
        return call
    }
}

/// A dictionary with keys that differ only at their ends.
struct WideDictionary {
    var entries = 0
    var bytesOfName = 0
    /// The text that the keys consist of.
    var letter = "e"

    /// The largest dictionary that a call may have, and two larger dictionaries.
    static let all = [
        WideDictionary(entries: 1024, bytesOfName: 256),
        WideDictionary(entries: 1025, bytesOfName: 257),
        // Letters with combining marks are slow to compare.
        WideDictionary(entries: 1024, bytesOfName: 600, letter: "e\u{301}"),
    ]

    /// The encoded entries.
    fileprivate var bytes: [UInt8] {
        var values = RawValues()
        for number in 0..<entries {
            let end = "-\(number + 1000)"
            let count = (bytesOfName - end.utf8.count) / letter.utf8.count
            let letters = String(repeating: letter, count: count)
            let fill = String(repeating: ".", count: bytesOfName - (letters + end).utf8.count)
            values.pad(8)
            values.append(fill + letters + end)
            values.append(raw: [1, UInt8(ascii: "u"), 0])
            values.append(UInt32(1))
        }
        return values.bytes
    }
}

extension RawValues {
    /// Appends a value of the first complete type, and removes the type from the signature.
    fileprivate mutating func appendSample(
        _ signature: inout Substring,
        _ dictionary: WideDictionary
    ) {
        switch signature.removeFirst() {
        case "y": append(raw: [1])
        case "u": append(UInt32(1))
        case "b", "i": append(UInt32(0))
        case "t", "x", "d":
            pad(8)
            append(raw: [UInt8](repeating: 0, count: 8))
        case "o": append("/org/localauth/Authentication1")
        case "v":
            append(raw: [1, UInt8(ascii: "u"), 0])
            append(UInt32(1))
        case "a":
            // An empty array, unless it is a dictionary of variants. Elements of dictionaries and
            // structures are aligned to 8.
            let elements = signature.hasPrefix("{sv}") ? dictionary.bytes : []
            append(UInt32(elements.count))
            if "({xtd".contains(signature.first ?? "y") { pad(8) }
            append(raw: elements)
            Self.skip(&signature)
        default: append("open the vault")
        }
    }

    /// Removes one complete type from the signature.
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
