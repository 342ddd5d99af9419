import Crypto

public struct KeyBehaviour: Hashable, Sendable {
    /// The key verifies its user by a finger.
    public var verifiesUser = false
    /// The key requires its PIN to make a credential.
    public var wantsPIN = false
    /// The key describes itself, but ignores other requests.
    public var isMute = false
    public var isBusy = false
    /// The key counts its signatures; other keys always report 0.
    public var counts = true

    /// Makes a key that is only touched.
    public init() {}
}

/// A touch of a security key, and the fault in its answer.
public enum Touch: Hashable, Sendable, CaseIterable {
    case right
    /// Signed with another private key: the device knows only the credential id.
    case forged
    /// A replay of the answer to the last challenge.
    case replayed
    /// Signed for another relying party.
    case elsewhere
    /// Signed with an old counter, as by a clone.
    case counterBack
    /// Signed without the flag of a touch.
    case untouched
    /// Signed without the flag of a verified user.
    case unverified
    /// Another person's finger.
    case strange
    /// The key's own time limit passes without a touch.
    case tooLate
    case full
    /// Refused, because the key is locked after too many wrong fingers.
    case locked
    /// Refused, because the key is locked after too many wrong PINs.
    case lockedPIN
    /// Signed with a credential id that was not requested.
    case unasked
}

/// A security key without hardware: CTAP2 with ES256, on whole messages.
struct Authenticator {
    struct Held {
        let key: P256.Signing.PrivateKey
        let party: [UInt8]
    }

    private enum Waiting {
        case make(CBOR)
        case sign(CBOR, [UInt8]?)
    }

    var manners = KeyBehaviour()
    private var held: [[UInt8]: Held] = [:]
    private var counter: UInt32 = 0
    private var waiting: Waiting?
    private var last: [UInt8]?
    private var random = SystemRandomNumberGenerator()

    var waits: Bool { waiting != nil }

    /// Returns the answer to a message, or nil if it needs a touch.
    mutating func answer(_ message: [UInt8]) -> [UInt8]? {
        guard let command = message.first else { return [0x03] }
        if command == 0x04 { return information }
        guard let request = CBOR(Array(message.dropFirst())) else { return [0x12] }
        switch command {
        case 0x01: return begin(making: request)
        case 0x02: return begin(signing: request)
        default: return [0x01]
        }
    }

    /// Cancels the waiting request and returns its answer, or nil without a request.
    mutating func cancel() -> [UInt8]? {
        defer { waiting = nil }
        return waiting.map { _ in [0x2d] }
    }

    /// Returns the answer to the waiting request, or nil without a request.
    mutating func touch(_ touch: Touch) -> [UInt8]? {
        defer { waiting = nil }
        switch (waiting, touch) {
        case (nil, _): return nil
        case (_, .strange): return [0x3f]
        case (_, .tooLate): return [0x2f]
        case (_, .full): return [0x28]
        case (_, .locked): return [0x3c]
        case (_, .lockedPIN): return [0x32]
        case (.make(let request), _): return made(request)
        case (.sign(_, nil), _): return [0x2e]
        case (.sign, .replayed): return last ?? [0x7f]
        case (.sign(let request, let handle?), _):
            let answer = signed(request, handle, touch)
            if touch == .right { last = answer }
            return answer
        }
    }

    private var information: [UInt8] {
        var options = [
            CBOR.Pair(key: .text("rk"), value: .flag(false)),
            CBOR.Pair(key: .text("up"), value: .flag(true)),
        ]
        if manners.verifiesUser { options.append(.init(key: .text("uv"), value: .flag(true))) }
        if manners.wantsPIN { options.append(.init(key: .text("clientPin"), value: .flag(true))) }
        return [0]
            + CBOR.object(
                (.number(1), .list([.text("FIDO_2_0")])),
                (.number(3), .bytes(Self.model)),
                (.number(4), .map(options)),
                (.number(5), .number(1200))
            )
            .content
    }

    private static let model = [UInt8](repeating: 0x4c, count: 16)

    // MARK: Making

    private mutating func begin(making request: CBOR) -> [UInt8]? {
        guard request[1]?.asBytes?.count == 32, request[2]?["id"]?.asText != nil else {
            return [0x14]
        }
        if manners.wantsPIN, request[8] == nil { return [0x36] }
        if request[7]?["uv"]?.asFlag == true, !manners.verifiesUser { return [0x2b] }
        waiting = .make(request)
        return nil
    }

    private mutating func made(_ request: CBOR) -> [UInt8] {
        let party = Self.hash(Array((request[2]?["id"]?.asText ?? "").utf8))
        let besides = (request[5]?.asList ?? []).compactMap { $0["id"]?.asBytes }
        if besides.contains(where: { held[$0]?.party == party }) { return [0x19] }
        let key = P256.Signing.PrivateKey()
        let handle = (0..<48).map { _ in random.next() as UInt8 }
        held[handle] = Held(key: key, party: party)
        let point = [UInt8](key.publicKey.rawRepresentation)
        let cose = CBOR.object(
            (.number(1), .number(2)),
            (.number(3), .number(-7)),
            (.number(-1), .number(1)),
            (.number(-2), .bytes(Array(point[..<32]))),
            (.number(-3), .bytes(Array(point[32...])))
        )
        let isVerified = request[7]?["uv"]?.asFlag == true
        let data =
            party + [0x41 | (isVerified ? 0x04 : 0)] + count() + Self.model
            + [0, UInt8(handle.count)] + handle + cose.content
        let signature = Self.sign(data + (request[1]?.asBytes ?? []), key)
        return [0]
            + CBOR.object(
                (.number(1), .text("packed")),
                (.number(2), .bytes(data)),
                (
                    .number(3),
                    .object((.text("alg"), .number(-7)), (.text("sig"), .bytes(signature)))
                )
            )
            .content
    }

    // MARK: Signing

    private mutating func begin(signing request: CBOR) -> [UInt8]? {
        guard request[2]?.asBytes?.count == 32, let id = request[1]?.asText else { return [0x14] }
        if request[5]?["uv"]?.asFlag == true, !manners.verifiesUser { return [0x2b] }
        let party = Self.hash(Array(id.utf8))
        let handle = (request[3]?.asList ?? []).compactMap { $0["id"]?.asBytes }
            .first { held[$0]?.party == party }
        guard request[5]?["up"]?.asFlag != false else {
            return handle.map { signed(request, $0, .untouched) } ?? [0x2e]
        }
        // As real keys do, require a touch even without a matching credential.
        waiting = .sign(request, handle)
        return nil
    }

    private mutating func signed(_ request: CBOR, _ handle: [UInt8], _ touch: Touch) -> [UInt8] {
        guard let held = held[handle] else { return [0x2e] }
        let key = touch == .forged ? P256.Signing.PrivateKey() : held.key
        let party = touch == .elsewhere ? Self.hash(Array("elsewhere".utf8)) : held.party
        let isVerified = request[5]?["uv"]?.asFlag == true && touch != .unverified
        let flags: UInt8 = (touch == .untouched ? 0 : 0x01) | (isVerified ? 0x04 : 0)
        let number = touch == .counterBack ? [0, 0, 0, 1] : count()
        let data = party + [flags] + number
        let signature = Self.sign(data + (request[2]?.asBytes ?? []), key)
        let name = touch == .unasked ? [UInt8](handle.reversed()) : handle
        return [0]
            + CBOR.object(
                (
                    .number(1),
                    .object((.text("id"), .bytes(name)), (.text("type"), .text("public-key")))
                ),
                (.number(2), .bytes(data)),
                (.number(3), .bytes(signature))
            )
            .content
    }

    private mutating func count() -> [UInt8] {
        if manners.counts { counter += 1 }
        return (0..<4).reversed().map { UInt8(truncatingIfNeeded: counter >> (8 * $0)) }
    }

    private static func hash(_ text: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: text)) }

    private static func sign(_ data: [UInt8], _ key: P256.Signing.PrivateKey) -> [UInt8] {
        (try? key.signature(for: data)).map { [UInt8]($0.derRepresentation) } ?? []
    }
}
