// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// The proof that an item or key requires; raw values are Apple's.
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
    public let rawValue: CFOptionFlags

    public init(rawValue: CFOptionFlags) {
        self.rawValue = rawValue
    }

    /// Biometry or the password.
    public static let userPresence = Self(rawValue: 1 << 0)
    /// Biometry; the item survives changes of the enrolment.
    public static let biometryAny = Self(rawValue: 1 << 1)
    /// Biometry; any change of the enrolment deletes the item.
    public static let biometryCurrentSet = Self(rawValue: 1 << 3)
    /// The password.
    public static let devicePasscode = Self(rawValue: 1 << 4)
    public static let companion = Self(rawValue: 1 << 5)
    /// Combines constraints: one is enough.
    public static let or = Self(rawValue: 1 << 14)
    /// Combines constraints: all are required.
    public static let and = Self(rawValue: 1 << 15)
    /// Applies to uses of a private key.
    public static let privateKeyUsage = Self(rawValue: 1 << 30)
    /// Additionally requires a password that the app chooses.
    public static let applicationPassword = Self(rawValue: 1 << 31)
    /// The older name of ``biometryAny``.
    public static let touchIDAny = biometryAny
    /// The older name of ``biometryCurrentSet``.
    public static let touchIDCurrentSet = biometryCurrentSet
    /// The older name of ``companion``.
    public static let watch = companion
}

/// The protection of an item or a key.
public final class SecAccessControl: NSObject, Sendable {
    package let flags: SecAccessControlCreateFlags
    /// The accessibility in wire format.
    package let accessible: String

    init(flags: SecAccessControlCreateFlags, accessible: String) {
        self.flags = flags
        self.accessible = accessible
    }
}

/// Creates an access control; nil if the flags contradict each other.
///
/// The error pointer is part of Apple's signature.
///
/// - Parameters:
///   - allocator: Ignored.
///   - protection: One of the `kSecAttrAccessible…` texts.
///   - flags: The required proof; empty: none.
///   - error: Receives `errSecParam` with a sentence.
/// - Returns: The access control (rules R60 to R65).
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?,
    _ protection: CFTypeRef,
    _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    func refuse(_ sentence: String) -> SecAccessControl? {
        error?.pointee = .passRetained(NSError(status: errSecParam, sentence))
        return nil
    }
    let known: Set<String> = ["ak", "ck", "dk", "aku", "cku", "dku", "akpu"]
    guard let text = protection as? NSString, known.contains("\(text)") else {
        return refuse("SecAccessControl: invalid protection")
    }
    if let sentence = flags.contradiction { return refuse(sentence) }
    return SecAccessControl(flags: flags, accessible: "\(text)")
}

extension SecAccessControlCreateFlags {
    private static let every: Self = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and,
        .privateKeyUsage, .applicationPassword,
    ]

    /// The reason why the flags contradict each other, or nil.
    fileprivate var contradiction: String? {
        if !isSubset(of: Self.every) { return "SecAccessControl: invalid flags" }
        if isSuperset(of: [.or, .and]) { return "only one logical operation can be set" }
        if isSuperset(of: [.biometryAny, .biometryCurrentSet]) {
            return "at most one bio constraint can be set"
        }
        let beside: Self = [.userPresence, .applicationPassword, .privateKeyUsage]
        if contains(.userPresence), !isSubset(of: beside) {
            return "kSecAccessControlUserPresence can be combined only with "
                + "kSecAccessControlApplicationPassword and kSecAccessControlPrivateKeyUsage"
        }
        return nil
    }
}

extension NSError {
    /// Creates an error from a status, in the format of Apple's keychain.
    convenience init(status: OSStatus, _ sentence: String) {
        self.init(
            domain: NSOSStatusErrorDomain,
            code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: sentence]
        )
    }
}
