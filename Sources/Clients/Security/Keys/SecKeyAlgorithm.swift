public import Foundation

/// An algorithm for keys; ``SecKeyIsAlgorithmSupported(_:_:_:)`` tells which keys support it.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    /// The name as a Swift String, because NSString is not Sendable.
    let name: String

    public var rawValue: CFString { name as NSString }

    /// Creates an algorithm from its name, known or unknown.
    public init(rawValue: CFString) {
        name = "\(rawValue)"
    }

    private init(_ name: String) {
        self.name = "algid:" + name
    }
}

// Names and raw values are Apple's. A key may support only some of the algorithms.

extension SecKeyAlgorithm {
    public static let rsaSignatureRaw = Self("sign:RSA:raw")
    public static let rsaSignatureDigestPKCS1v15Raw = Self("sign:RSA:digest-PKCS1v15")
    public static let rsaSignatureDigestPKCS1v15SHA1 = Self("sign:RSA:digest-PKCS1v15:SHA1")
    public static let rsaSignatureDigestPKCS1v15SHA224 = Self("sign:RSA:digest-PKCS1v15:SHA224")
    public static let rsaSignatureDigestPKCS1v15SHA256 = Self("sign:RSA:digest-PKCS1v15:SHA256")
    public static let rsaSignatureDigestPKCS1v15SHA384 = Self("sign:RSA:digest-PKCS1v15:SHA384")
    public static let rsaSignatureDigestPKCS1v15SHA512 = Self("sign:RSA:digest-PKCS1v15:SHA512")
    public static let rsaSignatureMessagePKCS1v15SHA1 = Self("sign:RSA:message-PKCS1v15:SHA1")
    public static let rsaSignatureMessagePKCS1v15SHA224 = Self("sign:RSA:message-PKCS1v15:SHA224")
    public static let rsaSignatureMessagePKCS1v15SHA256 = Self("sign:RSA:message-PKCS1v15:SHA256")
    public static let rsaSignatureMessagePKCS1v15SHA384 = Self("sign:RSA:message-PKCS1v15:SHA384")
    public static let rsaSignatureMessagePKCS1v15SHA512 = Self("sign:RSA:message-PKCS1v15:SHA512")
    public static let rsaSignatureDigestPSSSHA1 = Self("sign:RSA:digest-PSS:SHA1:SHA1:20")
    public static let rsaSignatureDigestPSSSHA224 = Self("sign:RSA:digest-PSS:SHA224:SHA224:24")
    public static let rsaSignatureDigestPSSSHA256 = Self("sign:RSA:digest-PSS:SHA256:SHA256:32")
    public static let rsaSignatureDigestPSSSHA384 = Self("sign:RSA:digest-PSS:SHA384:SHA384:48")
    public static let rsaSignatureDigestPSSSHA512 = Self("sign:RSA:digest-PSS:SHA512:SHA512:64")
    public static let rsaSignatureMessagePSSSHA1 = Self("sign:RSA:message-PSS:SHA1:SHA1:20")
    public static let rsaSignatureMessagePSSSHA224 = Self("sign:RSA:message-PSS:SHA224:SHA224:24")
    public static let rsaSignatureMessagePSSSHA256 = Self("sign:RSA:message-PSS:SHA256:SHA256:32")
    public static let rsaSignatureMessagePSSSHA384 = Self("sign:RSA:message-PSS:SHA384:SHA384:48")
    public static let rsaSignatureMessagePSSSHA512 = Self("sign:RSA:message-PSS:SHA512:SHA512:64")
    public static let ecdsaSignatureRFC4754 = Self("sign:ECDSA:RFC4754")
    public static let ecdsaSignatureDigestX962 = Self("sign:ECDSA:digest-X962")
    public static let ecdsaSignatureDigestX962SHA1 = Self("sign:ECDSA:digest-X962:SHA1")
    public static let ecdsaSignatureDigestX962SHA224 = Self("sign:ECDSA:digest-X962:SHA224")
    public static let ecdsaSignatureDigestX962SHA256 = Self("sign:ECDSA:digest-X962:SHA256")
    public static let ecdsaSignatureDigestX962SHA384 = Self("sign:ECDSA:digest-X962:SHA384")
    public static let ecdsaSignatureDigestX962SHA512 = Self("sign:ECDSA:digest-X962:SHA512")
    public static let ecdsaSignatureMessageX962SHA1 = Self("sign:ECDSA:message-X962:SHA1")
    public static let ecdsaSignatureMessageX962SHA224 = Self("sign:ECDSA:message-X962:SHA224")
    public static let ecdsaSignatureMessageX962SHA256 = Self("sign:ECDSA:message-X962:SHA256")
    public static let ecdsaSignatureMessageX962SHA384 = Self("sign:ECDSA:message-X962:SHA384")
    public static let ecdsaSignatureMessageX962SHA512 = Self("sign:ECDSA:message-X962:SHA512")
    public static let ecdsaSignatureDigestRFC4754 = Self("sign:ECDSA:digest-RFC4754")
    public static let ecdsaSignatureDigestRFC4754SHA1 = Self("sign:ECDSA:digest-RFC4754:SHA1")
    public static let ecdsaSignatureDigestRFC4754SHA224 = Self("sign:ECDSA:digest-RFC4754:SHA224")
    public static let ecdsaSignatureDigestRFC4754SHA256 = Self("sign:ECDSA:digest-RFC4754:SHA256")
    public static let ecdsaSignatureDigestRFC4754SHA384 = Self("sign:ECDSA:digest-RFC4754:SHA384")
    public static let ecdsaSignatureDigestRFC4754SHA512 = Self("sign:ECDSA:digest-RFC4754:SHA512")
    public static let ecdsaSignatureMessageRFC4754SHA1 = Self("sign:ECDSA:message-RFC4754:SHA1")
    public static let ecdsaSignatureMessageRFC4754SHA224 = Self("sign:ECDSA:message-RFC4754:SHA224")
    public static let ecdsaSignatureMessageRFC4754SHA256 = Self("sign:ECDSA:message-RFC4754:SHA256")
    public static let ecdsaSignatureMessageRFC4754SHA384 = Self("sign:ECDSA:message-RFC4754:SHA384")
    public static let ecdsaSignatureMessageRFC4754SHA512 = Self("sign:ECDSA:message-RFC4754:SHA512")
    public static let rsaEncryptionRaw = Self("encrypt:RSA:raw")
    public static let rsaEncryptionPKCS1 = Self("encrypt:RSA:PKCS1")
    public static let rsaEncryptionOAEPSHA1 = Self("encrypt:RSA:OAEP:SHA1")
    public static let rsaEncryptionOAEPSHA224 = Self("encrypt:RSA:OAEP:SHA224")
    public static let rsaEncryptionOAEPSHA256 = Self("encrypt:RSA:OAEP:SHA256")
    public static let rsaEncryptionOAEPSHA384 = Self("encrypt:RSA:OAEP:SHA384")
    public static let rsaEncryptionOAEPSHA512 = Self("encrypt:RSA:OAEP:SHA512")
    public static let rsaEncryptionOAEPSHA1AESGCM = Self("encrypt:RSA:OAEP:SHA1:AESGCM")
    public static let rsaEncryptionOAEPSHA224AESGCM = Self("encrypt:RSA:OAEP:SHA224:AESGCM")
    public static let rsaEncryptionOAEPSHA256AESGCM = Self("encrypt:RSA:OAEP:SHA256:AESGCM")
    public static let rsaEncryptionOAEPSHA384AESGCM = Self("encrypt:RSA:OAEP:SHA384:AESGCM")
    public static let rsaEncryptionOAEPSHA512AESGCM = Self("encrypt:RSA:OAEP:SHA512:AESGCM")
    public static let eciesEncryptionStandardX963SHA1AESGCM = Self(
        "encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM"
    )
    public static let eciesEncryptionStandardX963SHA224AESGCM = Self(
        "encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM"
    )
    public static let eciesEncryptionStandardX963SHA256AESGCM = Self(
        "encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM"
    )
    public static let eciesEncryptionStandardX963SHA384AESGCM = Self(
        "encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM"
    )
    public static let eciesEncryptionStandardX963SHA512AESGCM = Self(
        "encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM"
    )
    public static let eciesEncryptionStandardVariableIVX963SHA224AESGCM = Self(
        "encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM-KDFIV"
    )
    public static let eciesEncryptionStandardVariableIVX963SHA256AESGCM = Self(
        "encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV"
    )
    public static let eciesEncryptionStandardVariableIVX963SHA384AESGCM = Self(
        "encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM-KDFIV"
    )
    public static let eciesEncryptionStandardVariableIVX963SHA512AESGCM = Self(
        "encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM-KDFIV"
    )
    public static let eciesEncryptionCofactorX963SHA1AESGCM = Self(
        "encrypt:ECIES:ECDHC:KDFX963:SHA1:AESGCM"
    )
    public static let eciesEncryptionCofactorX963SHA224AESGCM = Self(
        "encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM"
    )
    public static let eciesEncryptionCofactorX963SHA256AESGCM = Self(
        "encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM"
    )
    public static let eciesEncryptionCofactorX963SHA384AESGCM = Self(
        "encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM"
    )
    public static let eciesEncryptionCofactorX963SHA512AESGCM = Self(
        "encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM"
    )
    public static let eciesEncryptionCofactorVariableIVX963SHA224AESGCM = Self(
        "encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM-KDFIV"
    )
    public static let eciesEncryptionCofactorVariableIVX963SHA256AESGCM = Self(
        "encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV"
    )
    public static let eciesEncryptionCofactorVariableIVX963SHA384AESGCM = Self(
        "encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV"
    )
    public static let eciesEncryptionCofactorVariableIVX963SHA512AESGCM = Self(
        "encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV"
    )
    public static let ecdhKeyExchangeStandard = Self("keyexchange:ECDH")
    public static let ecdhKeyExchangeStandardX963SHA1 = Self("keyexchange:ECDH:KDFX963:SHA1")
    public static let ecdhKeyExchangeStandardX963SHA224 = Self("keyexchange:ECDH:KDFX963:SHA224")
    public static let ecdhKeyExchangeStandardX963SHA256 = Self("keyexchange:ECDH:KDFX963:SHA256")
    public static let ecdhKeyExchangeStandardX963SHA384 = Self("keyexchange:ECDH:KDFX963:SHA384")
    public static let ecdhKeyExchangeStandardX963SHA512 = Self("keyexchange:ECDH:KDFX963:SHA512")
    public static let ecdhKeyExchangeCofactor = Self("keyexchange:ECDHC")
    public static let ecdhKeyExchangeCofactorX963SHA1 = Self("keyexchange:ECDHC:KDFX963:SHA1")
    public static let ecdhKeyExchangeCofactorX963SHA224 = Self("keyexchange:ECDHC:KDFX963:SHA224")
    public static let ecdhKeyExchangeCofactorX963SHA256 = Self("keyexchange:ECDHC:KDFX963:SHA256")
    public static let ecdhKeyExchangeCofactorX963SHA384 = Self("keyexchange:ECDHC:KDFX963:SHA384")
    public static let ecdhKeyExchangeCofactorX963SHA512 = Self("keyexchange:ECDHC:KDFX963:SHA512")
}
