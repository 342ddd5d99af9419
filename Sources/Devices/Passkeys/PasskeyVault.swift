package import DBus

/// The act that a prompt names.
package enum PasskeyAct: Hashable, Sendable {
    case create(site: String, account: String)
    /// `account` is nil where the browser lets the person choose among several.
    case signIn(site: String, account: String?)
    /// A program asks which of several security keys to use.
    case select
    case deleteAll
}

/// The person and the store of passkeys, as the authenticator needs them.
@BusActor package protocol PasskeyVault: AnyObject {
    /// Whether a person could be verified at all; no prompt.
    func canVerify() async -> Bool
    /// The passkeys of a site, the newest first; no prompt.
    func passkeys(of site: String) async throws(VaultFault) -> [Passkey]
    /// Verifies the person, in a single prompt.
    func verify(_ act: PasskeyAct) async throws(VaultFault) -> any PasskeyAccess
    /// Ends a running verification with ``VaultFault/canceled``.
    func cancelVerification()
}

/// Passkeys after a verification; shows no further prompt.
@BusActor package protocol PasskeyAccess: AnyObject {
    func secrets(of passkey: Passkey) async throws(VaultFault) -> PasskeySecrets
    /// Makes a key that vanishes unless ``keep(_:_:replacing:)`` follows.
    ///
    /// - Returns: The uncompressed point of the public key.
    func makeKey(for passkey: Passkey) async throws(VaultFault) -> [UInt8]
    /// Stores a passkey after its key was made, and then deletes the others.
    func keep(
        _ passkey: Passkey,
        _ secrets: PasskeySecrets,
        replacing others: [Passkey]
    ) async throws(VaultFault)
    /// Stores the counter of a passkey durably.
    func count(_ passkey: Passkey) async throws(VaultFault)
    /// Signs with ECDSA over SHA-256; the signature is DER.
    func sign(_ message: [UInt8], with passkey: Passkey) async throws(VaultFault) -> [UInt8]
    func deleteAll() async throws(VaultFault)
}
