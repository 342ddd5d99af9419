import Crypto
import Foundation

/// The reason for refusing a request.
enum Refusal: Error {
    case wrongCredentials
    case notLoggedIn
    case enrolmentChanged
    case malformed
}

/// Users, their passwords and their devices.
actor Accounts {
    private let database: Database
    /// Sessions, which end with the server.
    private var sessions: [String: String] = [:]
    private let key = P256.KeyAgreement.PrivateKey()

    init(_ database: Database) throws {
        self.database = database
        try database.run("CREATE TABLE IF NOT EXISTS users (name TEXT PRIMARY KEY, salt, hash)")
        try database.run(
            """
            CREATE TABLE IF NOT EXISTS devices \
            (account TEXT PRIMARY KEY, user, salt, hash, token)
            """
        )
        try database.run(
            "CREATE TABLE IF NOT EXISTS states (user TEXT PRIMARY KEY, state, device)"
        )
    }

    /// The public key for devices' requests, an X9.63 point.
    var publicKey: Data { key.publicKey.x963Representation }

    func register(user: String, password: String) throws {
        let (salt, hash) = Self.hashed(password)
        try database.run("INSERT OR IGNORE INTO users VALUES (?, ?, ?)", user, salt, hash)
    }

    /// Logs in by password, and returns a session.
    func logIn(user: String, password: String) throws -> String {
        let rows = try database.run("SELECT salt, hash FROM users WHERE name = ?", user)
        guard let row = rows.first, Self.matches(password, row) else {
            throw Refusal.wrongCredentials
        }
        return open(user)
    }

    // MARK: Devices

    /// Binds a device to a session's user.
    func bind(session: String, sealed: Data) throws {
        let user = try user(of: session)
        let device = try JSONDecoder().decode(Device.self, from: try opened(sealed))
        let (salt, hash) = Self.hashed(device.password)
        try database.run("DELETE FROM devices WHERE user = ? AND token = ?", user, device.token)
        try database.run(
            "INSERT INTO devices VALUES (?, ?, ?, ?, ?)",
            device.account,
            user,
            salt,
            hash,
            device.token
        )
    }

    /// Logs in by a device's credentials, and returns a session.
    func logIn(sealedDevice: Data) throws -> String {
        let device = try JSONDecoder().decode(Device.self, from: try opened(sealedDevice))
        let rows = try database.run(
            "SELECT salt, hash, user FROM devices WHERE account = ? AND token = ?",
            device.account,
            device.token
        )
        guard let row = rows.first, Self.matches(device.password, row) else {
            throw Refusal.wrongCredentials
        }
        return open(row[2])
    }

    func unbind(session: String, token: String) throws {
        try database.run(
            "DELETE FROM devices WHERE user = ? AND token = ?",
            try user(of: session),
            token
        )
    }

    // MARK: Comparison of the enrolment

    /// Stores the enrolment that the user trusts.
    func enable(session: String, state: String, device: String) throws {
        let user = try user(of: session)
        try database.run("INSERT OR REPLACE INTO states VALUES (?, ?, ?)", user, state, device)
    }

    /// Returns a session if the enrolment is unchanged.
    func logIn(user: String, state: String, device: String) throws -> String {
        let rows = try database.run("SELECT state, device FROM states WHERE user = ?", user)
        guard let row = rows.first, row[1] == device else { throw Refusal.wrongCredentials }
        guard row[0] == state else { throw Refusal.enrolmentChanged }
        return open(user)
    }

    func disable(session: String) throws {
        try database.run("DELETE FROM states WHERE user = ?", try user(of: session))
    }

    // MARK: Secrets

    private struct Device: Decodable {
        let account: String
        let password: String
        let token: String
    }

    private func user(of session: String) throws -> String {
        guard let user = sessions[session] else { throw Refusal.notLoggedIn }
        return user
    }

    private func open(_ user: String) -> String {
        let session = Self.random()
        sessions[session] = user
        return session
    }

    private static func random() -> String {
        SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64EncodedString() }
    }

    /// Returns a salted hash, which is enough for long random passwords.
    ///
    /// Passwords that people choose need scrypt or Argon2.
    private static func hashed(_ password: String, salt: String = random()) -> (String, String) {
        let code = HMAC<SHA256>
            .authenticationCode(
                for: Data(password.utf8),
                using: SymmetricKey(data: Data(salt.utf8))
            )
        return (salt, Data(code).base64EncodedString())
    }

    private static func matches(_ password: String, _ row: [String]) -> Bool {
        guard let code = Data(base64Encoded: row[1]) else { return false }
        return HMAC<SHA256>
            .isValidAuthenticationCode(
                code,
                authenticating: Data(password.utf8),
                using: SymmetricKey(data: Data(row[0].utf8))
            )
    }

    /// Decrypts data that a device encrypted by `SecKeyCreateEncryptedData`.
    private func opened(_ sealed: Data) throws -> Data {
        guard sealed.count > 81 else { throw Refusal.malformed }
        let point = sealed.prefix(65)
        let shared = try key.sharedSecretFromKeyAgreement(
            with: P256.KeyAgreement.PublicKey(x963Representation: point)
        )
        let derived =
            shared.x963DerivedSymmetricKey(
                using: SHA256.self,
                sharedInfo: point,
                outputByteCount: 32
            )
            .withUnsafeBytes { Data($0) }
        let box = try AES.GCM.SealedBox(
            nonce: AES.GCM.Nonce(data: derived.suffix(16)),
            ciphertext: sealed.dropFirst(65).dropLast(16),
            tag: sealed.suffix(16)
        )
        return try AES.GCM.open(box, using: SymmetricKey(data: derived.prefix(16)))
    }
}
