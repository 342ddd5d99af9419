import Foundation
import Sealing
import TestSupport
import Testing

/// Tests `localauthctl seal`, which needs no service.
@Suite(.timeLimit(.minutes(5))) struct SealTests {
    private let key = SealingKey()
    private static let handle = "0123456789abcdef"
    private static let interfaces = ["org.localauth.Passcode1", "org.localauth.Keychain1"]

    private func seal(
        _ secret: [UInt8],
        key: [UInt8],
        info: String = Self.interfaces[0]
    ) throws -> ChildProcess.Ended {
        let base64 = Data(key).base64EncodedString()
        let words = ["localauthctl", "seal", "--key", base64, "--info", info, "--aad", Self.handle]
        return try ChildProcess.run(words, input: secret)
    }

    private func open(_ sealed: [UInt8], _ purpose: SealingPurpose, of holder: String) -> [UInt8]? {
        key.open(sealed, for: purpose, of: holder)?.use { $0 }
    }

    @Test("Sealed data opens only for its key, interface and holder", arguments: interfaces)
    func opens(_ info: String) throws {
        let secret = Array("pässwörd \0\n密码".utf8)
        let ended = try seal(secret, key: key.publicKey, info: info)
        #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended.errors)")
        #expect(ended.bytes.count == secret.count + SealingKey.overhead)
        let purpose = try #require(SealingPurpose(rawValue: info))
        let other: SealingPurpose = purpose == .passcode ? .keychain : .passcode
        #expect(open(ended.bytes, purpose, of: Self.handle) == secret)
        #expect(open(ended.bytes, other, of: Self.handle) == nil)
        #expect(open(ended.bytes, purpose, of: Self.handle + "0") == nil)
        #expect(SealingKey().open(ended.bytes, for: purpose, of: Self.handle) == nil)
    }

    @Test("A secret has at most 64 KiB")
    func limit() throws {
        let most = [UInt8](repeating: 7, count: 65_536)
        let sealed = try seal(most, key: key.publicKey)
        #expect(open(sealed.bytes, .passcode, of: Self.handle) == most)
        let refused = try seal(most + [7], key: key.publicKey)
        #expect(refused.status == 1 && refused.bytes.isEmpty)
        #expect(refused.errors.contains("65536"), "\(refused.errors)")
    }

    @Test(
        "An invalid key is wrong usage, reported before reading the input",
        arguments: [[], [1, 2, 3], [UInt8](repeating: 0, count: 32)]
    )
    func wrongKey(_ key: [UInt8]) throws {
        let ended = try seal([1], key: key)
        #expect(ended.status == 64 && ended.bytes.isEmpty)
        #expect(ended.errors.contains("--key"), "\(ended.errors)")
    }

    @Test("An unknown interface is wrong usage, and the message names the known interfaces")
    func wrongInterface() throws {
        let ended = try seal([1], key: key.publicKey, info: "org.localauth.Other1")
        #expect(ended.status == 64 && ended.bytes.isEmpty)
        for name in Self.interfaces {
            #expect(ended.errors.contains(name), "\(ended.errors)")
        }
    }
}
