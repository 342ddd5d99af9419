import DBus
import Passkeys
import Testing

@Suite(.timeLimit(.minutes(1))) struct InformationTests {
    /// A vault without answers of its service.
    @BusActor private final class StartingVault: PasskeyVault {
        nonisolated init() {}

        func canVerify() async -> Bool {
            await withCheckedContinuation { waiting = $0 }
        }
        func passkeys(of site: String) async throws(VaultFault) -> [Passkey] { [] }
        func verify(_ act: PasskeyAct) async throws(VaultFault) -> any PasskeyAccess {
            throw .unattended
        }
        func cancelVerification() {}

        var waiting: CheckedContinuation<Bool, Never>?
    }

    @Test("A device describes itself before browsers lose patience, while the service starts")
    @BusActor func information() async throws {
        let vault = StartingVault()
        let authenticator = Authenticator(vault)
        let begin = ContinuousClock.now
        let answer = await authenticator.answer([4])
        #expect(answer.first == 0)
        let map = CBOR(Array(answer.dropFirst()))
        #expect(map?[4]?["uv"] == .flag(true))
        #expect(ContinuousClock.now - begin < .milliseconds(2500))
        vault.waiting?.resume(returning: false)
        vault.waiting = nil
    }
}
