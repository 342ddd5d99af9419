// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import DBus
public import Foundation
internal import LocalAuthClient

extension SecKeyAlgorithm {
    private static let signing: [SecKeyAlgorithm: String] = [
        .ecdsaSignatureMessageX962SHA256: "ecdsa-message-sha256",
        .ecdsaSignatureDigestX962SHA256: "ecdsa-digest-sha256",
    ]
    /// The cofactor of P-256 is 1, so both variants of the exchange are equal.
    private static let agreeing: [SecKeyAlgorithm: String] = [
        .ecdhKeyExchangeStandard: "ecdh",
        .ecdhKeyExchangeCofactor: "ecdh",
        .ecdhKeyExchangeStandardX963SHA256: "ecdh-x963-sha256",
        .ecdhKeyExchangeCofactorX963SHA256: "ecdh-x963-sha256",
    ]
    private static let encrypting: [SecKeyAlgorithm: String] = [
        .eciesEncryptionCofactorVariableIVX963SHA256AESGCM:
            "ecies-cofactor-x963-sha256-aesgcm",
        .eciesEncryptionStandardVariableIVX963SHA256AESGCM:
            "ecies-cofactor-x963-sha256-aesgcm",
    ]

    /// Returns the algorithm's wire name.
    ///
    /// - Throws: `errSecParam`.
    func word(for operation: SecKeyOperationType) throws(KeychainFailure) -> String {
        let words =
            switch operation {
            case .sign, .verify: Self.signing
            case .encrypt, .decrypt: Self.encrypting
            case .keyExchange: Self.agreeing
            }
        guard let word = words[self] else { throw SoftwareKey.unsupported(self) }
        return word
    }
}

/// Whether a key supports an operation with an algorithm.
public func SecKeyIsAlgorithmSupported(
    _ key: SecKey,
    _ operation: SecKeyOperationType,
    _ algorithm: SecKeyAlgorithm
) -> Bool {
    let isPublic = operation == .verify || operation == .encrypt
    guard key.isInService, !isPublic else {
        return key.software?.supports(operation, algorithm) ?? false
    }
    return RemoteKeychain.supports(operation, algorithm)
}

/// Signs data with a private key; blocks while a prompt is open.
///
/// The error pointer is part of Apple's signature.
public func SecKeyCreateSignature(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ dataToSign: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    let data = [UInt8](Data(referencing: dataToSign))
    return handOut(error) { () throws(KeychainFailure) in
        if !key.isInService { return try key.half().sign(Data(data), algorithm) as NSData }
        let id = try key.privateID("osgn")
        let signature = try waiting { () async throws(KeychainFailure) in
            try await RemoteKeychain().sign(id, algorithm, data, key.promptOptions)
        }
        return Data(signature) as NSData
    }
}

/// Verifies a signature.
///
/// No prompt.
///
/// The error pointer is part of Apple's signature.
public func SecKeyVerifySignature(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ signedData: CFData,
    _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    let (data, signature) = (Data(referencing: signedData), Data(referencing: signature))
    let isValid: Bool? = handOut(error) { () throws(KeychainFailure) in
        guard try key.half().verify(signature, of: data, algorithm) else {
            throw KeychainFailure(errSecVerifyFailed, "The signature is not this key's.")
        }
        return true
    }
    return isValid ?? false
}

/// Encrypts data for the holder of the private key.
///
/// No prompt.
///
/// The error pointer is part of Apple's signature.
public func SecKeyCreateEncryptedData(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ plaintext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    let data = Data(referencing: plaintext)
    return handOut(error) { () throws(KeychainFailure) in
        try key.half().encrypt(data, algorithm) as NSData
    }
}

/// Decrypts data with a private key; blocks while a prompt is open.
///
/// The error pointer is part of Apple's signature.
public func SecKeyCreateDecryptedData(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ ciphertext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    let data = [UInt8](Data(referencing: ciphertext))
    return handOut(error) { () throws(KeychainFailure) in
        if !key.isInService { return try key.half().decrypt(Data(data), algorithm) as NSData }
        let id = try key.privateID("ock")
        let plain = try waiting { () async throws(KeychainFailure) in
            try await RemoteKeychain().decrypt(id, algorithm, data, key.promptOptions)
        }
        return Data(plain) as NSData
    }
}

/// Derives a shared secret with another key; blocks while a prompt is open.
///
/// The error pointer is part of Apple's signature.
///
/// - Parameters:
///   - privateKey: The caller's key.
///   - algorithm: A key exchange algorithm.
///   - publicKey: The other party's key.
///   - parameters: ``SecKeyKeyExchangeParameter/requestedSize`` and
///     ``SecKeyKeyExchangeParameter/sharedInfo``, for algorithms with a key derivation.
///   - error: Receives the error.
/// - Returns: The secret.
public func SecKeyCopyKeyExchangeResult(
    _ privateKey: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ publicKey: SecKey,
    _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    let size = (parameters[SecKeyKeyExchangeParameter.requestedSize.name] as? NSNumber)?.intValue
    let given = parameters[SecKeyKeyExchangeParameter.sharedInfo.name] ?? Data()
    return handOut(error) { () throws(KeychainFailure) in
        guard let info = given as? Data else { throw ItemDictionary.wrong("sharedInfo") }
        let point = [UInt8](try publicKey.half().publicBytes)
        guard privateKey.isInService else {
            return try privateKey.half()
                .agree(
                    with: Data(point),
                    algorithm,
                    size: size,
                    info: info
                ) as NSData
        }
        let id = try privateKey.privateID("ock")
        let secret = try waiting { () async throws(KeychainFailure) in
            try await RemoteKeychain()
                .agree(
                    id,
                    algorithm,
                    point,
                    size: size,
                    info: [UInt8](info),
                    privateKey.promptOptions
                )
        }
        return Data(secret) as NSData
    }
}

extension SecKey {
    /// - Throws: `errSecParam` without a private half; LAError -1009 if the access control does not
    ///   allow the operation, which has Apple's name.
    fileprivate func privateID(_ operation: String) throws(KeychainFailure) -> String {
        guard let id else { throw KeychainFailure(errSecParam, "This needs a private key.") }
        guard isUsable else { throw .notInAccessControl(operation) }
        return id
    }

    /// Returns the key in this process, or the public half of a service key.
    ///
    /// - Throws: `errSecParam` if the public half is unknown.
    fileprivate func half() throws(KeychainFailure) -> SoftwareKey {
        guard let software else {
            throw KeychainFailure(errSecParam, "The public half of this key is not known.")
        }
        return software
    }
}
