import DBus
import LocalAuthBus
import LocalAuthClient
import Passkeys
import Sealing

/// The keychain after a verification, with a context that opens every item of a passkey.
@BusActor final class KeychainAccess: PasskeyAccess {
    private let service: RemoteService
    private let context: Context1Proxy
    /// Keys of the keychain made and not yet kept, by credential id.
    private var made: [[UInt8]: String] = [:]
    /// Keys of exportable passkeys, likewise.
    private var madeExportable: [[UInt8]: PasskeyKey] = [:]

    /// `kSecAccessControlPrivateKeyUsage`.
    private static let usage: UInt64 = 1 << 30
    /// The context answers for the person; a call that would prompt once more fails.
    private var options: [String: Variant] {
        ["context": .objectPath(context.path), "interaction-not-allowed": .bool(true)]
    }

    init(_ service: RemoteService, _ context: Context1Proxy) {
        (self.service, self.context) = (service, context)
    }

    deinit {
        let context = context
        onLoop { context.sendRelease() }
    }

    func secrets(of passkey: Passkey) async throws(VaultFault) -> PasskeySecrets {
        let item = try await item(of: passkey)
        do throws(DBusError) {
            let sealed = try await service.keychain.read(
                id: item,
                reason: "",
                options: options.merging(RemoteService.sealingReply) { $1 }
            )
            let content = try service.open(sealed).use { PasskeySecrets($0) }
            guard let content else { throw DBusError(.failed, "The passkey is damaged.") }
            return content
        } catch {
            throw VaultFault(error)
        }
    }

    func makeKey(for passkey: Passkey) async throws(VaultFault) -> [UInt8] {
        if passkey.isExportable {
            let key = PasskeyKey()
            madeExportable[passkey.id] = key
            return key.point
        }
        do throws(DBusError) {
            let key = try await service.keychain.createKey(
                attributes: passkey.keyAttributes,
                accessControl: ["flags": .uint64(Passkey.presence | Self.usage)],
                options: ["temporary": .bool(true)]
            )
            made[passkey.id] = key.id
            return key.publicKey
        } catch {
            throw VaultFault(error)
        }
    }

    func keep(
        _ passkey: Passkey,
        _ secrets: PasskeySecrets,
        replacing others: [Passkey]
    ) async throws(VaultFault) {
        var secrets = secrets
        secrets.key = madeExportable[passkey.id]
        var former: [String] = []
        for other in others { former += try await ids(of: other) }
        do throws(DBusError) {
            let secret = try await service.seal(SecretBytes(secrets.encoded))
            _ = try await service.keychain.add(
                attributes: passkey.attributes,
                secret: secret,
                accessControl: ["flags": .uint64(Passkey.presence)],
                options: RemoteService.sealed
            )
            if let key = made[passkey.id] {
                try await service.keychain.update(
                    id: key,
                    attributes: [:],
                    options: ["keep": .bool(true)]
                )
            }
            if !former.isEmpty { _ = try await service.keychain.delete(ids: former) }
        } catch {
            throw VaultFault(error)
        }
    }

    func count(_ passkey: Passkey) async throws(VaultFault) {
        let item = try await item(of: passkey)
        do throws(DBusError) {
            try await service.keychain.update(
                id: item,
                attributes: ["crtr": .uint32(passkey.counter)],
                options: [:]
            )
        } catch {
            throw VaultFault(error)
        }
    }

    func sign(_ message: [UInt8], with passkey: Passkey) async throws(VaultFault) -> [UInt8] {
        if passkey.isExportable {
            let stored = madeExportable[passkey.id]
            let key: PasskeyKey? =
                if let stored { stored } else { try await secrets(of: passkey).key }
            guard let signature = key?.sign(message) else {
                throw .unreachable("The passkey is damaged.")
            }
            return signature
        }
        let key: String
        if let new = made[passkey.id] {
            key = new
        } else {
            key = try await id(passkey.keyQuery)
        }
        do throws(DBusError) {
            return try await service.keychain.sign(
                id: key,
                algorithm: "ecdsa-message-sha256",
                data: message,
                reason: "",
                options: options
            )
        } catch {
            throw VaultFault(error)
        }
    }

    func deleteAll() async throws(VaultFault) {
        do throws(DBusError) {
            let all = try await service.search(["agrp": .string(Passkey.group)])
            let ids = all.compactMap { $0["id"]?.asString }
            if !ids.isEmpty { _ = try await service.keychain.delete(ids: ids) }
        } catch {
            throw VaultFault(error)
        }
    }

    private func item(of passkey: Passkey) async throws(VaultFault) -> String {
        try await id(passkey.itemQuery)
    }

    private func ids(of passkey: Passkey) async throws(VaultFault) -> [String] {
        let item = try await item(of: passkey)
        return passkey.isExportable ? [item] : [item, try await id(passkey.keyQuery)]
    }

    private func id(_ query: [String: Variant]) async throws(VaultFault) -> String {
        let found: [[String: Variant]]
        do throws(DBusError) {
            found = try await service.search(query)
        } catch {
            throw VaultFault(error)
        }
        guard let id = found.first?["id"]?.asString else {
            throw .unreachable("The passkey was deleted.")
        }
        return id
    }
}
