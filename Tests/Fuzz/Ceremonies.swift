import DBus

@testable import Passkeys

/// An authenticator whose user agrees to everything, with two passkeys of `example.com`.
@BusActor final class Ceremonies: PasskeyVault, PasskeyAccess {
    static let shared = Ceremonies()

    private static let key = PasskeyKey()
    private static let secrets = PasskeySecrets(user: [1], name: "ann", displayName: nil)

    /// Answers a message, and then a request for the next account.
    func take(_ bytes: [UInt8]) {
        let authenticator = Authenticator(self, makesExportable: true, patience: .zero)
        authenticator.appear()
        for message in [bytes, [8]] {
            var answer: [UInt8]?
            onLoop { answer = await authenticator.answer(message) }
            for _ in 0..<1000 where answer == nil { EventLoop.shared.serve() }
            guard let answer, let status = answer.first else { preconditionFailure("no answer") }
            let content = Array(answer.dropFirst())
            precondition(status == 0 || content.isEmpty)
            precondition(content.isEmpty || CBOR(content)?.encoded == content)
        }
    }

    func canVerify() async -> Bool { true }

    func passkeys(of site: String) async throws(VaultFault) -> [Passkey] {
        guard site == "example.com" else { return [] }
        return [Passkey.Protection.none, .hidden]
            .map { protection in
                Passkey(
                    id: [UInt8](repeating: UInt8(ascii: "x"), count: 32),
                    site: site,
                    account: "ann",
                    isDiscoverable: true,
                    protection: protection,
                    isExportable: true,
                    counter: .max
                )
            }
    }

    func verify(_ act: PasskeyAct) async throws(VaultFault) -> any PasskeyAccess { self }

    func cancelVerification() {}

    func secrets(of passkey: Passkey) async throws(VaultFault) -> PasskeySecrets { Self.secrets }

    func makeKey(for passkey: Passkey) async throws(VaultFault) -> [UInt8] { Self.key.point }

    func keep(
        _ passkey: Passkey,
        _ secrets: PasskeySecrets,
        replacing others: [Passkey]
    ) async throws(VaultFault) {
        precondition(PasskeySecrets(secrets.encoded) == secrets)
        precondition(Passkey(passkey.attributes) == passkey)
    }

    func count(_ passkey: Passkey) async throws(VaultFault) {}

    func sign(_ message: [UInt8], with passkey: Passkey) async throws(VaultFault) -> [UInt8] {
        Self.key.sign(message) ?? []
    }

    func deleteAll() async throws(VaultFault) {}
}
