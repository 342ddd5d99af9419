// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// Certificates and trust have no store here: these names are there so that code compiles, and say
// so when they are called.

/// A certificate; there are none here.
public final class SecCertificate: NSObject, Sendable {
    private override init() {}
}

/// A certificate with its private key; there are none here.
public final class SecIdentity: NSObject, Sendable {
    private override init() {}
}

/// What a certificate is checked for.
public final class SecPolicy: NSObject, Sendable {
    fileprivate override init() {}
}

/// A check of certificates; there is none here.
public final class SecTrust: NSObject, Sendable {
    private override init() {}
}

/// How a check ended.
public enum SecTrustResultType: UInt32, Sendable {
    /// It wasn't made.
    case invalid = 0
    /// Trusted, because the user says so.
    case proceed = 1
    /// Not trusted, because the user says so.
    case deny = 3
    /// Trusted.
    case unspecified = 4
    /// Not trusted, unless somebody says so.
    case recoverableTrustFailure = 5
    /// Not trusted.
    case fatalTrustFailure = 6
    /// Something else failed.
    case otherError = 7
}

/// No certificate: they aren't implemented.
public func SecCertificateCreateWithData(
    _ allocator: CFAllocator?,
    _ data: CFData
) -> SecCertificate? {
    nil
}

/// Nothing: there are no certificates.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { NSData() }

/// No key: there are no certificates.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? { nil }

/// Nothing: there are no certificates.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? { nil }

/// Nothing: there are no certificates.
///
/// The pointer is part of Apple's signature; nothing is written to it.
///
/// - Returns: `errSecUnimplemented`.
public func SecCertificateCopyCommonName(
    _ certificate: SecCertificate,
    // Apple's signature has it so.
    _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    errSecUnimplemented
}

/// No key: there are no identities.
///
/// The pointer is part of Apple's signature; nothing is written to it.
///
/// - Returns: `errSecUnimplemented`.
public func SecIdentityCopyPrivateKey(
    _ identityRef: SecIdentity,
    // Apple's signature has it so.
    _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
    errSecUnimplemented
}

/// No certificate: there are no identities.
///
/// The pointer is part of Apple's signature; nothing is written to it.
///
/// - Returns: `errSecUnimplemented`.
public func SecIdentityCopyCertificate(
    _ identityRef: SecIdentity,
    // Apple's signature has it so.
    _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    errSecUnimplemented
}

/// The text `passphrase`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecImportExportPassphrase: CFString = "passphrase" as NSString
/// The text `keyid`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecImportItemKeyID: CFString = "keyid" as NSString
/// The text `label`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecImportItemLabel: CFString = "label" as NSString
/// The text `trust`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecImportItemTrust: CFString = "trust" as NSString
/// The text `chain`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecImportItemCertChain: CFString = "chain" as NSString
/// The text `identity`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecImportItemIdentity: CFString = "identity" as NSString

/// Nothing: identities can't be kept here.
///
/// The pointer is part of Apple's signature; nothing is written to it.
///
/// - Returns: `errSecUnimplemented`.
public func SecPKCS12Import(
    _ pkcs12_data: CFData,
    _ options: CFDictionary,
    // Apple's signature has it so.
    _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    errSecUnimplemented
}

/// The ordinary check of a chain of certificates.
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy() }

/// The check of a server's or a client's certificate.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy { SecPolicy() }

/// No check: they aren't implemented.
///
/// The pointer is part of Apple's signature; nothing is written to it.
///
/// - Returns: `errSecUnimplemented`.
public func SecTrustCreateWithCertificates(
    _ certificates: CFTypeRef,
    _ policies: CFTypeRef?,
    // Apple's signature has it so.
    _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    errSecUnimplemented
}

/// Not trusted: checks aren't implemented.
///
/// The error pointer is part of Apple's signature.
public func SecTrustEvaluateWithError(
    _ trust: SecTrust,
    _ error: UnsafeMutablePointer<CFError?>?
) -> Bool {
    error?.pointee = NSError(status: errSecUnimplemented, "There are no certificates here.")
    return false
}

/// Not checked: checks aren't implemented.
///
/// The pointer is part of Apple's signature; nothing is written to it.
///
/// - Returns: `errSecUnimplemented`.
public func SecTrustEvaluate(
    _ trust: SecTrust,
    // Apple's signature has it so.
    _ result: UnsafeMutablePointer<SecTrustResultType>
) -> OSStatus {
    errSecUnimplemented
}

/// Nothing to check by: checks aren't implemented.
///
/// - Returns: `errSecUnimplemented`.
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus {
    errSecUnimplemented
}

/// No certificates to rest on: checks aren't implemented.
///
/// - Returns: `errSecUnimplemented`.
public func SecTrustSetAnchorCertificates(
    _ trust: SecTrust,
    _ anchorCertificates: CFArray?
) -> OSStatus {
    errSecUnimplemented
}

/// No certificates to rest on: checks aren't implemented.
///
/// - Returns: `errSecUnimplemented`.
public func SecTrustSetAnchorCertificatesOnly(
    _ trust: SecTrust,
    _ anchorCertificatesOnly: Bool
) -> OSStatus {
    errSecUnimplemented
}

/// No key: there are no certificates.
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? { nil }

/// No chain: there are no certificates.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { nil }

/// None: there are no certificates.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex { 0 }

/// None: there are no certificates.
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ ix: CFIndex) -> SecCertificate? {
    nil
}

/// The type of keys.
public func SecKeyGetTypeID() -> CFTypeID { typeID(SecKey.self) }
/// The type of access controls.
public func SecAccessControlGetTypeID() -> CFTypeID { typeID(SecAccessControl.self) }
/// The type of certificates.
public func SecCertificateGetTypeID() -> CFTypeID { typeID(SecCertificate.self) }
/// The type of identities.
public func SecIdentityGetTypeID() -> CFTypeID { typeID(SecIdentity.self) }
/// The type of policies.
public func SecPolicyGetTypeID() -> CFTypeID { typeID(SecPolicy.self) }
/// The type of checks.
public func SecTrustGetTypeID() -> CFTypeID { typeID(SecTrust.self) }
