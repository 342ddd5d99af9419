// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// What code from before 2016 calls; the pointers are part of Apple's signatures, and are used
// during each call only.

/// How data is padded; raw values are Apple's.
public struct SecPadding: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32

    /// A padding by its bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// PKCS#1, or a digest as it is for elliptic curves.
    public static let PKCS1 = Self(rawValue: 1)
    /// OAEP.
    public static let OAEP = Self(rawValue: 2)
    /// The two numbers of an elliptic curve's signature.
    public static let sigRaw = Self(rawValue: 0x4000)
    /// PKCS#1 over a SHA-1 digest.
    public static let PKCS1SHA1 = Self(rawValue: 0x8002)
    /// PKCS#1 over a SHA-224 digest.
    public static let PKCS1SHA224 = Self(rawValue: 0x8003)
    /// PKCS#1 over a SHA-256 digest.
    public static let PKCS1SHA256 = Self(rawValue: 0x8004)
    /// PKCS#1 over a SHA-384 digest.
    public static let PKCS1SHA384 = Self(rawValue: 0x8005)
    /// PKCS#1 over a SHA-512 digest.
    public static let PKCS1SHA512 = Self(rawValue: 0x8006)
}

/// Makes a key; ``SecKeyCreateRandomKey(_:_:)`` says why it can't.
///
/// - Returns: `errSecSuccess`, or why there is none.
public func SecKeyGeneratePair(
    _ parameters: CFDictionary,
    // Apple's signature has it so.
    _ publicKey: UnsafeMutablePointer<SecKey?>?,
    _ privateKey: UnsafeMutablePointer<SecKey?>?
) -> OSStatus {
    var error: Unmanaged<CFError>?
    guard let key = SecKeyCreateRandomKey(parameters, &error) else { return status(error) }
    publicKey?.pointee = SecKeyCopyPublicKey(key)
    privateKey?.pointee = key
    return errSecSuccess
}

/// Signs a digest; blocks while a prompt is up.
///
/// - Returns: `errSecSuccess`, `errSecBufferTooSmall`, or why there is no signature.
public func SecKeyRawSign(
    _ key: SecKey,
    _ padding: SecPadding,
    // Apple's signature has it so.
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

/// Whether a signature of a digest is a key's.
///
/// - Returns: `errSecSuccess`, `errSecVerifyFailed`, or why it can't be told.
public func SecKeyRawVerify(
    _ key: SecKey,
    _ padding: SecPadding,
    // Apple's signature has it so.
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

/// Encrypts for the holder of a private key of RSA.
///
/// - Returns: `errSecSuccess`, `errSecBufferTooSmall`, or why there is no cipher text.
public func SecKeyEncrypt(
    _ key: SecKey,
    _ padding: SecPadding,
    // Apple's signature has it so.
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

/// Decrypts with a private key of RSA.
///
/// - Returns: `errSecSuccess`, `errSecBufferTooSmall`, or why there is no plain text.
public func SecKeyDecrypt(
    _ key: SecKey,
    _ padding: SecPadding,
    // Apple's signature has it so.
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
    /// How a key signs a digest with this padding; nil: it doesn't.
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

    /// How RSA encrypts with this padding; nil: it doesn't here.
    fileprivate var encryption: SecKeyAlgorithm? {
        switch self {
        case .PKCS1: .rsaEncryptionPKCS1
        case .OAEP: .rsaEncryptionOAEPSHA1
        default: nil
        }
    }
}

/// Copies a result to where the caller wants it.
private func hand(
    _ result: CFData?,
    _ error: Unmanaged<CFError>?,
    // As in the functions that call it.
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
    return isOfKeychain ? OSStatus(truncatingIfNeeded: error.code) : errSecUserCanceled
}
