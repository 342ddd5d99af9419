/// Exportable passkeys with their guarded halves: the sealed content of a file.
package struct PasskeyExport: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let passkey: Passkey
        package let secrets: PasskeySecrets

        package init(_ passkey: Passkey, _ secrets: PasskeySecrets) {
            (self.passkey, self.secrets) = (passkey, secrets)
        }
    }

    package let entries: [Entry]

    /// The largest number of passkeys in a file.
    package static let most = 1000
    /// Bytes of a file, sealed and as text.
    package static let longestFile = 4 << 20
    private static let version = 1
    private static let longestText = 256

    package init(_ entries: [Entry]) { self.entries = entries }

    package var encoded: [UInt8] {
        let values = entries.map { entry in
            CBOR.map([
                .number(1): .bytes(entry.passkey.id), .number(2): .text(entry.passkey.site),
                .number(3): .text(entry.passkey.account),
                .number(4): .number(Int(entry.passkey.type)),
                .number(5): .number(Int(entry.passkey.counter)),
                .number(6): .bytes(entry.secrets.encoded),
            ])
        }
        return CBOR.map([.number(1): .number(Self.version), .number(2): .array(values)]).encoded
    }

    /// Reads a file; nil if a passkey could not be used.
    package init?(_ content: [UInt8]) {
        guard let map = CBOR(content), map[1]?.asNumber == Self.version,
            let values = map[2]?.asArray, values.count <= Self.most
        else { return nil }
        let entries = values.compactMap(Self.entry)
        guard entries.count == values.count else { return nil }
        self.entries = entries
    }

    private static func entry(_ value: CBOR) -> Entry? {
        guard let id = value[1]?.asBytes, 16...Authenticator.longestID ~= id.count,
            let site = value[2]?.asText, 1...longestText ~= site.utf8.count,
            let account = value[3]?.asText, account.utf8.count <= longestText,
            let type = value[4]?.asNumber.flatMap({ UInt32(exactly: $0) }),
            let counter = value[5]?.asNumber.flatMap({ UInt32(exactly: $0) }),
            let passkey = Passkey(
                id: id,
                site: site,
                account: account,
                type: type,
                counter: counter
            ), passkey.isExportable,
            let secrets = value[6]?.asBytes.flatMap({ PasskeySecrets($0) }), secrets.key != nil
        else { return nil }
        return Entry(passkey, secrets)
    }
}
