public import Foundation

/// What a key does, and how; ``SecKeyIsAlgorithmSupported(_:_:_:)`` says which a key can do.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    /// The name as a Swift String, which is Sendable.
    let name: String

    /// Apple's name.
    public var rawValue: CFString { name as NSString }

    /// An algorithm by its name, known or not.
    public init(rawValue: CFString) {
        name = "\(rawValue)"
    }

    private init(_ name: String) {
        self.name = "algid:" + name
    }
}

extension SecKeyAlgorithm {
    /// `algid:sign:ECDSA:message-X962:SHA256`.
    public static let ecdsaSignatureMessageX962SHA256 = Self("sign:ECDSA:message-X962:SHA256")
    /// `algid:sign:ECDSA:digest-X962:SHA256`.
    public static let ecdsaSignatureDigestX962SHA256 = Self("sign:ECDSA:digest-X962:SHA256")
    /// `algid:sign:ECDSA:digest-X962`.
    public static let ecdsaSignatureDigestX962 = Self("sign:ECDSA:digest-X962")
    /// `algid:sign:ECDSA:message-X962:SHA1`.
    public static let ecdsaSignatureMessageX962SHA1 = Self("sign:ECDSA:message-X962:SHA1")
    /// `algid:sign:ECDSA:message-X962:SHA384`.
    public static let ecdsaSignatureMessageX962SHA384 = Self("sign:ECDSA:message-X962:SHA384")
    /// `algid:sign:ECDSA:message-X962:SHA512`.
    public static let ecdsaSignatureMessageX962SHA512 = Self("sign:ECDSA:message-X962:SHA512")
    /// `algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV`.
    public static let eciesEncryptionCofactorVariableIVX963SHA256AESGCM = Self(
        "encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV"
    )
    /// `algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV`.
    public static let eciesEncryptionStandardVariableIVX963SHA256AESGCM = Self(
        "encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV"
    )
    /// `algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM`.
    public static let eciesEncryptionCofactorX963SHA256AESGCM = Self(
        "encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM"
    )
    /// `algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM`.
    public static let eciesEncryptionStandardX963SHA256AESGCM = Self(
        "encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM"
    )
    /// `algid:keyexchange:ECDH`.
    public static let ecdhKeyExchangeStandard = Self("keyexchange:ECDH")
    /// `algid:keyexchange:ECDHC`.
    public static let ecdhKeyExchangeCofactor = Self("keyexchange:ECDHC")
    /// `algid:keyexchange:ECDH:KDFX963:SHA256`.
    public static let ecdhKeyExchangeStandardX963SHA256 = Self("keyexchange:ECDH:KDFX963:SHA256")
    /// `algid:keyexchange:ECDHC:KDFX963:SHA256`.
    public static let ecdhKeyExchangeCofactorX963SHA256 = Self("keyexchange:ECDHC:KDFX963:SHA256")
    /// `algid:sign:RSA:message-PKCS1v15:SHA256`.
    public static let rsaSignatureMessagePKCS1v15SHA256 = Self("sign:RSA:message-PKCS1v15:SHA256")
    /// `algid:sign:RSA:message-PSS:SHA256:SHA256`.
    public static let rsaSignatureMessagePSSSHA256 = Self("sign:RSA:message-PSS:SHA256:SHA256")
    /// `algid:encrypt:RSA:OAEP:SHA256`.
    public static let rsaEncryptionOAEPSHA256 = Self("encrypt:RSA:OAEP:SHA256")
    /// `algid:encrypt:RSA:PKCS1`.
    public static let rsaEncryptionPKCS1 = Self("encrypt:RSA:PKCS1")
}
