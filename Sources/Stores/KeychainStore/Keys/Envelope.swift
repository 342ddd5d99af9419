import Crypto
import Sealing

/// A secret encrypted under a random key, and that key encrypted under the wrapping key.
struct Envelope {
    private let stretching: Stretching?
    private let wrappedKey: [UInt8]
    private let sealed: [UInt8]

    private static let format: UInt8 = 1

    /// Encrypts a secret.
    ///
    /// Pass `password` if and only if the item needs the app's password.
    init(
        sealing secret: SecretBytes,
        of item: Item,
        password: SecretBytes?,
        ring: KeyRing
    ) throws(KeychainError) {
        stretching = password == nil ? nil : .random()
        let data = Self.authenticated(item, stretching)
        let wrapping = try Self.wrappingKey(of: item, password, stretching, ring)
        let key = SymmetricKey(size: .bits256)
        do {
            sealed = try secret.use { secret throws(any Error) in
                try Self.bytes(of: AES.GCM.seal(secret, using: key, authenticating: data))
            }
            var bytes = key.withUnsafeBytes { Array($0) }
            defer { wipe(&bytes) }
            wrappedKey = try Self.bytes(
                of: AES.GCM.seal(bytes, using: wrapping, authenticating: data)
            )
        } catch {
            throw KeychainError(.notAvailable, "The secret can't be encrypted.")
        }
    }

    /// Decrypts the secret.
    ///
    /// - Throws: `authFailed` for a wrong password, `decode` for modified bytes.
    func open(
        _ item: Item,
        password: SecretBytes?,
        ring: KeyRing
    ) throws(KeychainError) -> SecretBytes {
        let key = try unwrap(item, password: password, ring: ring)
        let data = Self.authenticated(item, stretching)
        do {
            let box = try AES.GCM.SealedBox(combined: sealed)
            var opened = try AES.GCM.open(box, using: key, authenticating: data)
            return SecretBytes(wiping: &opened)
        } catch {
            throw .changed
        }
    }

    /// Decrypts the secret's own key.
    ///
    /// Success proves that the password is right.
    func unwrap(
        _ item: Item,
        password: SecretBytes?,
        ring: KeyRing
    ) throws(KeychainError) -> SymmetricKey {
        guard (stretching == nil) == (password == nil) else {
            throw KeychainError(.authFailed, "The item needs its application password.")
        }
        let data = Self.authenticated(item, stretching)
        let wrapping = try Self.wrappingKey(of: item, password, stretching, ring)
        do {
            let box = try AES.GCM.SealedBox(combined: wrappedKey)
            var bytes = try AES.GCM.open(box, using: wrapping, authenticating: data)
            defer { wipe(&bytes) }
            return SymmetricKey(data: bytes)
        } catch {
            // The row is authentic, so only the password can be wrong.
            throw password == nil
                ? .changed : KeychainError(.authFailed, "The application password is wrong.")
        }
    }

    private static func bytes(of box: AES.GCM.SealedBox) throws -> [UInt8] {
        // Nil only for a nonce of a non-standard size; this box uses the default size.
        guard let bytes = box.combined else { throw KeychainError.changed }
        return Array(bytes)
    }

    private static func authenticated(_ item: Item, _ stretching: Stretching?) -> [UInt8] {
        var writer = ByteWriter()
        writer.add(item.binding)
        writer.add(stretching?.logCost ?? 0)
        writer.add(stretching?.salt ?? [])
        return writer.bytes
    }

    private static func wrappingKey(
        of item: Item,
        _ password: SecretBytes?,
        _ stretching: Stretching?,
        _ ring: KeyRing
    ) throws(KeychainError) -> SymmetricKey {
        var stretched: SymmetricKey?
        if let password, let stretching { stretched = try stretching.key(for: password) }
        return ring.wrappingKey(uid: item.uid, id: item.itemID, stretched: stretched)
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.add(Self.format)
        writer.add(stretching?.logCost ?? 0)
        writer.add(stretching?.salt ?? [])
        writer.add(wrappedKey)
        writer.add(sealed)
        return writer.bytes
    }

    init(_ bytes: [UInt8]) throws(KeychainError) {
        var reader = ByteReader(bytes)
        guard try reader.number(UInt8.self) == Self.format else { throw .changed }
        let logCost: UInt8 = try reader.number()
        let salt = try reader.value()
        stretching = logCost == 0 ? nil : Stretching(salt: salt, logCost: logCost)
        wrappedKey = try reader.value()
        sealed = try reader.value()
        guard reader.isAtEnd else { throw .changed }
    }
}
