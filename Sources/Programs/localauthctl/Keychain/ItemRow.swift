import AgentKit
import DBus
import Localization

struct ItemRow: Sendable {
    private let attributes: [String: Variant]

    init(_ attributes: [String: Variant]) { self.attributes = attributes }

    var id: String { text("id") }

    /// The attributes in the order of the output, with their names in JSON.
    private static let names: [(wire: String, name: String)] = [
        ("id", "id"), ("class", "class"), ("svce", "service"), ("srvr", "server"),
        ("acct", "account"), ("atag", "tag"), ("labl", "label"), ("desc", "description"),
        ("icmt", "comment"), ("sdmn", "securityDomain"), ("ptcl", "protocol"),
        ("atyp", "authenticationType"), ("port", "port"), ("path", "path"),
        ("agrp", "accessGroup"), ("gena", "generic"), ("type", "type"), ("crtr", "creator"),
        ("invi", "invisible"), ("nega", "negative"), ("pdmn", "accessible"), ("cdat", "created"),
        ("mdat", "modified"), ("public-key", "publicKey"),
    ]

    /// The attributes, with bytes in Base64.
    var json: JSON {
        .object(
            Self.names.compactMap { wire, name in
                attributes[wire]
                    .map { (name, $0.asBytes.map { .string(Base64.text($0)) } ?? JSON($0)) }
            } + [("flags", .string(FlagsArgument.words(of: flags)))]
        )
    }

    var row: [String] {
        [id, text("class"), place, text("acct"), FlagsArgument.words(of: flags), text("labl")]
    }

    static var titles: [String] {
        [
            localized("ID"), localized("CLASS"), localized("OF"), localized("ACCOUNT"),
            localized("GUARDED BY"), localized("LABEL"),
        ]
    }

    /// The item's name for a prompt.
    var title: String {
        [text("labl"), place, text("acct"), id].first { !$0.isEmpty } ?? id
    }

    /// A key's public half; nil for other items.
    var publicKey: [UInt8]? { attributes["public-key"]?.asBytes }

    private var flags: UInt64 { attributes["flags"]?.asUInt64 ?? 0 }

    private var place: String {
        switch text("class") {
        case "keys":
            let tag = attributes["atag"]?.asBytes ?? []
            return plainText(String(decoding: tag, as: UTF8.self), limit: 128)
        case "inet": return text("srvr")
        default: return text("svce")
        }
    }

    private func text(_ name: String) -> String {
        plainText(attributes[name]?.asString ?? "", limit: 128)
    }
}
