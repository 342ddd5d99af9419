internal import CIntl
import Glibc

/// A text in the user's language, with `%1$s`, `%2$s` … replaced by the arguments.
///
/// - Parameters:
///   - message: an English literal; the catalogues in `po` are extracted from these calls.
///   - arguments: plain text, inserted unchanged.
/// - Returns: The English text without a translation.
public func localized(_ message: String, _ arguments: String...) -> String {
    filled(translation(of: message), arguments)
}

/// The plural form for a number, in the user's language.
///
/// - Parameters:
///   - one: the English singular, a literal.
///   - many: the English plural, a literal.
///   - count: selects the form, and replaces `%1$s`.
///   - arguments: replace `%2$s` and so on.
/// - Returns: The English form without a translation.
public func localizedCount(
    _ one: String,
    _ many: String,
    _ count: Int,
    _ arguments: String...
) -> String {
    let form = catalogue.plural(one, many, UInt(clamping: count))
    return filled(form, ["\(count)"] + arguments)
}

/// The translation of a text that is no literal; without a translation, the text itself.
public func translation(of message: String) -> String {
    // Gettext translates the empty message to the catalogue's header.
    message.isEmpty ? "" : catalogue.text(message)
}

/// Replaces the placeholders of a text by arguments; a placeholder without an argument stays.
public func filled(_ text: String, _ arguments: [String]) -> String {
    var result = ""
    var rest = text[...]
    while let start = rest.firstIndex(of: "%") {
        result += rest[..<start]
        rest = rest[start...]
        let mark = rest.prefix(4)
        let number = mark.dropFirst().first?.wholeNumberValue ?? 0
        if mark.hasSuffix("$s"), arguments.indices.contains(number - 1) {
            result += arguments[number - 1]
            rest = rest.dropFirst(mark.count)
        } else {
            result.append(rest.removeFirst())
        }
    }
    return result + rest
}

/// The user's languages under their catalogue names: the preferred language first, English last.
public func preferredLanguages() -> [String] {
    _ = catalogue
    let locale = setlocale(LC_MESSAGES, nil).map { String(cString: $0) } ?? "C"
    let isPlain = locale == "C" || locale == "POSIX" || locale.hasPrefix("C.")
    let list = isPlain ? "" : getenv("LANGUAGE").map { String(cString: $0) } ?? ""
    let names = list.split(separator: ":").map(String.init) + (isPlain ? [] : [locale])
    return names.flatMap { name in
        let full = String(name.prefix { $0 != "." && $0 != "@" })
        return [full, String(full.prefix { $0 != "_" })]
    } + ["en"]
}

/// Opened at the first use.
private let catalogue = Catalogue()

/// The project's messages in the user's language, through the C library's gettext.
private struct Catalogue: Sendable {
    private static let domain = "localauth"

    init() {
        // Set messages only: the formats of numbers and times stay unchanged.
        setlocale(LC_MESSAGES, "")
        bind_textdomain_codeset(Self.domain, "UTF-8")
        if let folder = CatalogueFolder.find(domain: Self.domain) {
            bindtextdomain(Self.domain, folder)
        }
    }

    // SAFETY: Without a translation, gettext returns its argument, so the message must live until
    // the result is copied.

    func text(_ message: String) -> String {
        message.withCString { message in
            dgettext(Self.domain, message).map { String(cString: $0) } ?? ""
        }
    }

    func plural(_ one: String, _ many: String, _ count: UInt) -> String {
        one.withCString { one in
            many.withCString { many in
                dngettext(Self.domain, one, many, count).map { String(cString: $0) } ?? ""
            }
        }
    }
}
