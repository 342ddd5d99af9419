import TestSupport

/// Random values of any type: expected values, values that the service gave, and unexpected values.
enum AnyValue {
    private static let paths = [
        "/", Given.root, Given.contexts + "00000000000000000000000000000000",
        Given.root + "/sensor/Simulated", "/org/localauth/Keychain1", "/a",
    ]
    /// Also the names of options and attributes.
    private static let texts = [
        "", "open the vault", "context", "uid", "timeout", "requester", "sensor", "mechanism",
        "interaction-not-allowed", "flags", "reuse-duration", "minimum-strength", "fallback-title",
        "cancel-title", "process", "fallback", "accessible", "temporary", "public-key", "pdmn",
        "skip-authenticated", "replaces", "keep", "class", "genp", "inet", "keys", "acct", "svce",
        "klbl", "sync", "akpu", "ecies", "ecdsa", "org.localauth.Authentication1", "Interactive",
        "00000000000000000000000000000000", "e\u{301}\u{202E}\n\u{7}", "\u{10FFFF}",
    ]
    private static let numbers: [UInt64] = [
        0, 1, 2, 3, 64, 255, 1 << 15, 1 << 30, 1 << 31, 1 << 32, 1 << 62, 1 << 63, .max,
    ]
    private static let types = [
        "y", "b", "i", "u", "x", "t", "d", "s", "o", "g", "v", "ay", "as", "au", "a{sv}", "(us)",
        "aav", "a{s(ub)}", "n", "q",
    ]

    static func path(_ random: inout Source) -> String {
        random.next() % 4 == 0
            ? random.given.context : paths.randomElement(using: &random) ?? "/"
    }

    /// Returns up to four complete types.
    static func signature(_ random: inout Source) -> String {
        (0..<random.next() % 5).map { _ in types.randomElement(using: &random) ?? "y" }.joined()
    }

    /// Appends a value of the first complete type, and removes the type from the signature.
    static func append(
        _ signature: inout Substring,
        to values: inout RawValues,
        _ random: inout Source,
        depth: Int = 0
    ) {
        guard let type = signature.popFirst() else { return }
        switch type {
        case "s": values.append(text(&random))
        case "o": values.append(path(&random))
        case "g":
            let text = Array(self.signature(&random).utf8)
            values.append(raw: [UInt8(text.count)] + text + [0])
        case "v": appendVariant(to: &values, &random, depth: depth)
        case "a": appendArray(&signature, to: &values, &random, depth: depth)
        case "(", "{":
            values.pad(8)
            while let next = signature.first, next != ")", next != "}" {
                append(&signature, to: &values, &random, depth: depth)
            }
            signature = signature.dropFirst()
        case "b": values.append(UInt32(random.next() % 2))
        default:
            let size = ["y": 1, "n": 2, "q": 2, "x": 8, "t": 8, "d": 8][type] ?? 4
            let number =
                random.next() % 2 == 0 ? random.next() : numbers.randomElement(using: &random) ?? 0
            values.pad(size)
            values.append(raw: (0..<size).map { UInt8(number >> (8 * UInt64($0)) & 255) })
        }
    }

    private static func text(_ random: inout Source) -> String {
        let isGiven = random.next() % 4 == 0
        let text = (isGiven ? random.given.texts : texts).randomElement(using: &random) ?? ""
        return random.next() % 32 == 0 ? String(repeating: text, count: 1 << 8) : text
    }

    private static func appendVariant(
        to values: inout RawValues,
        _ random: inout Source,
        depth: Int
    ) {
        // The nesting must end somewhere.
        let type = depth < 40 ? types.randomElement(using: &random) ?? "y" : "y"
        values.append(raw: [UInt8(type.utf8.count)] + Array(type.utf8) + [0])
        var rest = type[...]
        append(&rest, to: &values, &random, depth: depth + 1)
    }

    private static func appendArray(
        _ signature: inout Substring,
        to values: inout RawValues,
        _ random: inout Source,
        depth: Int
    ) {
        let element = signature
        let count = depth < 4 ? random.next() % 4 : 0
        let sizes: [Character: Int] = [
            "y": 1, "g": 1, "v": 1, "n": 2, "q": 2, "x": 8, "t": 8, "d": 8, "(": 8, "{": 8,
        ]
        // Every element has the type that the first element takes from the signature.
        var rest = element
        var unused = RawValues()
        append(&rest, to: &unused, &random, depth: 40)
        values.array(aligned: element.first.flatMap { sizes[$0] } ?? 4) { values in
            for _ in 0..<count {
                var one = element
                append(&one, to: &values, &random, depth: depth + 1)
            }
        }
        signature = rest
    }
}
