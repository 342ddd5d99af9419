import AgentKit
import DBus
import Localization

/// One item of the keychain, as Search answers it.
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

    /// With bytes in Base64.
    var json: JSON {
        .object(
            Self.names.compactMap { wire, name in
                attributes[wire]
                    .map { (name, $0.asBytes.map { .string(Base64.text($0)) } ?? JSON($0)) }
            }
        )
    }

    var row: [String] {
        let isKey = text("class") == "keys"
        let place = text("class") == "inet" ? text("srvr") : text("svce")
        let tag = attributes["atag"]?.asBytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
        return [
            id, text("class"), isKey ? plainText(tag, limit: 128) : place, text("acct"),
            text("labl"),
        ]
    }

    private func text(_ name: String) -> String {
        plainText(attributes[name]?.asString ?? "", limit: 128)
    }
}
