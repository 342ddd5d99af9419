internal import DBus
internal import Foundation

/// The caller's representation of values, as far as the wire format loses it.
///
/// Examples are bytes in place of a text, fractions of a second and deprecated accessibility
/// values. The form is stored with the item, so that values come back as the caller gave them.
struct ValueRepresentation: Hashable, Sendable {
    enum Value: Hashable, Sendable {
        case usual
        /// Bytes for a text attribute, or a text for a bytes attribute.
        case other
        case instant(Date)
        case word(String)
        /// A text for a number attribute.
        case text(String)
    }

    private var values: [String: Value] = [:]

    init() {}

    subscript(_ name: String) -> Value {
        get { values[name] ?? .usual }
        set { values[name] = newValue }
    }

    /// Parses a stored form.
    init(_ text: String) {
        for entry in text.split(separator: " ") {
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            guard let name = parts.first else { continue }
            guard parts.count == 2 else {
                values[name] = .other
                continue
            }
            if parts[1].hasPrefix(Self.textPrefix) {
                let data = Data(base64Encoded: String(parts[1].dropFirst(Self.textPrefix.count)))
                values[name] = .text(String(decoding: data ?? Data(), as: UTF8.self))
            } else if let bits = UInt64(parts[1], radix: 16), parts[1].count == 16 {
                let interval = TimeInterval(bitPattern: bits)
                values[name] = .instant(Date(timeIntervalSince1970: interval))
            } else {
                values[name] = .word(parts[1])
            }
        }
    }

    /// The stored form.
    var text: String {
        values.sorted { $0.key < $1.key }
            .compactMap { name, value in
                switch value {
                case .usual: return nil
                case .other: return name
                case .word(let word): return "\(name)=\(word)"
                case .text(let text):
                    return "\(name)=\(Self.textPrefix)\(Data(text.utf8).base64EncodedString())"
                case .instant(let date):
                    let interval = date.timeIntervalSince1970
                    guard interval != interval.rounded(.down) || name == "mdat" else { return nil }
                    let digits = String(interval.bitPattern, radix: 16)
                    let zeros = String(repeating: "0", count: 16 - digits.count)
                    return "\(name)=\(zeros)\(digits)"
                }
            }
            .joined(separator: " ")
    }

    /// Returns this form with the values of a change.
    func changed(by changes: ValueRepresentation) -> ValueRepresentation {
        var result = self
        result.values.merge(changes.values) { $1 }
        // The service sets the modification date, so a caller's date has no effect.
        result.values["mdat"] = nil
        return result
    }

    // MARK: Texts

    private static let textPrefix = "text:"
    private static let numberMark = "\u{1}number:"
    private static let textMark = "\u{1}text:"
    private static let bytesMark = "\u{1}bytes:"

    /// Encodes a text, or bytes in place of a text, for the wire.
    ///
    /// Valid UTF-8 crosses as plain text, because the text and its bytes are equal values. A text
    /// with a zero byte and other bytes are encoded in base64.
    static func text(_ key: String, _ value: Any) throws(KeychainFailure) -> String {
        if let text = value as? String {
            guard isPlain(text) else { return textMark + Data(text.utf8).base64EncodedString() }
            return text
        }
        guard let data = value as? Data else { throw ItemDictionary.wrong(key) }
        guard let text = String(validating: data, as: UTF8.self), isPlain(text) else {
            return bytesMark + data.base64EncodedString()
        }
        return text
    }

    /// Encodes a number in place of a text for the wire.
    static func text(_ number: NSNumber) -> String { numberMark + number.stringValue }

    private static func isPlain(_ text: String) -> Bool {
        let marks = [textMark, bytesMark, numberMark]
        return !text.utf8.contains(0) && !marks.contains(where: text.hasPrefix)
    }

    /// Whether a wire text is an encoded value.
    static func isEncoded(_ value: Variant?) -> Bool { value?.asString.map(isPlain) == false }

    /// Decodes a text from the wire.
    func value(_ name: String, _ text: String) -> Any {
        if text.hasPrefix(Self.numberMark) {
            let digits = text.dropFirst(Self.numberMark.count)
            if let number = Int64(digits) { return NSNumber(value: number) }
            return NSNumber(value: Double(digits) ?? 0)
        }
        if text.hasPrefix(Self.bytesMark) {
            let data = Data(base64Encoded: String(text.dropFirst(Self.bytesMark.count)))
            return (data ?? Data()) as NSData
        }
        if text.hasPrefix(Self.textMark) {
            let data = Data(base64Encoded: String(text.dropFirst(Self.textMark.count)))
            return String(decoding: data ?? Data(), as: UTF8.self) as NSString
        }
        return self[name] == .other ? Data(text.utf8) as NSData : text as NSString
    }

    /// Decodes bytes from the wire.
    func value(_ name: String, _ bytes: [UInt8]) -> Any {
        self[name] == .other
            ? String(decoding: bytes, as: UTF8.self) as NSString : Data(bytes) as NSData
    }

    /// Restores a text for a number attribute from the form.
    func value(_ name: String, _ number: UInt32) -> Any {
        if case .text(let text) = self[name] { return text as NSString }
        return NSNumber(value: number)
    }

    // MARK: Instants

    /// Returns the whole seconds of a date; nil if out of range.
    static func seconds(_ date: Date) -> Int64? {
        Int64(exactly: date.timeIntervalSince1970.rounded(.down))
    }

    /// Restores the date of an attribute from the form, or else from the wire's seconds.
    func instant(_ name: String, _ seconds: Int64) -> Date {
        if case .instant(let date) = self[name] { return date }
        return Date(timeIntervalSince1970: TimeInterval(seconds))
    }
}

/// A reference to an item: a persistent reference or a key.
///
/// A key in the process refers to every item with its bytes.
struct ItemReference: Sendable {
    private let id: String?
    private let label: [UInt8]?
    private let facts: [String: Variant]

    /// - Throws: `errSecParam` for other types.
    init(_ value: Any) throws(KeychainFailure) {
        if let data = value as? Data {
            (id, label, facts) = (String(decoding: data, as: UTF8.self), nil, [:])
        } else if let key = value as? SecKey {
            (id, label) = (key.id, key.id == nil ? key.label : nil)
            facts = [
                "kcls": .uint32(key.isPrivate ? 1 : 0), "type": .uint32(key.software?.type ?? 73),
            ]
        } else {
            throw ItemDictionary.wrong("m_ItemList")
        }
    }

    /// Whether the reference identifies one item, in any access group.
    var isToOne: Bool { id != nil }

    func isOf(_ item: [String: Variant]) -> Bool {
        if let id { return item["id"]?.asString == id }
        // Both halves of a key have the same label, so the attributes have to match, too.
        return label != nil && item["klbl"]?.asBytes == label
            && facts.allSatisfy { item[$0.key] == $0.value }
    }
}
