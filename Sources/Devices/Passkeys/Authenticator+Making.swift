import DBus

/// authenticatorMakeCredential.
extension Authenticator {
    private struct Creation {
        let hash: [UInt8]
        let site: String
        let user: CBOR
        let excluded: Set<[UInt8]>
        let options: CTAPRequest.Options
        let protection: Passkey.Protection?
        let wantsSecret: Bool
        let isUnattested: Bool

        var account: String {
            user["name"]?.asText ?? user["displayName"]?.asText ?? ""
        }
    }

    /// Sites that browsers invent to make a security key wait for a touch.
    private static let dummies: Set<String> = [".dummy", "make.me.blink"]
    /// Bytes of a name that are kept.
    private static let longestName = 256

    func makeCredential(_ request: CBOR) async throws(CTAPStatus) -> CBOR {
        if let proof = request[8] { try await refusePIN(proof) }
        let creation = try Self.creation(request)
        if Self.dummies.contains(creation.site) {
            try await select()
            // Browsers take this answer for a touch, too.
            throw .pinNotSet
        }
        searchFailed = false
        let access = try await verify(
            .create(site: creation.site, account: creation.account),
            for: creation.hash
        )
        let known = try await passkeys(of: creation.site)
        let isVerified = creation.options.verified
        guard
            !known.contains(where: {
                creation.excluded.contains($0.id) && (isVerified || $0.protection != .hidden)
            })
        else { throw .credentialExcluded }
        do throws(VaultFault) {
            return try await make(creation, access, besides: known)
        } catch {
            throw error.status
        }
    }

    /// Requests with a PIN's proof: an empty proof only makes a security key wait for a touch.
    func refusePIN(_ proof: CBOR) async throws(CTAPStatus) {
        guard let proof = proof.asBytes else { throw .unexpectedType }
        guard proof.isEmpty else { throw .pinAuthInvalid }
        try await select()
        throw .pinNotSet
    }

    private static func creation(_ request: CBOR) throws(CTAPStatus) -> Creation {
        let hash = try CTAPRequest.hash(request[1])
        guard let party = request[2], let user = request[3], let kinds = request[4] else {
            throw .missingParameter
        }
        guard party.asMap != nil, user.asMap != nil, let kinds = kinds.asArray else {
            throw .unexpectedType
        }
        guard let id = user["id"] else { throw .missingParameter }
        guard let id = id.asBytes else { throw .unexpectedType }
        guard 1...64 ~= id.count else { throw .invalidParameter }
        try checkNames(of: user)
        let site = try CTAPRequest.site(party["id"])
        try checkAlgorithms(kinds)
        let options = try CTAPRequest.options(request[7])
        guard options.present else { throw .invalidOption }
        guard request[10] == nil else { throw .invalidParameter }
        let extensions = try CTAPRequest.extensions(request[6])
        let level = try extensions["credProtect"]
            .map { value throws(CTAPStatus) in
                guard let number = value.asNumber else { throw CTAPStatus.unexpectedType }
                guard let level = UInt32(exactly: number).flatMap(Passkey.Protection.init) else {
                    throw CTAPStatus.invalidParameter
                }
                return level
            }
        return Creation(
            hash: hash,
            site: site,
            user: user,
            excluded: try CTAPRequest.list(request[5]) ?? [],
            options: options,
            protection: level,
            wantsSecret: extensions["hmac-secret"] == .flag(true),
            isUnattested: request[11]?.asArray?.first == .text("none")
        )
    }

    private static func checkNames(of user: CBOR) throws(CTAPStatus) {
        for key in ["name", "displayName"] {
            guard let value = user[key] else { continue }
            guard value.asText != nil else { throw .unexpectedType }
        }
    }

    private static func checkAlgorithms(_ kinds: [CBOR]) throws(CTAPStatus) {
        var isKnown = false
        for kind in kinds {
            guard let type = kind["type"], let algorithm = kind["alg"] else {
                throw .missingParameter
            }
            guard let type = type.asText, let number = algorithm.asNumber else {
                throw .unexpectedType
            }
            isKnown = isKnown || type == "public-key" && number == Self.algorithm
        }
        guard isKnown else { throw .unsupportedAlgorithm }
    }

    private func make(
        _ creation: Creation,
        _ access: any PasskeyAccess,
        besides known: [Passkey]
    ) async throws(VaultFault) -> CBOR {
        let secrets = PasskeySecrets(
            user: creation.user["id"]?.asBytes ?? [],
            name: creation.user["name"]?.asText.map(Self.shortened),
            displayName: creation.user["displayName"]?.asText.map(Self.shortened)
        )
        let passkey = Passkey(
            id: randomBytes(Self.longestID),
            site: creation.site,
            account: Self.shortened(creation.account),
            isDiscoverable: creation.options.discoverable,
            protection: creation.protection ?? .none,
            isExportable: makesExportable,
            counter: Self.nextCounter(after: 0)
        )
        let point = try await access.makeKey(for: passkey)
        guard point.count == 65 else { throw .unreachable("The key has another form.") }
        var extensions: [CBOR: CBOR] = [:]
        extensions[.text("credProtect")] = creation.protection.map { .number(Int($0.rawValue)) }
        if creation.wantsSecret { extensions[.text("hmac-secret")] = .flag(true) }
        let key = HMACSecret.cose(point.dropFirst(), algorithm: Self.algorithm)
        let data = Self.data(
            creation.site,
            Self.flags(of: passkey, isVerified: creation.options.verified).union(.attested),
            counter: passkey.counter,
            credential: Self.model + bigEndian(UInt16(passkey.id.count)) + passkey.id + key.encoded,
            extensions: extensions
        )
        var proof: [CBOR: CBOR] = [:]
        if !creation.isUnattested {
            let signature = try await access.sign(data + creation.hash, with: passkey)
            proof = [.text("alg"): .number(Self.algorithm), .text("sig"): .bytes(signature)]
        }
        let former = try await former(of: secrets.user, creation, among: known, access)
        // A passkey without an answer would only take the place of the former.
        guard !isCanceled else { throw .canceled }
        try await access.keep(passkey, secrets, replacing: former)
        return .map([
            .number(1): .text(creation.isUnattested ? "none" : "packed"),
            .number(2): .bytes(data), .number(3): .map(proof),
        ])
    }

    /// The discoverable passkeys of this account, which a new passkey replaces.
    private func former(
        of user: [UInt8],
        _ creation: Creation,
        among known: [Passkey],
        _ access: any PasskeyAccess
    ) async throws(VaultFault) -> [Passkey] {
        guard creation.options.discoverable else { return [] }
        var former: [Passkey] = []
        for passkey in known where passkey.isDiscoverable {
            if try await access.secrets(of: passkey).user == user { former.append(passkey) }
        }
        return former
    }

    /// Cuts a name between characters.
    private static func shortened(_ name: String) -> String {
        var short = ""
        for character in name {
            guard short.utf8.count + character.utf8.count <= longestName else { break }
            short.append(character)
        }
        return short
    }
}
