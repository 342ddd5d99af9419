import DBus
import Testing

@testable import Passkeys

@Suite(.timeLimit(.minutes(1))) struct CancelTests {
    /// A vault whose user agrees while the program gives up.
    @BusActor private final class LateVault: PasskeyVault, PasskeyAccess {
        private static let key = PasskeyKey()
        private let whileMaking: @BusActor () -> Void
        private(set) var kept = 0

        init(whileMaking: @escaping @BusActor () -> Void) { self.whileMaking = whileMaking }

        func canVerify() async -> Bool { true }
        func passkeys(of site: String) async throws(VaultFault) -> [Passkey] { [] }
        func verify(_ act: PasskeyAct) async throws(VaultFault) -> any PasskeyAccess { self }
        func cancelVerification() {}
        func secrets(of passkey: Passkey) async throws(VaultFault) -> PasskeySecrets {
            throw .unreachable("")
        }
        func makeKey(for passkey: Passkey) async throws(VaultFault) -> [UInt8] {
            whileMaking()
            return Self.key.point
        }
        func keep(
            _ passkey: Passkey,
            _ secrets: PasskeySecrets,
            replacing others: [Passkey]
        ) async throws(VaultFault) { kept += 1 }
        func count(_ passkey: Passkey) async throws(VaultFault) {}
        func sign(_ message: [UInt8], with passkey: Passkey) async throws(VaultFault) -> [UInt8] {
            Self.key.sign(message) ?? []
        }
        func deleteAll() async throws(VaultFault) {}
    }

    private static let creation =
        [1]
        + CBOR.map([
            .number(1): .bytes([UInt8](repeating: 1, count: 32)),
            .number(2): .map([.text("id"): .text("example.com")]),
            .number(3): .map([.text("id"): .bytes([1]), .text("name"): .text("ann")]),
            .number(4): .array([
                .map([.text("alg"): .number(-7), .text("type"): .text("public-key")])
            ]),
            .number(7): .map([.text("rk"): .flag(true), .text("uv"): .flag(true)]),
        ])
        .encoded

    @Test(
        "A creation that is canceled after the touch stores no passkey",
        arguments: [true, false]
    )
    @BusActor func late(_ isCanceled: Bool) async throws {
        var authenticator: Authenticator?
        let vault = LateVault { if isCanceled { authenticator?.cancel() } }
        let device = Authenticator(vault, makesExportable: true)
        authenticator = device
        let answer = await device.answer(Self.creation)
        #expect(answer.first == (isCanceled ? CTAPStatus.keepaliveCanceled.rawValue : 0))
        #expect(vault.kept == (isCanceled ? 0 : 1))
        guard !isCanceled else { return }
        // WebAuthn's flags of a passkey that may have copies: UP, UV, BE, AT.
        let data = try #require(CBOR(Array(answer.dropFirst()))?[2]?.asBytes)
        #expect(data[32] == 0x4d)
    }

    @Test("A request canceled before its turn shows no prompt")
    @BusActor func early() async throws {
        let vault = LateVault {}
        let answer = await Authenticator(vault).answer(Self.creation, isCanceled: true)
        #expect(answer == [CTAPStatus.keepaliveCanceled.rawValue])
        #expect(vault.kept == 0)
    }
}
