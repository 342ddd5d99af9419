import DBus
import Glibc
import KeychainStore
import Linux
import TestSupport
import Testing

@testable import AuthService

@Suite("Secrets that an app lends")
struct CredentialTests {
    /// `F_ADD_SEALS`, and `F_SEAL_SHRINK`, `F_SEAL_GROW` and `F_SEAL_WRITE`.
    private static let addSeals: Int32 = 1033
    private static let seals: [Int32] = [2, 4, 8]

    @Test("A secret is taken from memory that can't shrink, grow or be written, and no other")
    func seals() throws {
        for seals in 0..<(1 << Self.seals.count) {
            let memory = try sealed("word", isSealed: false)
            let chosen = Self.seals.indices.filter { seals & 1 << $0 != 0 }
            let added = chosen.reduce(Int32(0)) { $0 | Self.seals[$1] }
            try #require(fcntl(memory.rawValue, Self.addSeals, added) == 0)
            let secret = Result { try SecretBytes(sealed: memory) }
            if chosen.count == Self.seals.count {
                _ = try secret.get()
            } else {
                #expect(throws: DBusError.self, "\(added)") { try secret.get() }
            }
        }
    }

    @Test("A secret has at most 64 KiB")
    func size() throws {
        let most = KeychainStore.secretLimit
        _ = try SecretBytes(sealed: sealed([UInt8](repeating: 1, count: most)))
        let memory = try sealed([UInt8](repeating: 1, count: most + 1))
        let error = #expect(throws: DBusError.self) { try SecretBytes(sealed: memory) }
        #expect(error?.name == .limitsExceeded)
    }

    @Test("A packet of 64 KiB is a secret, and none is the beginning of a longer one")
    func packets() throws {
        let most = KeychainStore.secretLimit
        for size in [0, 1, most, most + 1] {
            let pair = try SocketPair.make()
            let packet = [UInt8](repeating: 1, count: size)
            if size > 0 {
                let sent = send(pair.theirs.rawValue, packet, size, Int32(MSG_NOSIGNAL))
                try #require(sent == size)
            }
            if size > most {
                let error = #expect(throws: DBusError.self) {
                    try SecretBytes(packetOn: pair.ours)
                }
                #expect(error?.name == .limitsExceeded)
            } else {
                #expect(try (SecretBytes(packetOn: pair.ours)?.count ?? 0) == size)
            }
        }
    }
}
