package import AuthEngine
package import Sealing

extension KeychainStore {
    /// The maximum size of data for an operation with a key, in bytes.
    package static let dataLimit = secretLimit + PrivateKey.overhead

    /// Creates a P-256 key, and returns its id and its uncompressed X9.63 point.
    ///
    /// An empty `klbl` becomes the SHA-1 of the point, so that it is unique to the key.
    ///
    /// - Throws: As `add`, and `parameter` for a class other than `keys`.
    package func createKey(
        _ attributes: Attributes,
        accessControl: AccessControl,
        password: SecretBytes?,
        caller: Caller,
        date: Int64
    ) throws(KeychainError) -> (id: String, publicKey: [UInt8]) {
        guard attributes.itemClass == .key else {
            throw .parameter("a key has the class keys")
        }
        let key = try PrivateKey.random()
        let publicKey = try key.publicKey
        var attributes = attributes
        if attributes.values["klbl"] == .bytes([]) {
            try attributes.update(["klbl": .label(of: publicKey)])
        }
        let id = try insert(
            attributes,
            secret: key.scalar,
            publicKey: publicKey,
            accessControl: accessControl,
            password: password,
            caller: caller,
            date: date
        )
        return (id, publicKey)
    }

    /// Returns a signature in X9.62 DER.
    ///
    /// - Throws: `parameter` for an item that is no key, or a digest of other than 32 bytes;
    ///   `notFound`, `authFailed`, `decode` as `secret`.
    package func sign(
        _ data: [UInt8],
        with id: String,
        _ algorithm: SignatureAlgorithm,
        authorization: AccessGrant,
        password: SecretBytes?,
        caller: Caller
    ) throws(KeychainError) -> [UInt8] {
        let key = try key(id, for: .useKeySign, authorization, password, caller)
        try Self.checkSigning(data, algorithm)
        return try key.sign(data, algorithm)
    }

    /// Decrypts ECIES: cofactor, X9.63 SHA-256, AES-GCM with a variable IV.
    ///
    /// - Throws: `decode` for data that does not decrypt; otherwise as `sign`.
    package func decrypt(
        _ data: [UInt8],
        with id: String,
        authorization: AccessGrant,
        password: SecretBytes?,
        caller: Caller
    ) throws(KeychainError) -> SecretBytes {
        let key = try key(id, for: .useKeyDecrypt, authorization, password, caller)
        try Self.checkDecryption(data)
        return try key.decrypt(data)
    }

    /// Derives a shared secret with the X9.63 point of another key.
    ///
    /// - Throws: `parameter` for bytes that are no point of P-256, or a size out of range;
    ///   otherwise as `sign`.
    package func exchange(
        _ point: [UInt8],
        with id: String,
        _ algorithm: ExchangeAlgorithm,
        authorization: AccessGrant,
        password: SecretBytes?,
        caller: Caller
    ) throws(KeychainError) -> SecretBytes {
        let key = try key(id, for: .useKeyKeyExchange, authorization, password, caller)
        try Self.checkExchange(point, algorithm)
        return try key.exchange(point, algorithm)
    }

    private func key(
        _ id: String,
        for operation: AccessOperation,
        _ authorization: AccessGrant,
        _ password: SecretBytes?,
        _ caller: Caller
    ) throws(KeychainError) -> PrivateKey {
        let (item, envelope) = try open(id, caller: caller)
        guard item.isOwnKey else { throw .parameter("the item is no key of the keychain") }
        try check(authorization, for: operation, of: item)
        return PrivateKey(scalar: try envelope.open(item, password: password, ring: ring))
    }
}

/// Checks of arguments that need no key, so that an invalid call shows no prompt.
extension KeychainStore {
    /// - Throws: `parameter` for a digest of other than 32 bytes.
    package static func checkSigning(
        _ data: [UInt8],
        _ algorithm: SignatureAlgorithm
    ) throws(KeychainError) {
        guard algorithm == .message || data.count == GivenDigest.byteCount else {
            throw PrivateKey.noDigest
        }
    }

    /// - Throws: `decode` for data that is too short, `limitsExceeded` for data that is too long.
    package static func checkDecryption(_ data: [UInt8]) throws(KeychainError) {
        guard data.count <= dataLimit else {
            throw KeychainError(.limitsExceeded, "The data has more than \(dataLimit) bytes.")
        }
        guard data.count >= PrivateKey.overhead else { throw PrivateKey.undecryptable }
    }

    /// - Throws: `parameter` for a point of the wrong length, or a size out of range.
    package static func checkExchange(
        _ point: [UInt8],
        _ algorithm: ExchangeAlgorithm
    ) throws(KeychainError) {
        guard point.count == PrivateKey.pointSize else { throw PrivateKey.noPoint }
        guard case .x963(_, let size) = algorithm else { return }
        guard ExchangeAlgorithm.sizes.contains(size) else {
            throw .parameter("the size is from 1 to \(ExchangeAlgorithm.sizes.upperBound)")
        }
    }
}
