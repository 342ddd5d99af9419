import TestSupport

/// A method call with arguments of the right types and no meaning.
struct Call {
    private(set) var path: String
    let interface: String
    let member: String
    private(set) var signature: String
    /// What the first arguments are.
    private let texts: ArraySlice<String>
    /// The arguments, as D-Bus lays them out.
    private(set) var body: [UInt8] = []

    /// `PATH INTERFACE MEMBER [SIGNATURE [TEXT]...]`.
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

    /// The same call with any arguments, and on the context that was given, if it is on one.
    ///
    /// They are mostly of its types, sometimes of others, or none that a bus would pass on.
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

    /// The same call with such dictionaries.
    func with(_ dictionary: WideDictionary) -> Call {
        var call = self
        call.body = body(dictionary)
        return call
    }
}

/// A dictionary of names that are the same to their ends but one.
struct WideDictionary {
    var entries = 0
    var bytesOfName = 0
    /// What the names consist of.
    var letter = "e"

    /// The largest that a call may have, and two that are larger; for three calls at once.
    static let all = [
        WideDictionary(entries: 1024, bytesOfName: 256),
        WideDictionary(entries: 1025, bytesOfName: 257),
        // Such letters take long to be compared.
        WideDictionary(entries: 1024, bytesOfName: 600, letter: "e\u{301}"),
    ]

    /// The entries, as D-Bus lays them out.
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
    /// A value of the first complete type, which is taken from the signature.
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
            // An empty one, unless it is of names and values; the elements of a dictionary and of
            // structures are aligned to 8.
            let elements = signature.hasPrefix("{sv}") ? dictionary.bytes : []
            append(UInt32(elements.count))
            if "({xtd".contains(signature.first ?? "y") { pad(8) }
            append(raw: elements)
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
