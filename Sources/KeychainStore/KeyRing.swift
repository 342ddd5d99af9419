import Crypto
import CryptoExtras

/// The keys that one database takes from the master key, each for one use.
struct KeyRing {
    private let master: MasterKey
    /// Sixteen random bytes that no other database has: its rows are of no use in another.
    private let identity: [UInt8]
    private let rows: SymmetricKey
    private let ledgers: SymmetricKey

    init(_ master: MasterKey, identity: [UInt8]) {
        self.master = master
        self.identity = identity
        func key(_ use: String) -> SymmetricKey {
            var info = ByteWriter("org.localauth.Keychain.1 " + use)
            info.add(identity)
            return HKDF<SHA256>
                .deriveKey(inputKeyMaterial: master.key, info: info.bytes, outputByteCount: 32)
        }
        rows = key("rows")
        ledgers = key("ledgers")
    }

    /// What people tell master keys apart by.
    var name: String { master.name }

    /// Whether the master key came as systemd's credential.
    var isCredential: Bool { master.isCredential }

    /// What shows that this is the key that the database was written with.
    var verifier: [UInt8] { ledgerCode(ByteWriter("verifier").bytes) }

    /// The authentication code of a row.
    func rowCode(_ bytes: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: rows))
    }

    /// The authentication code of a ledger, or of what all ledgers come to.
    func ledgerCode(_ bytes: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: ledgers))
    }

    /// Whether a code is the right one, in a time that doesn't depend on it.
    static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// The key that wraps an item's own: for its user and itself, and for the password if any.
    func wrappingKey(uid: UInt32, id: ItemID, stretched: SymmetricKey?) -> SymmetricKey {
        var info = ByteWriter("org.localauth.Keychain.1 item")
        info.add(identity)
        info.add(uid)
        info.add(id.bytes)
        info.add(UInt8(stretched == nil ? 0 : 1))
        let salt = stretched?.withUnsafeBytes { Array($0) } ?? []
        return HKDF<SHA256>
            .deriveKey(
                inputKeyMaterial: master.key,
                salt: salt,
                info: info.bytes,
                outputByteCount: 32
            )
    }

    /// The master key as a text for people.
    var recoveryKey: String {
        var bytes = master.key.withUnsafeBytes { Array($0) }
        defer { wipe(&bytes) }
        return RecoveryKey.text(for: bytes)
    }
}

/// How an application password is stretched: scrypt.
struct Stretching: Hashable {
    let salt: [UInt8]
    /// The cost is two to this: 15 makes 32 MiB and a tenth of a second.
    let logCost: UInt8

    private static let blockSize: UInt32 = 8

    /// For a new password.
    static func random() -> Stretching {
        Stretching(salt: SecretBytes.random(count: 16), logCost: 15)
    }

    func key(for password: SecretBytes) throws(KeychainError) -> SymmetricKey {
        // Authenticated with its row; bounded all the same.
        guard (10...20).contains(logCost) else { throw .changed }
        do {
            return try password.use { password throws(any Error) in
                try KDF.Scrypt.deriveKey(
                    from: password,
                    salt: salt,
                    outputByteCount: 32,
                    rounds: 1 << Int(logCost),
                    blockSize: Int(Self.blockSize),
                    parallelism: 1
                )
            }
        } catch {
            throw KeychainError(.notAvailable, "The application password can't be stretched.")
        }
    }
}
