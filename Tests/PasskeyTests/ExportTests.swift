import DBus
import Testing

@testable import Passkeys

@Suite struct ExportTests {
    private static func entry(
        isExportable: Bool = true,
        counter: UInt32 = 4_000_000_000
    ) -> PasskeyExport.Entry {
        var secrets = PasskeySecrets(user: [1, 2], name: "ann", displayName: "Ann")
        secrets.key = PasskeyKey()
        let passkey = Passkey(
            id: [UInt8](repeating: 7, count: 32),
            site: "example.org",
            account: "ann",
            isDiscoverable: true,
            protection: .hidden,
            isExportable: isExportable,
            counter: counter
        )
        return PasskeyExport.Entry(passkey, secrets)
    }

    @Test("A copy has all parts of a passkey, and the counter goes on from the copy's")
    @BusActor func parts() throws {
        let entry = Self.entry()
        let read = try #require(PasskeyExport(PasskeyExport([entry]).encoded)?.entries)
        #expect(read == [entry])
        #expect(read.first?.secrets.verifiedSeed == entry.secrets.verifiedSeed)
        #expect(Passkey(entry.passkey.attributes) == entry.passkey)
        let counter = try #require(read.first?.passkey.counter)
        #expect(Authenticator.nextCounter(after: counter) == 4_000_000_001)
    }

    @Test("Files without a key, of another version or with too many passkeys are refused")
    func refusals() {
        let entry = Self.entry()
        var keyless = entry.secrets
        keyless.key = nil
        let other = PasskeyExport.Entry(entry.passkey, keyless)
        #expect(PasskeyExport(PasskeyExport([entry, other]).encoded) == nil)
        #expect(PasskeyExport(PasskeyExport([Self.entry(isExportable: false)]).encoded) == nil)
        let many = [PasskeyExport.Entry](repeating: entry, count: PasskeyExport.most + 1)
        #expect(PasskeyExport(PasskeyExport(many).encoded) == nil)
        #expect(PasskeyExport(PasskeyExport(Array(many.dropLast())).encoded)?.entries.count == 1000)
        #expect(PasskeyExport([0xa1, 0x01, 0x02]) == nil)
    }
}
