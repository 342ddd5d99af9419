import ClientTestSupport
import DBus
import Foundation
import LocalAuthentication
import Security
import TestSupport
import Testing

/// Tests rights, with and without a key and a secret.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct LARightTests {
    @Test("R80: A right goes from unknown to authorized and back to not authorized")
    func states() async throws {
        try await ClientDesk.run { desk in
            let right = LARight(requirement: .biometry)
            #expect(right.state == .unknown)
            #expect(right.tag == 0)
            try await right.checkCanAuthorize()
            try await desk.queue("match")
            try await right.authorize(localizedReason: "open the safe")
            #expect(right.state == .authorized)
            await right.deauthorize()
            #expect(right.state == .notAuthorized)
            try await desk.queue("match")
            try await right.authorize(localizedReason: "open the safe again")
            #expect(await desk.agent.count == 2)
        }
    }

    @Test("A right's requirement determines the policy of its prompt")
    func policies() async throws {
        try await ClientDesk.run { desk in
            let wanted: [(LAAuthenticationRequirement, UInt32)] = [
                (.default, 2), (.biometry, 1), (.biometryCurrentSet, 1),
            ]
            for (number, (requirement, policy)) in wanted.enumerated() {
                try await desk.queue("match")
                try await LARight(requirement: requirement)
                    .authorize(localizedReason: "open the safe")
                let prompt = try await desk.agent.prompt(number)
                #expect(prompt.details["policy"] == .uint32(policy))
            }
        }
    }

    @Test("A refusal leaves the right not authorized")
    func refused() async throws {
        try await ClientDesk.run { desk in
            await desk.agent.will(.cancel)
            let right = LARight()
            await #expect(throws: LAError.self) {
                try await right.authorize(localizedReason: "open the safe")
            }
            #expect(right.state == .notAuthorized)
        }
    }

    @Test("A right of the current enrolment fails after a change of the enrolment")
    func currentSet() async throws {
        try await ClientDesk.run { desk in
            let right = LARight(requirement: .biometryCurrentSet)
            try await desk.queue("match")
            try await right.authorize(localizedReason: "open the safe")
            await right.deauthorize()
            try await desk.enrollAnother()
            try await desk.queue("match")
            do {
                try await right.authorize(localizedReason: "open the safe")
                Issue.record("it was authorized")
            } catch {
                let refusal = error as? LAError
                #expect(refusal?.code == .authenticationFailed)
                #expect(refusal?.localizedDescription == "The enrolment is another than it was.")
            }
            #expect(right.state == .notAuthorized)
            #expect(await desk.agent.count == 2)
        }
    }

    @Test("A stream contains every new state")
    func updates() async throws {
        try await ClientDesk.run { desk in
            let right = LARight()
            let updates = right.stateUpdates
            try await desk.queue("match")
            try await right.authorize(localizedReason: "open the safe")
            var seen: [LARight.State] = []
            for await state in updates {
                seen.append(state)
                if state == .authorized { break }
            }
            #expect(seen == [.authorizing, .authorized])
        }
    }

    private static func refusal(of right: LARight) async -> LAError.Code? {
        do {
            try await right.checkCanAuthorize()
            return nil
        } catch {
            return (error as? LAError)?.code
        }
    }

    @Test("A check reports the reason why no authorization is possible")
    func impossible() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { desk in
            try await desk.startDaemon().startSensor(enrolling: nil)
            let right = LARight(requirement: .biometry)
            #expect(await Self.refusal(of: right) == .biometryNotEnrolled)
            #expect(await Self.refusal(of: LARight()) == nil)
            try await desk.enrollAnother()
            try await desk.waitUntilUsable()
            #expect(await Self.refusal(of: right) == nil)
            try await desk.lockBiometryOut()
            #expect(await Self.refusal(of: right) == .biometryLockout)
            #expect(right.state == .unknown)
        }
    }
}

extension LARightTests {
    private static func saved(at desk: Desk) async throws -> LAPersistedRight {
        let (right, secret) = (LARight(requirement: .biometry), Data("gold".utf8))
        let saved = try await LARightStore.shared
            .saveRight(right, identifier: "vault", secret: secret)
        try await desk.queue("match")
        return saved
    }

    @Test("A right's key and another key derive equal secrets, for each size and shared info")
    func agreement() async throws {
        try await ClientDesk.run { desk in
            let right = try await Self.saved(at: desk)
            try await right.authorize(localizedReason: "open the vault")
            let type: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            ]
            let other = try #require(SecKeyCreateRandomKey(type as CFDictionary, nil))
            let otherHalf = try #require(SecKeyCopyPublicKey(other))
            let otherPoint = try #require(SecKeyCopyExternalRepresentation(otherHalf, nil)) as Data
            let point = try await right.key.publicKey.bytes as CFData
            let isPublic = type.merging([kSecAttrKeyClass: kSecAttrKeyClassPublic]) { $1 }
            let half = try #require(SecKeyCreateWithData(point, isPublic as CFDictionary, nil))
            let algorithm = SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA256
            for (size, info) in [(16, "a"), (40, "b")] {
                let info = Data(info.utf8)
                let ours = try await right.key.exchangeKeys(
                    publicKey: otherPoint,
                    algorithm: algorithm,
                    parameters: ["requestedSize": size, "sharedInfo": info]
                )
                let parameters: [CFString: Any] = [
                    SecKeyKeyExchangeParameter.requestedSize.rawValue: size,
                    SecKeyKeyExchangeParameter.sharedInfo.rawValue: info,
                ]
                let all = parameters as CFDictionary
                let theirs = SecKeyCopyKeyExchangeResult(other, algorithm, half, all, nil)
                #expect(ours.count == size)
                #expect(ours == theirs as Data?)
            }
            #expect(right.state == .authorized)
            #expect(await desk.agent.count == 1)
        }
    }

    @Test("A right's key supports the algorithms that it reports")
    func abilities() async throws {
        try await ClientDesk.run { desk in
            let right = try await Self.saved(at: desk)
            let (key, half) = (right.key, right.key.publicKey)
            let cipher = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
            let exchange = SecKeyAlgorithm.ecdhKeyExchangeStandard
            let signature = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
            #expect(key.canSign(using: signature) && half.canVerify(using: signature))
            #expect(!key.canSign(using: cipher) && !half.canVerify(using: cipher))
            #expect(key.canDecrypt(using: cipher) && half.canEncrypt(using: cipher))
            #expect(!key.canDecrypt(using: exchange) && !half.canEncrypt(using: exchange))
            #expect(key.canExchangeKeys(using: exchange))
            #expect(!key.canExchangeKeys(using: signature))
            try await right.authorize(localizedReason: "open the vault")
            let data = Data("pay 5 to jo".utf8)
            let sealed = try await half.encrypt(data, algorithm: cipher)
            #expect(try await key.decrypt(sealed, algorithm: cipher) == data)
            #expect(right.state == .authorized)
        }
    }

    private static func loaded(_ secret: LASecret) async -> Data? {
        await withCheckedContinuation { continuation in
            secret.loadData { data, error in
                // The callback receives data or an error.
                continuation.resume(returning: error == nil ? data : nil)
            }
        }
    }

    @Test("Callbacks receive a right's secret and public key")
    func callbacks() async throws {
        try await ClientDesk.run { desk in
            let right = try await Self.saved(at: desk)
            #expect(await Self.loaded(right.secret) == nil)
            try await right.authorize(localizedReason: "open the vault")
            #expect(await Self.loaded(right.secret) == Data("gold".utf8))
            let half = right.key.publicKey
            let exported = await withCheckedContinuation { continuation in
                half.exportBytes { bytes, _ in continuation.resume(returning: bytes) }
            }
            #expect(exported?.count == 65)
            #expect(try await half.bytes == exported)
        }
    }
}
