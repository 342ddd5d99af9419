internal import DBus
public import Foundation
internal import Security

/// A saved right with a key and a secret, which outlives the process.
///
/// SAFETY: adds constants only to the state that the superclass guards.
public final class LAPersistedRight: LARight, @unchecked Sendable {
    struct Parts: Sendable {
        var keyID: String
        var secretID: String
        var publicKey: [UInt8]
    }

    let identifier: String
    private let parts: Parts

    init(
        _ identifier: String,
        _ requirement: LAAuthenticationRequirement,
        _ parts: Parts
    ) {
        self.identifier = identifier
        self.parts = parts
        super.init(requirement: requirement)
    }

    public var key: LAPrivateKey {
        LAPrivateKey(id: parts.keyID, publicKey: parts.publicKey, right: WeakRight(self))
    }

    public var secret: LASecret { LASecret(id: parts.secretID, right: WeakRight(self)) }

    /// Refuses a success if the enrolment has changed: the service has deleted the items by then.
    override func refusal(after context: LAContext) -> (any Error)? {
        let (id, use) = (
            parts.secretID, RemoteKeychain.PromptOptions(context: context, forbidsInteraction: true)
        )
        // If the service does not answer, refuse: the items may be gone.
        let silence: (BlockingFailure) -> KeychainFailure? = { KeychainFailure($0) }
        let failure = blocking(orElse: silence) {
            do throws(KeychainFailure) {
                _ = try await RemoteKeychain().read(id, use)
                return nil
            } catch {
                return error
            }
        }
        guard let failure else { return nil }
        return LAError(
            .authenticationFailed,
            userInfo: [NSLocalizedDescriptionKey: failure.message]
        )
    }
}

/// Saves rights under names that the app chooses.
public final class LARightStore: NSObject, Sendable {
    public static let shared = LARightStore()

    private static let service = "org.localauth.right"

    private override init() {
        super.init()
    }

    // MARK: Keeping

    /// Saves a right with a new key and an empty secret, and replaces a right with this name.
    ///
    /// - Throws: An error of the keychain.
    public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight {
        try await saveRight(right, identifier: identifier, secret: Data())
    }

    /// Saves a right with a new key and a secret, and replaces a right with this name.
    ///
    /// - Throws: An error of the keychain.
    public func saveRight(
        _ right: LARight,
        identifier: String,
        secret: Data
    ) async throws -> LAPersistedRight {
        let requirement = right.requirement
        let parts = try await keychain { keychain throws(KeychainFailure) in
            try await Self.save(identifier, requirement, [UInt8](secret), keychain)
        }
        return LAPersistedRight(identifier, requirement, parts)
    }

    @BusActor
    private static func save(
        _ identifier: String,
        _ requirement: LAAuthenticationRequirement,
        _ secret: [UInt8],
        _ keychain: RemoteKeychain
    ) async throws(KeychainFailure) -> LAPersistedRight.Parts {
        let flags = requirement.flags
        let old = try await find(identifier, keychain)
        let key = try await keychain.createKey(
            // The empty label makes the new key distinct from the key that it replaces.
            [
                "class": .string("keys"), "agrp": .string(AccessGroup.ofProgram),
                "atag": .bytes([UInt8]("\(service).\(identifier)".utf8)), "klbl": .bytes([]),
            ],
            try control(flags.union(.privateKeyUsage)),
            RemoteKeychain.PromptOptions()
        )
        let attributes: [String: Variant] = [
            "class": .string("genp"), "agrp": .string(AccessGroup.ofProgram),
            "svce": .string(service), "acct": .string(identifier),
            "icmt": .string(requirement.kind.rawValue), "gena": .bytes(key.publicKey),
            "desc": .string(key.id),
        ]
        do throws(KeychainFailure) {
            let id = try await keychain.add(
                attributes,
                secret: secret,
                try control(flags),
                RemoteKeychain.PromptOptions(),
                ["replaces": old.first?["id"]].compactMapValues(\.self)
            )
            let oldKeys = old.compactMap { $0["desc"]?.asString }
            // The right is saved, so an error while deleting its old key must not fail the call.
            if !oldKeys.isEmpty { try? await keychain.delete(oldKeys) }
            return .init(keyID: key.id, secretID: id, publicKey: key.publicKey)
        } catch {
            try? await keychain.delete([key.id])
            throw error
        }
    }

    private static func control(
        _ flags: SecAccessControlCreateFlags
    ) throws(KeychainFailure) -> [String: Variant] {
        let protection = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        guard let control = SecAccessControlCreateWithFlags(nil, protection, flags, nil) else {
            throw KeychainFailure(errSecParam, "The requirement can't guard a key.")
        }
        return control.wire
    }

    // MARK: Finding

    /// Finds the right with this name.
    ///
    /// - Throws: An error of the keychain; `errSecItemNotFound` if there is no such right.
    public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
        let found = try await keychain { keychain throws(KeychainFailure) in
            try await Self.find(identifier, keychain)
        }
        guard let item = found.first, let id = item["id"]?.asString,
            let key = item["desc"]?.asString, let point = item["gena"]?.asBytes,
            let kind = item["icmt"]?.asString.flatMap(LAAuthenticationRequirement.Kind.init)
        else {
            throw NSError(
                domain: NSOSStatusErrorDomain,
                code: Int(errSecItemNotFound),
                userInfo: [NSLocalizedDescriptionKey: "There is no such right."]
            )
        }
        return LAPersistedRight(
            identifier,
            LAAuthenticationRequirement(kind),
            .init(keyID: key, secretID: id, publicKey: point)
        )
    }

    @BusActor
    private static func find(
        _ identifier: String?,
        _ keychain: RemoteKeychain
    ) async throws(KeychainFailure) -> [[String: Variant]] {
        var query: [String: Variant] = [
            "class": .string("genp"), "agrp": .string(AccessGroup.ofProgram),
            "svce": .string(service),
        ]
        query["acct"] = identifier.map(Variant.string)
        return try await keychain.search(query)
    }

    // MARK: Removing

    /// Deletes a right, its key and its secret.
    ///
    /// - Throws: An error of the keychain.
    public func removeRight(_ right: LAPersistedRight) async throws {
        try await remove(right.identifier)
    }

    /// Deletes the right with this name.
    ///
    /// - Throws: An error of the keychain.
    public func removeRight(forIdentifier identifier: String) async throws {
        try await remove(identifier)
    }

    /// Deletes all rights.
    ///
    /// - Throws: An error of the keychain.
    public func removeAllRights() async throws {
        try await remove(nil)
    }

    private func remove(_ identifier: String?) async throws {
        try await keychain { keychain throws(KeychainFailure) in
            let found = try await Self.find(identifier, keychain)
            let ids = found.flatMap { item in
                [item["id"]?.asString, item["desc"]?.asString].compactMap(\.self)
            }
            if !ids.isEmpty { try await keychain.delete(ids) }
        }
    }
}
