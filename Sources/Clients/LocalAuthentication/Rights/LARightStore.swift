internal import DBus
public import Foundation
internal import Security

/// A right with a key and at most one secret, which outlives the process.
///
/// Constants only, beside what the superclass guards.
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

    /// The right's key.
    public var key: LAPrivateKey {
        LAPrivateKey(id: parts.keyID, publicKey: parts.publicKey, right: Held(self))
    }

    /// The right's secret.
    public var secret: LASecret { LASecret(id: parts.secretID, right: Held(self)) }

    /// The items are deleted when the enrolment changes, and the success becomes worthless.
    override func refusal(after context: LAContext) -> (any Error)? {
        let (id, use) = (
            parts.secretID, RemoteKeychain.Use(context: context, forbidsInteraction: true)
        )
        // What isn't said may be anything.
        let silence: (NoAnswer) -> KeychainFailure? = { KeychainFailure($0) }
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

/// Keeps rights, by the names that the app gives them.
public final class LARightStore: NSObject, Sendable {
    /// The one of the user.
    public static let shared = LARightStore()

    private static let service = "org.localauth.right"

    private override init() {
        super.init()
    }

    // MARK: Keeping

    /// Keeps a right, with a new key and an empty secret, in the place of one of that name.
    ///
    /// - Throws: An error of the keychain.
    public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight {
        try await saveRight(right, identifier: identifier, secret: Data())
    }

    /// Keeps a right, with a new key and a secret, in the place of one of that name.
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
            // With an empty label it is another key than the one that it replaces.
            [
                "class": .string("keys"), "agrp": .string(AccessGroup.ofProgram),
                "atag": .bytes([UInt8]("\(service).\(identifier)".utf8)), "klbl": .bytes([]),
            ],
            try control(flags.union(.privateKeyUsage)),
            RemoteKeychain.Use()
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
                RemoteKeychain.Use(),
                ["replaces": old.first?["id"]].compactMapValues(\.self)
            )
            let oldKeys = old.compactMap { $0["desc"]?.asString }
            // The right is kept by now: a key that nobody refers to is no reason to lose it.
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

    /// The right of that name.
    ///
    /// - Throws: An error of the keychain; `errSecItemNotFound` when there is none.
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

    /// Forgets a right, its key and its secret.
    ///
    /// - Throws: An error of the keychain.
    public func removeRight(_ right: LAPersistedRight) async throws {
        try await remove(right.identifier)
    }

    /// Forgets the right of that name.
    ///
    /// - Throws: An error of the keychain.
    public func removeRight(forIdentifier identifier: String) async throws {
        try await remove(identifier)
    }

    /// Forgets all rights.
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
