import Crypto

/// The private key of an exportable passkey: ECDSA on P-256 with SHA-256.
package struct PasskeyKey: Hashable, Sendable {
    private let key: P256.Signing.PrivateKey

    package init() { key = P256.Signing.PrivateKey() }

    /// Restores a key; nil if the bytes are no key.
    package init?(_ rawValue: [UInt8]) {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: rawValue) else {
            return nil
        }
        self.key = key
    }

    /// 32 bytes.
    var rawValue: [UInt8] { Array(key.rawRepresentation) }

    /// The uncompressed point of the public key.
    package var point: [UInt8] { Array(key.publicKey.x963Representation) }

    /// Signs a message; the signature is DER, nil if the cryptographic library fails.
    package func sign(_ message: [UInt8]) -> [UInt8]? {
        (try? key.signature(for: message)).map { Array($0.derRepresentation) }
    }

    package static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }

    package func hash(into hasher: inout Hasher) { hasher.combine(point) }
}
