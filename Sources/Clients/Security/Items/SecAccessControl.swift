// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// What is asked of the person before an item is read or a key is used; raw values are Apple's.
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: CFOptionFlags

    /// Flags by their bits.
    public init(rawValue: CFOptionFlags) {
        self.rawValue = rawValue
    }

    /// Biometry or the passcode.
    public static let userPresence = Self(rawValue: 1 << 0)
    /// Biometry; an item survives changes of the enrolment.
    public static let biometryAny = Self(rawValue: 1 << 1)
    /// Biometry; an item is deleted after any change of the enrolment.
    public static let biometryCurrentSet = Self(rawValue: 1 << 3)
    /// The passcode.
    public static let devicePasscode = Self(rawValue: 1 << 4)
    /// A companion device.
    public static let companion = Self(rawValue: 1 << 5)
    /// One constraint is enough.
    public static let or = Self(rawValue: 1 << 14)
    /// Every constraint is needed.
    public static let and = Self(rawValue: 1 << 15)
    /// Guards the use of a private key.
    public static let privateKeyUsage = Self(rawValue: 1 << 30)
    /// A password of the app is needed as well.
    public static let applicationPassword = Self(rawValue: 1 << 31)
    /// The older name of ``biometryAny``.
    public static let touchIDAny = biometryAny
    /// The older name of ``biometryCurrentSet``.
    public static let touchIDCurrentSet = biometryCurrentSet
    /// The older name of ``companion``.
    public static let watch = companion
}

/// What guards an item or a key.
public final class SecAccessControl: NSObject, Sendable {
    /// What is asked of the person.
    package let flags: SecAccessControlCreateFlags
    /// When it may be read, as the wire says it.
    package let accessible: String

    init(flags: SecAccessControlCreateFlags, accessible: String) {
        self.flags = flags
        self.accessible = accessible
    }
}

/// An access control; nil when its parts can't be combined.
///
/// The error pointer is part of Apple's signature.
///
/// - Parameters:
///   - allocator: Not used.
///   - protection: One of the `kSecAttrAccessible…` texts.
///   - flags: What is asked of the person; empty: nothing.
///   - error: Gets `errSecParam` and a sentence.
/// - Returns: The access control.
/// Source: R60 to R65.
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

    /// Why the flags can't be combined; nil when they can.
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
    /// An outcome as an error, as Apple's keychain makes them.
    convenience init(status: OSStatus, _ sentence: String) {
        self.init(
            domain: NSOSStatusErrorDomain,
            code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: sentence]
        )
    }
}
