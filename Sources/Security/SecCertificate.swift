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
