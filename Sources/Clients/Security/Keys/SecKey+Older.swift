// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// The API of code from before 2016. The pointers are part of Apple's signatures, and are used
// during each call only.

/// The padding of data; raw values are Apple's.
public struct SecPadding: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// PKCS#1; for elliptic curves a digest without padding.
    public static let PKCS1 = Self(rawValue: 1)
    public static let OAEP = Self(rawValue: 2)
    /// The two raw numbers of an elliptic curve signature.
    public static let sigRaw = Self(rawValue: 0x4000)
    /// PKCS#1 with a SHA-1 digest.
    public static let PKCS1SHA1 = Self(rawValue: 0x8002)
    /// PKCS#1 with a SHA-224 digest.
    public static let PKCS1SHA224 = Self(rawValue: 0x8003)
    /// PKCS#1 with a SHA-256 digest.
    public static let PKCS1SHA256 = Self(rawValue: 0x8004)
    /// PKCS#1 with a SHA-384 digest.
    public static let PKCS1SHA384 = Self(rawValue: 0x8005)
    /// PKCS#1 with a SHA-512 digest.
    public static let PKCS1SHA512 = Self(rawValue: 0x8006)
}

/// Generates a key pair; ``SecKeyCreateRandomKey(_:_:)`` reports errors in more detail.
///
/// - Returns: `errSecSuccess` or an error.
public func SecKeyGeneratePair(
    _ parameters: CFDictionary,
    _ publicKey: UnsafeMutablePointer<SecKey?>?,
    _ privateKey: UnsafeMutablePointer<SecKey?>?
) -> OSStatus {
    var error: Unmanaged<CFError>?
    guard let key = SecKeyCreateRandomKey(parameters, &error) else { return status(error) }
    publicKey?.pointee = SecKeyCopyPublicKey(key)
    privateKey?.pointee = key
    return errSecSuccess
}

/// Signs a digest; blocks while a prompt is open.
///
/// - Returns: `errSecSuccess`, `errSecBufferTooSmall` or another error.
public func SecKeyRawSign(
    _ key: SecKey,
    _ padding: SecPadding,
    _ dataToSign: UnsafePointer<UInt8>,
    _ dataToSignLen: Int,
    _ sig: UnsafeMutablePointer<UInt8>,
    _ sigLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    guard let algorithm = padding.signature(by: key) else { return errSecUnimplemented }
    let digest = NSData(bytes: dataToSign, length: dataToSignLen)
    var error: Unmanaged<CFError>?
    let signature = SecKeyCreateSignature(key, algorithm, digest, &error)
    return hand(signature, error, sig, sigLen)
}

/// Verifies a signature of a digest.
///
/// - Returns: `errSecSuccess`, `errSecVerifyFailed` or another error.
public func SecKeyRawVerify(
    _ key: SecKey,
    _ padding: SecPadding,
    _ signedData: UnsafePointer<UInt8>,
    _ signedDataLen: Int,
    _ sig: UnsafePointer<UInt8>,
    _ sigLen: Int
) -> OSStatus {
    guard let algorithm = padding.signature(by: key) else { return errSecUnimplemented }
    var error: Unmanaged<CFError>?
    let isValid = SecKeyVerifySignature(
        key,
        algorithm,
        NSData(bytes: signedData, length: signedDataLen),
        NSData(bytes: sig, length: sigLen),
        &error
    )
    return isValid ? errSecSuccess : status(error)
}

/// Encrypts data with an RSA public key.
///
/// - Returns: `errSecSuccess`, `errSecBufferTooSmall` or another error.
public func SecKeyEncrypt(
    _ key: SecKey,
    _ padding: SecPadding,
    _ plainText: UnsafePointer<UInt8>,
    _ plainTextLen: Int,
    _ cipherText: UnsafeMutablePointer<UInt8>,
    _ cipherTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    guard let algorithm = padding.encryption else { return errSecUnimplemented }
    let data = NSData(bytes: plainText, length: plainTextLen)
    var error: Unmanaged<CFError>?
    let sealed = SecKeyCreateEncryptedData(key, algorithm, data, &error)
    return hand(sealed, error, cipherText, cipherTextLen)
}

/// Decrypts data with an RSA private key.
///
/// - Returns: `errSecSuccess`, `errSecBufferTooSmall` or another error.
public func SecKeyDecrypt(
    _ key: SecKey,
    _ padding: SecPadding,
    _ cipherText: UnsafePointer<UInt8>,
    _ cipherTextLen: Int,
    _ plainText: UnsafeMutablePointer<UInt8>,
    _ plainTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    guard let algorithm = padding.encryption else { return errSecUnimplemented }
    let data = NSData(bytes: cipherText, length: cipherTextLen)
    var error: Unmanaged<CFError>?
    let opened = SecKeyCreateDecryptedData(key, algorithm, data, &error)
    return hand(opened, error, plainText, plainTextLen)
}

extension SecPadding {
    /// The signature algorithm for a digest with this padding; nil if unsupported.
    fileprivate func signature(by key: SecKey) -> SecKeyAlgorithm? {
        guard key.software?.kind == .rsa else {
            return switch self {
            case .PKCS1: .ecdsaSignatureDigestX962
            case .sigRaw: .ecdsaSignatureRFC4754
            default: nil
            }
        }
        return switch self {
        case .PKCS1: .rsaSignatureDigestPKCS1v15Raw
        case .PKCS1SHA224: .rsaSignatureDigestPKCS1v15SHA224
        case .PKCS1SHA1: .rsaSignatureDigestPKCS1v15SHA1
        case .PKCS1SHA256: .rsaSignatureDigestPKCS1v15SHA256
        case .PKCS1SHA384: .rsaSignatureDigestPKCS1v15SHA384
        case .PKCS1SHA512: .rsaSignatureDigestPKCS1v15SHA512
        default: nil
        }
    }

    /// The RSA encryption algorithm with this padding; nil if unsupported.
    fileprivate var encryption: SecKeyAlgorithm? {
        switch self {
        case .PKCS1: .rsaEncryptionPKCS1
        case .OAEP: .rsaEncryptionOAEPSHA1
        default: nil
        }
    }
}

/// Copies a result to the caller's buffer.
private func hand(
    _ result: CFData?,
    _ error: Unmanaged<CFError>?,
    // SAFETY: the caller of each function above guarantees room for `count` bytes.
    _ bytes: UnsafeMutablePointer<UInt8>,
    _ count: UnsafeMutablePointer<Int>
) -> OSStatus {
    guard let result else { return status(error) }
    guard result.length <= count.pointee else { return errSecBufferTooSmall }
    result.getBytes(bytes, length: result.length)
    count.pointee = result.length
    return errSecSuccess
}

private func status(_ error: Unmanaged<CFError>?) -> OSStatus {
    guard let error = error?.takeRetainedValue() else { return errSecInternalComponent }
    let isOfKeychain = error.domain == NSOSStatusErrorDomain
    if isOfKeychain { return OSStatus(truncatingIfNeeded: error.code) }
    return error.code == -2 ? errSecUserCanceled : errSecAuthFailed
}
