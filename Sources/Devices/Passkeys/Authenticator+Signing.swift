import Crypto
import DBus
import Glibc
import Linux

/// Accounts that follow the first account of an assertion.
struct RemainingAssertions {
    let hash: [UInt8]
    let passkeys: [Passkey]
    let access: any PasskeyAccess
    let isVerified: Bool
    let secret: HMACSecret.Request?
    /// Whether answers name their accounts.
    ///
    /// Only among several, as CTAP says: Chromium shows a picker for a named account.
    let areNamed: Bool
    /// Nanoseconds since boot.
    let end: Int64

    /// CTAP's time limit between two calls.
    static let limit: Int64 = 30_000_000_000
}

/// authenticatorGetAssertion and authenticatorGetNextAssertion.
extension Authenticator {
    private struct Search {
        let hash: [UInt8]
        let site: String
        let allowed: Set<[UInt8]>?
        let options: CTAPRequest.Options
        let secret: HMACSecret.Request?
    }

    func getAssertion(_ request: CBOR) async throws(CTAPStatus) -> CBOR {
        if let proof = request[6] { try await refusePIN(proof) }
        let search = try search(request)
        let found = try await find(search)
        guard search.options.present else { return try silent(search, found) }
        searchFailed = false
        // Without a passkey, the person has another security key in hand: show no prompt.
        guard let first = found.first else { try await waitUntouched() }
        let account = found.count == 1 ? first.account : nil
        let access = try await verify(
            .signIn(site: search.site, account: account),
            for: search.hash
        )
        let list = RemainingAssertions(
            hash: search.hash,
            passkeys: found,
            access: access,
            isVerified: search.options.verified,
            secret: search.secret,
            areNamed: search.options.verified && found.count > 1,
            end: Boot.nanoseconds() + RemainingAssertions.limit
        )
        return try await next(of: list, count: found.count)
    }

    func nextAssertion(_ former: RemainingAssertions?) async throws(CTAPStatus) -> CBOR {
        guard let former, !former.passkeys.isEmpty, Boot.nanoseconds() < former.end else {
            throw .notAllowed
        }
        return try await next(of: former, count: nil)
    }

    private func search(_ request: CBOR) throws(CTAPStatus) -> Search {
        let site = try CTAPRequest.site(request[1])
        let hash = try CTAPRequest.hash(request[2])
        let options = try CTAPRequest.options(request[5])
        guard request[5]?["rk"] == nil else { throw .unsupportedOption }
        let extensions = try CTAPRequest.extensions(request[4])
        var secret: HMACSecret.Request?
        if let input = extensions["hmac-secret"], input.asMap != nil {
            guard options.present else { throw .unsupportedOption }
            secret = try secretExtension.request(input)
        }
        return Search(
            hash: hash,
            site: site,
            allowed: try CTAPRequest.list(request[3]),
            options: options,
            secret: secret
        )
    }

    /// The passkeys that may answer, the newest first.
    ///
    /// An answer to a list of credential ids has a single passkey.
    private func find(_ search: Search) async throws(CTAPStatus) -> [Passkey] {
        // A silent search never verifies the person.
        let isVerified = search.options.verified && search.options.present
        let shown = try await passkeys(of: search.site)
            .filter { passkey in
                switch passkey.protection {
                case .none: true
                case .hiddenFromLists: isVerified || search.allowed != nil
                case .hidden: isVerified
                }
            }
        guard let allowed = search.allowed else { return shown.filter(\.isDiscoverable) }
        return Array(shown.filter { allowed.contains($0.id) }.prefix(1))
    }

    /// Says whether a passkey is there, without a prompt.
    ///
    /// The key opens to a verified person only, so a one-time key signs. The signature is no proof,
    /// as the missing flag of presence says.
    private func silent(_ search: Search, _ found: [Passkey]) throws(CTAPStatus) -> CBOR {
        searchFailed = found.isEmpty
        guard let first = found.first else { throw .noCredentials }
        let flags: Flags = first.isExportable ? [.copyable] : []
        let data = Self.data(search.site, flags, counter: first.counter, extensions: [:])
        let key = P256.Signing.PrivateKey()
        guard let signature = try? key.signature(for: data + search.hash) else { throw .other }
        return .map(Self.answer(first, data, Array(signature.derRepresentation)))
    }

    private func next(
        of list: RemainingAssertions,
        count: Int?
    ) async throws(CTAPStatus) -> CBOR {
        guard var passkey = list.passkeys.first else { throw .noCredentials }
        passkey.counter = Self.nextCounter(after: passkey.counter)
        var answer: [CBOR: CBOR]
        do throws(VaultFault) {
            let secrets = try await list.access.secrets(of: passkey)
            var extensions: [CBOR: CBOR] = [:]
            if let secret = list.secret {
                let seed = list.isVerified ? secrets.verifiedSeed : secrets.unverifiedSeed
                extensions[.text("hmac-secret")] = try secret.answer(seed: seed)
            }
            let data = Self.data(
                passkey.site,
                Self.flags(of: passkey, isVerified: list.isVerified),
                counter: passkey.counter,
                extensions: extensions
            )
            // Before the signature, so that no crash repeats a counter.
            try await list.access.count(passkey)
            let signature = try await list.access.sign(data + list.hash, with: passkey)
            answer = Self.answer(passkey, data, signature)
            if passkey.isDiscoverable {
                answer[.number(4)] = Self.user(secrets, isNamed: list.areNamed)
            }
        } catch {
            throw error.status
        }
        if let count, count > 1 { answer[.number(5)] = .number(count) }
        remaining = RemainingAssertions(
            hash: list.hash,
            passkeys: Array(list.passkeys.dropFirst()),
            access: list.access,
            isVerified: list.isVerified,
            secret: list.secret,
            areNamed: list.areNamed,
            end: Boot.nanoseconds() + RemainingAssertions.limit
        )
        return .map(answer)
    }

    private static func answer(
        _ passkey: Passkey,
        _ data: [UInt8],
        _ signature: [UInt8]
    ) -> [CBOR: CBOR] {
        [
            .number(1): .map([.text("id"): .bytes(passkey.id), .text("type"): .text("public-key")]),
            .number(2): .bytes(data), .number(3): .bytes(signature),
        ]
    }

    /// The account.
    private static func user(_ secrets: PasskeySecrets, isNamed: Bool) -> CBOR {
        var user: [CBOR: CBOR] = [.text("id"): .bytes(secrets.user)]
        if isNamed {
            user[.text("name")] = secrets.name.map { .text($0) }
            user[.text("displayName")] = secrets.displayName.map { .text($0) }
        }
        return .map(user)
    }

    /// A counter above the last counter, and not below the seconds since 2026.
    ///
    /// The clock keeps the counter rising after a backup of the keychain was restored.
    static func nextCounter(after last: UInt32) -> UInt32 {
        let seconds = time(nil) - 1_767_225_600
        return max(last == .max ? .max : last + 1, UInt32(clamping: seconds))
    }
}
