import Crypto
package import DBus
import Linux

/// A CTAP 2.1 authenticator with built-in user verification, on whole messages.
///
/// Serves messages in turn. An answer that needs a person needs exactly one verification.
@BusActor package final class Authenticator {
    let vault: any PasskeyVault
    let secretExtension = HMACSecret()
    /// Whether the current message waits for the person.
    package private(set) var waitsForPerson = false

    /// Whether new passkeys can be exported.
    let makesExportable: Bool
    private let patience: Duration
    private let changes = ConditionVariable()
    private(set) var isCanceled = false
    /// Further accounts for authenticatorGetNextAssertion.
    var remaining: RemainingAssertions?
    /// A silent search was in vain: the program then asks for a touch only to hide that.
    var searchFailed = false
    /// Whether a person could be verified, as last answered.
    private var canVerify = true
    /// The times of the person's last refusals, in nanoseconds since boot.
    private var denials: [Int64] = []
    /// The last request without a verified person, by its client data.
    private var refusal: (hash: [UInt8], fault: VaultFault, end: Int64)?
    /// The time from which on resets are refused, in nanoseconds since boot.
    private var resetEnd: Int64 = 0

    /// Identifies this model of authenticators.
    static let model: [UInt8] = [
        0xa0, 0x9b, 0x80, 0xe7, 0xdf, 0xfd, 0x46, 0xfa, 0xbd, 0xf5, 0x88, 0x6d, 0x43, 0x88, 0x91,
        0x76,
    ]
    nonisolated static let longestList = 64
    /// Programs split longer lists, so that requests fit into a burst.
    private static let shortList = 16
    nonisolated static let longestID = 32
    /// ECDSA on P-256 with SHA-256, the only algorithm.
    static let algorithm = -7
    /// Refusals within a minute after which no prompt is shown for a minute.
    private static let mostDenials = 3
    private static let minute: Int64 = 60_000_000_000
    /// The longest time between a request and a repetition with the same client data.
    private static let repetition: Int64 = 2_000_000_000
    /// CTAP's limit for keys without a display, after their power came.
    private static let resetTime: Int64 = 10_000_000_000
    /// Chromium drops a key that does not describe itself within three seconds.
    private static let haste = Duration.seconds(1)

    /// Makes an authenticator; `patience` is how long it waits for a touch that cannot come.
    package init(
        _ vault: any PasskeyVault,
        makesExportable: Bool = false,
        patience: Duration = .seconds(30)
    ) {
        (self.vault, self.makesExportable, self.patience) = (vault, makesExportable, patience)
    }

    /// Answers a message.
    ///
    /// The answer is a status and, after success, a map.
    package func answer(_ message: [UInt8], isCanceled: Bool = false) async -> [UInt8] {
        self.isCanceled = isCanceled
        defer { waitsForPerson = false }
        do throws(CTAPStatus) {
            let answer = try await perform(message)
            return [0] + (answer?.encoded ?? [])
        } catch {
            return [(self.isCanceled ? .keepaliveCanceled : error).rawValue]
        }
    }

    /// Ends the current message, if it waits for the person.
    package func cancel() {
        isCanceled = true
        changes.notifyAll()
        vault.cancelVerification()
    }

    /// Forgets the state of a program that left.
    package func reset() { (remaining, searchFailed) = (nil, false) }

    /// Begins the time in which a reset is taken, because the device has just appeared.
    package func appear() { resetEnd = Boot.nanoseconds() + Self.resetTime }

    private func perform(_ message: [UInt8]) async throws(CTAPStatus) -> CBOR? {
        let command = message.first ?? 0
        let former = remaining
        remaining = nil
        switch command {
        case 0x01: return try await makeCredential(try Self.map(message))
        case 0x02: return try await getAssertion(try Self.map(message))
        case 0x04: return await information()
        case 0x06: return try clientPIN(try Self.map(message))
        case 0x07:
            try await deleteAll()
            return nil
        case 0x08: return try await nextAssertion(former)
        case 0x0b:
            try await select()
            return nil
        default: throw .invalidCommand
        }
    }

    private static func map(_ message: [UInt8]) throws(CTAPStatus) -> CBOR {
        guard let value = CBOR(Array(message.dropFirst())) else { throw .invalidCBOR }
        guard value.asMap != nil else { throw .unexpectedType }
        return value
    }

    private func information() async -> CBOR {
        .map([
            .number(1): .array([.text("FIDO_2_0"), .text("FIDO_2_1")]),
            .number(2): .array([.text("credProtect"), .text("hmac-secret")]),
            .number(3): .bytes(Self.model),
            // Without makeCredUvNotRqd: where a key has the option, Chromium creates passkeys
            // without verification, also for sites that require it.
            .number(4): .map([
                .text("rk"): .flag(true), .text("up"): .flag(true),
                .text("uv"): .flag(await isVerificationPossible()), .text("plat"): .flag(false),
            ]),
            .number(5): .number(PacketLayer.longestBurst),
            .number(6): .array(HMACSecret.protocols.map { .number($0) }),
            .number(7): .number(Self.shortList),
            .number(8): .number(Self.longestID),
            .number(10): .array([
                .map([.text("alg"): .number(Self.algorithm), .text("type"): .text("public-key")])
            ]),
            .number(0x16): .array([.text("packed"), .text("none")]),
        ])
    }

    /// Asks the vault, and takes its last answer where it is slow, for example while it starts.
    private func isVerificationPossible() async -> Bool {
        var isAnswered = false
        onLoop {
            self.canVerify = await self.vault.canVerify()
            isAnswered = true
            self.changes.notifyAll()
        }
        _ = await changes.wait(atMost: Self.haste) { isAnswered }
        return canVerify
    }

    /// The key agreement of `hmac-secret`; there is no PIN.
    private func clientPIN(_ request: CBOR) throws(CTAPStatus) -> CBOR {
        guard let subcommand = request[2]?.asNumber else { throw .missingParameter }
        guard subcommand == 2 else { throw .invalidSubcommand }
        guard let number = request[1]?.asNumber else { throw .missingParameter }
        guard HMACSecret.protocols.contains(number) else { throw .invalidParameter }
        return .map([.number(1): secretExtension.agreementKey])
    }

    private func deleteAll() async throws(CTAPStatus) {
        guard Boot.nanoseconds() < resetEnd else { throw .notAllowed }
        let access = try await verify(.deleteAll)
        do throws(VaultFault) {
            try await access.deleteAll()
        } catch {
            throw error.status
        }
    }

    // MARK: The person

    /// Lets the person choose this authenticator among several.
    func select() async throws(CTAPStatus) {
        // A prompt would make no sense for an account of another security key.
        if searchFailed { try await waitUntouched() }
        _ = try await verify(.select)
    }

    /// Verifies the person, in a single prompt.
    ///
    /// A repetition of a refused request shows no prompt. `hash` is the client data of the request.
    func verify(
        _ act: PasskeyAct,
        for hash: [UInt8]? = nil
    ) async throws(CTAPStatus) -> any PasskeyAccess {
        if let refusal, refusal.hash == hash, Boot.nanoseconds() < refusal.end {
            throw refusal.fault.repeatedStatus
        }
        do throws(VaultFault) {
            return try await verified(act)
        } catch {
            if let hash, error.status == .operationDenied {
                refusal = (hash, error, Boot.nanoseconds() + Self.repetition)
            }
            throw error.status
        }
    }

    private func verified(_ act: PasskeyAct) async throws(VaultFault) -> any PasskeyAccess {
        let now = Boot.nanoseconds()
        denials.removeAll { now - $0 > Self.minute }
        guard denials.count < Self.mostDenials else { throw .unattended }
        guard !isCanceled else { throw .canceled }
        waitsForPerson = true
        defer { waitsForPerson = false }
        do throws(VaultFault) {
            let access = try await vault.verify(act)
            denials = []
            return access
        } catch {
            if error == .denied {
                let end = Boot.nanoseconds()
                denials.append(end)
                // The whole minute begins with the last of them.
                if denials.count == Self.mostDenials { denials = denials.map { _ in end } }
            }
            throw error
        }
    }

    /// Waits like an untouched security key.
    func waitUntouched() async throws(CTAPStatus) -> Never {
        waitsForPerson = true
        guard await changes.wait(atMost: patience, until: { isCanceled }) else {
            throw .userActionTimeout
        }
        throw .keepaliveCanceled
    }

    // MARK: Parts of answers

    func passkeys(of site: String) async throws(CTAPStatus) -> [Passkey] {
        do throws(VaultFault) {
            return try await vault.passkeys(of: site)
        } catch {
            throw error.status
        }
    }

    static func flags(of passkey: Passkey, isVerified: Bool) -> Flags {
        var flags: Flags = [.present]
        if isVerified { flags.insert(.verified) }
        if passkey.isExportable { flags.insert(.copyable) }
        return flags
    }

    static func hash(_ text: String) -> [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }

    struct Flags: OptionSet {
        let rawValue: UInt8
        static let present = Self(rawValue: 0x01)
        static let verified = Self(rawValue: 0x04)
        /// WebAuthn's “backup eligible”: the passkey may exist on several machines.
        static let copyable = Self(rawValue: 0x08)
        static let attested = Self(rawValue: 0x40)
        static let extended = Self(rawValue: 0x80)
    }

    static func data(
        _ site: String,
        _ flags: Flags,
        counter: UInt32,
        credential: [UInt8] = [],
        extensions: [CBOR: CBOR]
    ) -> [UInt8] {
        let flags = extensions.isEmpty ? flags : flags.union(.extended)
        return hash(site) + [flags.rawValue] + bigEndian(counter) + credential
            + (extensions.isEmpty ? [] : CBOR.map(extensions).encoded)
    }
}
