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

/// Signs a digest of 32 bytes; blocks while a prompt is up.
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
    guard padding == .PKCS1 else { return errSecUnimplemented }
    let digest = NSData(bytes: dataToSign, length: dataToSignLen)
    var error: Unmanaged<CFError>?
    let algorithm = SecKeyAlgorithm.ecdsaSignatureDigestX962SHA256
    guard let signature = SecKeyCreateSignature(key, algorithm, digest, &error) else {
        return status(error)
    }
    guard signature.length <= sigLen.pointee else { return errSecBufferTooSmall }
    signature.getBytes(sig, length: signature.length)
    sigLen.pointee = signature.length
    return errSecSuccess
}

/// Whether a signature of a digest of 32 bytes is a key's.
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
    guard padding == .PKCS1 else { return errSecUnimplemented }
    var error: Unmanaged<CFError>?
    let isValid = SecKeyVerifySignature(
        key,
        .ecdsaSignatureDigestX962SHA256,
        NSData(bytes: signedData, length: signedDataLen),
        NSData(bytes: sig, length: sigLen),
        &error
    )
    return isValid ? errSecSuccess : status(error)
}

private func status(_ error: Unmanaged<CFError>?) -> OSStatus {
    guard let error = error?.takeRetainedValue() else { return errSecInternalComponent }
    let isOfKeychain = error.domain == NSOSStatusErrorDomain
    return isOfKeychain ? OSStatus(truncatingIfNeeded: error.code) : errSecUserCanceled
}
