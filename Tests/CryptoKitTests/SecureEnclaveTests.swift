import ClientTestSupport
import CryptoKit
import Foundation
import LocalAuthentication
import Security
import TestSupport
import Testing

/// Tests CryptoKit's names with keys of the service.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct SecureEnclaveTests {
    @Test("CryptoKit verifies a signature of a service key, and the key can be loaded again")
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

    @Test("A key's point has a compact representation by default")
    func compact() async throws {
        try await ClientDesk.run { _ in
            for _ in 0..<8 {
                let key = try SecureEnclave.P256.Signing.PrivateKey()
                #expect(key.publicKey.compactRepresentation != nil)
            }
            // Keys without a compact representation have been deleted.
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
                // The chance that all 64 points have a compact representation is 1 in 2^64.
                guard key.publicKey.compactRepresentation != nil, any < 64 else { break }
            }
            #expect(any < 64)
        }
    }

    @Test("A guarded key prompts, and reports the user's cancel")
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

    @Test("A service key and a CryptoKit key derive equal secrets")
    func agreement() async throws {
        try await ClientDesk.run { _ in
            let ours = try SecureEnclave.P256.KeyAgreement.PrivateKey()
            let theirs = P256.KeyAgreement.PrivateKey()
            let info = Data("session".utf8)
            let one = try ours.sharedSecretFromKeyAgreement(with: theirs.publicKey)
            let other = try theirs.sharedSecretFromKeyAgreement(with: ours.publicKey)
            #expect(one == other)
            func derived(_ secret: SharedSecret) -> SymmetricKey {
                secret.hkdfDerivedSymmetricKey(
                    using: SHA256.self,
                    salt: Data(),
                    sharedInfo: info,
                    outputByteCount: 32
                )
            }
            #expect(derived(one) == derived(other))
        }
    }

    @Test("Without the service the Secure Enclave is unavailable")
    func away() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { _ in
            #expect(!SecureEnclave.isAvailable)
            #expect(throws: (any Error).self) { try SecureEnclave.P256.Signing.PrivateKey() }
        }
    }
}
