import Crypto
import CryptoExtras
import Linux
import Sealing

/// The keys that a database derives from the master key, each for a single purpose.
struct KeyRing {
    private let master: MasterKey
    /// Sixteen random bytes unique to this database, which make its rows invalid in any other.
    private let identity: [UInt8]
    private let rows: SymmetricKey
    private let ledgers: SymmetricKey
    private let index: SymmetricKey
    private let contents: SymmetricKey

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
        index = key("index")
        contents = key("contents")
    }

    var name: String { master.name }

    /// Whether systemd provided the master key as a credential.
    var isCredential: Bool { master.isCredential }

    /// A check value that shows whether this key wrote the database.
    var verifier: [UInt8] { ledgerCode(ByteWriter("verifier").bytes) }

    func rowCode(_ bytes: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: rows))
    }

    func index(of uid: UInt32) -> ItemIndex { ItemIndex(key: index, uid: uid) }

    /// The authentication code of a ledger, a page, or the root of all ledgers.
    func ledgerCode(_ bytes: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: ledgers))
    }

    /// Encrypts a part of the file; `place` tells where it stands.
    func seal(_ bytes: [UInt8], at place: ByteWriter) throws(SystemError) -> [UInt8] {
        guard
            let box = try? AES.GCM.seal(bytes, using: contents, authenticating: place.bytes),
            let sealed = box.combined
        else { throw SystemError(.io, "The secret can't be encrypted.", path: "") }
        return Array(sealed)
    }

    /// Decrypts a part of the file.
    ///
    /// - Throws: `decode` for modified bytes, or bytes of another place.
    func open(_ sealed: [UInt8], at place: ByteWriter) throws(KeychainError) -> [UInt8] {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let bytes = try? AES.GCM.open(box, using: contents, authenticating: place.bytes)
        else { throw .changed }
        return Array(bytes)
    }

    /// Compares two codes in constant time.
    static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Derives the key that wraps an item's own key from user, item id and, if needed, the app's
    /// password.
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

    var recoveryKey: String {
        var bytes = master.key.withUnsafeBytes { Array($0) }
        defer { wipe(&bytes) }
        return RecoveryKey.text(for: bytes)
    }
}

/// The key derivation of an app's password: scrypt.
struct Stretching: Hashable {
    let salt: [UInt8]
    /// The base-2 logarithm of the cost: 15 takes 32 MiB and a tenth of a second.
    let logCost: UInt8

    private static let blockSize: UInt32 = 8

    static func random() -> Stretching {
        Stretching(salt: SecretBytes.random(count: 16), logCost: 15)
    }

    func key(for password: SecretBytes) throws(KeychainError) -> SymmetricKey {
        // The row's code authenticates the cost. The range also bounds time and memory.
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
