import ClientTestSupport
import CryptoKit
import Foundation
import LocalAuthentication
import Security
import TestSupport
import Testing

/// CryptoKit's names, over the keys of the service.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct SecureEnclaveTests {
    @Test("A key of the service signs what CryptoKit verifies, and is found again")
    func signing() async throws {
        try await ClientDesk.run { _ in
            #expect(SecureEnclave.isAvailable)
            let key = try SecureEnclave.P256.Signing.PrivateKey()
            let message = Data("pay 5 to jo".utf8)
            let signature = try key.signature(for: message)
            #expect(key.publicKey.isValidSignature(signature, for: message))
            let again = try SecureEnclave.P256.Signing.PrivateKey(
                dataRepresentation: key.dataRepresentation
            )
            let ofDigest = try again.signature(for: SHA256.hash(data: message))
            #expect(key.publicKey.isValidSignature(ofDigest, for: message))
            let all: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: SecureEnclave.tag,
            ]
            #expect(SecItemDelete(all as CFDictionary) == errSecSuccess)
            #expect(throws: (any Error).self) { try again.signature(for: message) }
            #expect(throws: (any Error).self) {
                try SecureEnclave.P256.Signing.PrivateKey(
                    dataRepresentation: key.dataRepresentation
                )
            }
        }
    }

    @Test("A key's point has a compact representation, unless that isn't asked for")
    func compact() async throws {
        try await ClientDesk.run { _ in
            for _ in 0..<8 {
                let key = try SecureEnclave.P256.Signing.PrivateKey()
                #expect(key.publicKey.compactRepresentation != nil)
            }
            // Those that had none were deleted again.
            let all: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: SecureEnclave.tag,
                kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
            ]
            var found: CFTypeRef?
            #expect(SecItemCopyMatching(all as CFDictionary, &found) == errSecSuccess)
            #expect((found as? NSArray)?.count == 8)
            var any = 0
            while true {
                let key = try SecureEnclave.P256.KeyAgreement.PrivateKey(
                    compactRepresentable: false
                )
                any += 1
                // Of 64 keys one has none, but for a chance of 1 in 2^64.
                guard key.publicKey.compactRepresentation != nil, any < 64 else { break }
            }
            #expect(any < 64)
        }
    }

    @Test("A guarded key asks, and says that the person canceled")
    func guarded() async throws {
        try await ClientDesk.run { desk in
            let control = try #require(
                SecAccessControlCreateWithFlags(
                    nil,
                    kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
                    [.privateKeyUsage, .biometryAny],
                    nil
                )
            )
            let key = try SecureEnclave.P256.Signing.PrivateKey(accessControl: control)
            await desk.agent.will(.cancel)
            let error = #expect(throws: NSError.self) { try key.signature(for: Data([1])) }
            #expect(error?.domain == LAErrorDomain)
            #expect(error?.code == LAError.Code.userCancel.rawValue)
            await desk.agent.will(.wait)
            try await desk.queue("match")
            let signature = try key.signature(for: Data([1]))
            #expect(key.publicKey.isValidSignature(signature, for: Data([1])))
        }
    }

    @Test("A key of the service agrees with one of CryptoKit's on a secret")
    func agreement() async throws {
        try await ClientDesk.run { _ in
            let ours = try SecureEnclave.P256.KeyAgreement.PrivateKey()
            let theirs = P256.KeyAgreement.PrivateKey()
            let info = Data("session".utf8)
            let one = try ours.x963DerivedSymmetricKey(
                with: theirs.publicKey,
                sharedInfo: info,
                outputByteCount: 32
            )
            let other = try theirs.sharedSecretFromKeyAgreement(with: ours.publicKey)
                .x963DerivedSymmetricKey(
                    using: SHA256.self,
                    sharedInfo: info,
                    outputByteCount: 32
                )
            #expect(one == other)
        }
    }

    @Test("Without the service there is no enclave")
    func away() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { _ in
            #expect(!SecureEnclave.isAvailable)
            #expect(throws: (any Error).self) { try SecureEnclave.P256.Signing.PrivateKey() }
        }
    }
}
