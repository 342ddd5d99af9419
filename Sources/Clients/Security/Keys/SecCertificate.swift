// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// This keychain supports neither certificates nor trust. The names exist so that code compiles, and
// every call fails.

public final class SecCertificate: NSObject, Sendable {
    private override init() {}
}

/// A certificate with its private key.
public final class SecIdentity: NSObject, Sendable {
    private override init() {}
}

/// The rules for checking a certificate.
public final class SecPolicy: NSObject, Sendable {
    fileprivate override init() {}
}

/// A check of certificates.
public final class SecTrust: NSObject, Sendable {
    private override init() {}
}

private let withoutCertificates = KeychainFailure(
    errSecUnimplemented,
    "There are no certificates here."
)

/// The result of a check.
public enum SecTrustResultType: UInt32, Sendable {
    /// The check has not run.
    case invalid = 0
    /// The user trusts the certificate.
    case proceed = 1
    /// The user distrusts the certificate.
    case deny = 3
    /// Trusted.
    case unspecified = 4
    /// Not trusted; the user may override.
    case recoverableTrustFailure = 5
    /// Not trusted.
    case fatalTrustFailure = 6
    case otherError = 7
}

/// Returns nil: certificates are not implemented.
public func SecCertificateCreateWithData(
    _ allocator: CFAllocator?,
    _ data: CFData
) -> SecCertificate? {
    nil
}

/// Returns no data: certificates are not implemented.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { NSData() }

/// Returns nil: certificates are not implemented.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? { nil }

/// Returns nil: certificates are not implemented.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? { nil }

/// Returns nil: certificates are not implemented.
///
/// The error pointer is part of Apple's signature.
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    handOut(error) { () throws(KeychainFailure) in throw withoutCertificates }
}

/// Returns nil: certificates are not implemented.
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    nil
}

/// Returns nil: certificates are not implemented.
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    nil
}

/// Fails: certificates are not implemented.
///
/// The call never uses the pointer.
///
/// - Returns: `errSecUnimplemented`.
public func SecCertificateCopyEmailAddresses(
    _ certificate: SecCertificate,
    _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    errSecUnimplemented
}

/// Fails: certificates are not implemented.
///
/// The call never uses the pointer.
///
/// - Returns: `errSecUnimplemented`.
public func SecCertificateCopyCommonName(
    _ certificate: SecCertificate,
    _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    errSecUnimplemented
}

/// Fails: identities are not implemented.
///
/// The call never uses the pointer.
///
/// - Returns: `errSecUnimplemented`.
public func SecIdentityCopyPrivateKey(
    _ identityRef: SecIdentity,
    _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
    errSecUnimplemented
}

/// Fails: identities are not implemented.
///
/// The call never uses the pointer.
///
/// - Returns: `errSecUnimplemented`.
public func SecIdentityCopyCertificate(
    _ identityRef: SecIdentity,
    _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    errSecUnimplemented
}

// SAFETY: NSString is not marked Sendable, but these constants are immutable.
nonisolated(unsafe) public let kSecImportExportPassphrase: CFString = "passphrase" as NSString
nonisolated(unsafe) public let kSecImportItemKeyID: CFString = "keyid" as NSString
nonisolated(unsafe) public let kSecImportItemLabel: CFString = "label" as NSString
nonisolated(unsafe) public let kSecImportItemTrust: CFString = "trust" as NSString
nonisolated(unsafe) public let kSecImportItemCertChain: CFString = "chain" as NSString
nonisolated(unsafe) public let kSecImportItemIdentity: CFString = "identity" as NSString

/// Fails: identities are not implemented.
///
/// The call never uses the pointer.
///
/// - Returns: `errSecUnimplemented`.
public func SecPKCS12Import(
    _ pkcs12_data: CFData,
    _ options: CFDictionary,
    _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    errSecUnimplemented
}

/// The default rules for a chain of certificates.
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy() }

/// The rules for a server's or a client's certificate.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy { SecPolicy() }

/// Fails: trust is not implemented.
///
/// The call never uses the pointer.
///
/// - Returns: `errSecUnimplemented`.
public func SecTrustCreateWithCertificates(
    _ certificates: CFTypeRef,
    _ policies: CFTypeRef?,
    _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    errSecUnimplemented
}

/// Returns false: trust is not implemented.
///
/// The error pointer is part of Apple's signature.
public func SecTrustEvaluateWithError(
    _ trust: SecTrust,
    _ error: UnsafeMutablePointer<CFError?>?
) -> Bool {
    error?.pointee = withoutCertificates.keyError
    return false
}

/// Fails: trust is not implemented.
///
/// The call never uses the pointer.
///
/// - Returns: `errSecUnimplemented`.
public func SecTrustEvaluate(
    _ trust: SecTrust,
    _ result: UnsafeMutablePointer<SecTrustResultType>
) -> OSStatus {
    errSecUnimplemented
}

/// Fails: trust is not implemented.
///
/// - Returns: `errSecUnimplemented`.
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus {
    errSecUnimplemented
}

/// Fails: trust is not implemented.
///
/// - Returns: `errSecUnimplemented`.
public func SecTrustSetAnchorCertificates(
    _ trust: SecTrust,
    _ anchorCertificates: CFArray?
) -> OSStatus {
    errSecUnimplemented
}

/// Fails: trust is not implemented.
///
/// - Returns: `errSecUnimplemented`.
public func SecTrustSetAnchorCertificatesOnly(
    _ trust: SecTrust,
    _ anchorCertificatesOnly: Bool
) -> OSStatus {
    errSecUnimplemented
}

/// Returns nil: certificates are not implemented.
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? { nil }

/// Returns nil: certificates are not implemented.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { nil }

/// Returns 0: certificates are not implemented.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex { 0 }

/// Returns nil: certificates are not implemented.
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ ix: CFIndex) -> SecCertificate? {
    nil
}

public func SecKeyGetTypeID() -> CFTypeID { typeID(SecKey.self) }
public func SecAccessControlGetTypeID() -> CFTypeID { typeID(SecAccessControl.self) }
public func SecCertificateGetTypeID() -> CFTypeID { typeID(SecCertificate.self) }
public func SecIdentityGetTypeID() -> CFTypeID { typeID(SecIdentity.self) }
public func SecPolicyGetTypeID() -> CFTypeID { typeID(SecPolicy.self) }
public func SecTrustGetTypeID() -> CFTypeID { typeID(SecTrust.self) }
