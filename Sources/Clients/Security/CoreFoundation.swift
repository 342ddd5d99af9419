// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals

// Core Foundation names that the keychain's API needs. Foundation on Linux has the classes, but not
// these names.
public import Foundation

public typealias CFTypeRef = AnyObject
public typealias CFString = NSString
public typealias CFDictionary = NSDictionary
public typealias CFMutableDictionary = NSMutableDictionary
public typealias CFArray = NSArray
public typealias CFData = NSData
public typealias CFDate = NSDate
public typealias CFError = NSError
public typealias CFBoolean = NSNumber
public typealias CFNumber = NSNumber
public typealias CFOptionFlags = UInt
public typealias CFIndex = Int
public typealias CFErrorDomain = CFString
/// Four characters in a number, for example an item's creator.
public typealias FourCharCode = UInt32
public typealias OSType = FourCharCode

/// The type of Apple's error parameters: nil, or `&error` of an `NSError?`.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// The type of the allocator parameters, which have no effect.
public final class CFAllocator: Sendable {
    fileprivate init() {}
}

/// The only allocator.
public let kCFAllocatorDefault: CFAllocator? = CFAllocator()

/// True; implicitly unwrapped, as Apple declares it.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
/// False; implicitly unwrapped, as Apple declares it.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)

public typealias CFTypeID = UInt
public typealias CFHashCode = UInt

// SAFETY: immutable NSStrings, which are not marked Sendable.
nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString = "CFBundleIdentifier" as NSString
nonisolated(unsafe) public let kCFErrorDomainOSStatus: CFErrorDomain! =
    NSOSStatusErrorDomain as NSString
nonisolated(unsafe) public let kCFErrorDomainPOSIX: CFErrorDomain! = NSPOSIXErrorDomain as NSString
nonisolated(unsafe) public let kCFErrorDomainCocoa: CFErrorDomain! = NSCocoaErrorDomain as NSString
nonisolated(unsafe) public let kCFErrorLocalizedDescriptionKey: CFString! =
    NSLocalizedDescriptionKey as NSString
nonisolated(unsafe) public let kCFErrorLocalizedFailureReasonKey: CFString! =
    NSLocalizedFailureReasonErrorKey as NSString
nonisolated(unsafe) public let kCFErrorLocalizedRecoverySuggestionKey: CFString! =
    NSLocalizedRecoverySuggestionErrorKey as NSString

/// Returns an identifier of a class, constant while the program runs.
func typeID(_ type: AnyClass) -> CFTypeID { CFTypeID(bitPattern: ObjectIdentifier(type).hashValue) }

/// The classes with a type identifier.
///
/// Foundation's private subclasses share the identifier of their superclass.
private let visibleTypes: [AnyClass] = [
    SecKey.self, SecAccessControl.self, SecCertificate.self, SecTrust.self, SecPolicy.self,
    SecIdentity.self, NSString.self, NSData.self, NSDictionary.self, NSArray.self, NSDate.self,
    NSError.self,
]

public func CFGetTypeID(_ object: CFTypeRef?) -> CFTypeID {
    guard let object else { return 0 }
    // A Boolean is an NSNumber with the Objective-C type “c”.
    if let number = object as? NSNumber {
        return number.objCType.pointee == Int8(UInt8(ascii: "c"))
            ? CFBooleanGetTypeID() : CFNumberGetTypeID()
    }
    return typeID(
        visibleTypes.first { ($0 as? NSObject.Type)?.isSuper(of: object) == true }
            ?? type(of: object)
    )
}

extension NSObject {
    fileprivate class func isSuper(of object: AnyObject) -> Bool { object is Self }
}

public func CFEqual(_ one: CFTypeRef?, _ other: CFTypeRef?) -> Bool {
    guard let one = one as? NSObject, let other = other as? NSObject else { return one === other }
    return one.isEqual(other)
}

public func CFHash(_ object: CFTypeRef?) -> CFHashCode {
    CFHashCode(bitPattern: (object as? NSObject)?.hash ?? 0)
}

public func CFStringGetTypeID() -> CFTypeID { typeID(NSString.self) }
public func CFDataGetTypeID() -> CFTypeID { typeID(NSData.self) }
public func CFDictionaryGetTypeID() -> CFTypeID { typeID(NSDictionary.self) }
public func CFArrayGetTypeID() -> CFTypeID { typeID(NSArray.self) }
public func CFDateGetTypeID() -> CFTypeID { typeID(NSDate.self) }
public func CFErrorGetTypeID() -> CFTypeID { typeID(NSError.self) }
public func CFNumberGetTypeID() -> CFTypeID { typeID(NSNumber.self) }
public func CFBooleanGetTypeID() -> CFTypeID { typeID(CFAllocator.self) }

public func CFDataGetLength(_ data: CFData?) -> CFIndex { data?.length ?? 0 }

/// The bytes of the data; valid as long as the data object lives.
public func CFDataGetBytePtr(_ data: CFData?) -> UnsafePointer<UInt8>! {
    data.map { $0.bytes.assumingMemoryBound(to: UInt8.self) }
}

/// Copies bytes; reads the pointer during this call only.
public func CFDataCreate(
    _ allocator: CFAllocator?,
    _ bytes: UnsafePointer<UInt8>?,
    _ length: CFIndex
) -> CFData? {
    NSData(bytes: bytes, length: length)
}

public func CFBooleanGetValue(_ boolean: CFBoolean) -> Bool { boolean.boolValue }

public func CFArrayGetCount(_ array: CFArray?) -> CFIndex { array?.count ?? 0 }

public func CFDictionaryGetCount(_ dictionary: CFDictionary?) -> CFIndex { dictionary?.count ?? 0 }

/// The reason for an error, if known.
public func CFErrorCopyFailureReason(_ error: CFError) -> CFString? {
    error.localizedFailureReason.map { $0 as NSString }
}

/// Advice for an error, if known.
public func CFErrorCopyRecoverySuggestion(_ error: CFError) -> CFString? {
    error.localizedRecoverySuggestion.map { $0 as NSString }
}

/// Creates an error; `userInfo` may be nil.
public func CFErrorCreate(
    _ allocator: CFAllocator?,
    _ domain: CFErrorDomain,
    _ code: CFIndex,
    _ userInfo: CFDictionary?
) -> CFError! {
    NSError(domain: "\(domain)", code: code, userInfo: userInfo as? [String: Any])
}

public func CFErrorGetCode(_ error: CFError) -> CFIndex { error.code }

public func CFErrorGetDomain(_ error: CFError) -> CFErrorDomain! { error.domain as NSString }

public func CFErrorCopyUserInfo(_ error: CFError) -> CFDictionary? {
    error.userInfo as NSDictionary
}

public func CFErrorCopyDescription(_ error: CFError) -> CFString {
    error.localizedDescription as NSString
}

// On Apple's systems `[AnyHashable: Any]` finds a text's value under NSString and String alike.
// swift-format-ignore: AvoidRetroactiveConformances
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    public func _toCustomAnyHashable() -> AnyHashable? { AnyHashable(self as String) }
}

extension NSMutableDictionary {
    /// Sets a value, or removes it if nil, like key-value coding on Apple's systems.
    public func setValue(_ value: Any?, forKey key: String) {
        if let value {
            self[key] = value
        } else {
            removeObject(forKey: key)
        }
    }
}
