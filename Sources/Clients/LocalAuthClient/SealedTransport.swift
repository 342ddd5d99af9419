package import DBus
package import LocalAuthBus
package import Sealing

extension RemoteService {
    /// The largest keychain secret, in bytes.
    package nonisolated static let secretLimit = 65_536
    /// The option of a call with a sealed secret.
    package static let sealed: [String: Variant] = ["sealed": .bool(true)]
    /// The option of a call that returns a secret: the service seals the reply to this process.
    package static let sealingReply: [String: Variant] = ["seal-to": .bytes(ownKey.publicKey)]

    private static let ownKey = SealingKey()
    private static var lastRead: ServiceKey?

    /// Seals a secret to this service, for a call with the option ``sealed``.
    ///
    /// - Throws: `Failed` if the service's key is unusable, and the errors of the bus.
    package func seal(_ secret: SecretBytes) async throws(DBusError) -> [UInt8] {
        let name = connection.uniqueName
        guard let value = try await recipientKey().seal(secret, for: .keychain, of: name) else {
            throw DBusError(.failed, "The secret cannot be sealed.")
        }
        return value
    }

    /// Opens the reply to a call with the option ``sealingReply``.
    ///
    /// - Throws: `Failed` if the reply is not sealed to this process and its connection.
    package func open(_ sealed: [UInt8]) throws(DBusError) -> SecretBytes {
        guard let secret = Self.ownKey.open(sealed, for: .keychain, of: connection.uniqueName)
        else { throw DBusError(.failed, "The secret in the service's reply cannot be opened.") }
        return secret
    }

    /// The key of this service, read once from each process that owns the service's name.
    private func recipientKey() async throws(DBusError) -> RecipientKey {
        if let known = Self.lastRead, known.belongs(to: self) { return known.key }
        let bytes = try await Self.retryingReadOnly { () throws(DBusError) in
            try await keychain.sealingKey()
        }
        guard let key = RecipientKey(bytes) else {
            throw DBusError(.failed, "The service has no usable key for secrets.")
        }
        Self.lastRead = ServiceKey(connection: connection, owner: owner, key: key)
        return key
    }

    /// A service's key, with its connection: a restarted bus reuses unique names.
    private struct ServiceKey {
        weak var connection: Connection?
        let owner: String
        let key: RecipientKey

        @BusActor
        func belongs(to service: RemoteService) -> Bool {
            connection === service.connection && owner == service.owner
        }
    }
}

extension Context1Proxy {
    /// Sends a credential to the context, sealed; returns false if the context is invalid.
    ///
    /// - Throws: `Failed` if the service's key is unusable, and the errors of the bus.
    package func setCredential(
        _ type: Int32,
        sealing secret: SecretBytes
    ) async throws(DBusError) -> Bool {
        try await setCredential(
            credentialType: type,
            secret: try await RemoteService(connection, owner: destination).seal(secret),
            options: RemoteService.sealed
        )
    }
}
