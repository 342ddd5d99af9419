// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals

// The names that Apple's Core Foundation adds to Foundation, as far as the keychain's API needs
// them. Foundation on Linux has the classes, but not these names.
public import Foundation

/// Any object.
public typealias CFTypeRef = AnyObject
/// A text.
public typealias CFString = NSString
/// A dictionary.
public typealias CFDictionary = NSDictionary
/// A dictionary that can change.
public typealias CFMutableDictionary = NSMutableDictionary
/// An array.
public typealias CFArray = NSArray
/// Bytes.
public typealias CFData = NSData
/// An instant.
public typealias CFDate = NSDate
/// An error.
public typealias CFError = NSError
/// A truth.
public typealias CFBoolean = NSNumber
/// A number.
public typealias CFNumber = NSNumber
/// Bits that say how.
public typealias CFOptionFlags = UInt
/// An index, or a number of elements.
public typealias CFIndex = Int

/// Where an Apple API puts an error: `nil`, or `&error` of an `NSError?`.
///
/// Apple's name and shape for an inout parameter that may be nil.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// Chooses how memory is allocated; here there is only one way.
public final class CFAllocator: Sendable {
    fileprivate init() {}
}

/// The one way to get memory.
public let kCFAllocatorDefault: CFAllocator? = CFAllocator()

/// Yes.
///
/// Implicitly unwrapped, as Apple declares it.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
/// No.
///
/// Implicitly unwrapped, as Apple declares it.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)

/// The number of a type.
public typealias CFTypeID = UInt
/// A hash.
public typealias CFHashCode = UInt

/// The key of a bundle's identifier in `Info.plist`; constant, though not marked Sendable.
nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString = "CFBundleIdentifier" as NSString

/// The number of a class: the same for every object of it while the program runs.
func typeID(_ type: AnyClass) -> CFTypeID { CFTypeID(bitPattern: ObjectIdentifier(type).hashValue) }

/// The types of this module whose objects have a type of their own; others come from Foundation,
/// in classes that nobody sees.
private let visibleTypes: [AnyClass] = [
    SecKey.self, SecAccessControl.self, SecCertificate.self, SecTrust.self, SecPolicy.self,
    SecIdentity.self, NSString.self, NSData.self, NSDictionary.self, NSArray.self, NSDate.self,
    NSError.self,
]

/// The type of an object.
public func CFGetTypeID(_ object: CFTypeRef?) -> CFTypeID {
    guard let object else { return 0 }
    // A truth is a number of one byte.
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

/// Whether two objects have the same value.
public func CFEqual(_ one: CFTypeRef?, _ other: CFTypeRef?) -> Bool {
    guard let one = one as? NSObject, let other = other as? NSObject else { return one === other }
    return one.isEqual(other)
}

/// The hash of an object's value.
public func CFHash(_ object: CFTypeRef?) -> CFHashCode {
    CFHashCode(bitPattern: (object as? NSObject)?.hash ?? 0)
}

/// The type of texts.
public func CFStringGetTypeID() -> CFTypeID { typeID(NSString.self) }
/// The type of bytes.
public func CFDataGetTypeID() -> CFTypeID { typeID(NSData.self) }
/// The type of dictionaries.
public func CFDictionaryGetTypeID() -> CFTypeID { typeID(NSDictionary.self) }
/// The type of arrays.
public func CFArrayGetTypeID() -> CFTypeID { typeID(NSArray.self) }
/// The type of instants.
public func CFDateGetTypeID() -> CFTypeID { typeID(NSDate.self) }
/// The type of errors.
public func CFErrorGetTypeID() -> CFTypeID { typeID(NSError.self) }
/// The type of numbers.
public func CFNumberGetTypeID() -> CFTypeID { typeID(NSNumber.self) }
/// The type of truths.
public func CFBooleanGetTypeID() -> CFTypeID { typeID(CFAllocator.self) }

/// How many bytes there are.
public func CFDataGetLength(_ data: CFData?) -> CFIndex { data?.length ?? 0 }

/// The bytes, for as long as the data lives.
///
/// The pointer is part of Apple's signature.
public func CFDataGetBytePtr(_ data: CFData?) -> UnsafePointer<UInt8>! {
    data.map { $0.bytes.assumingMemoryBound(to: UInt8.self) }
}

/// A copy of bytes.
///
/// The pointer is part of Apple's signature; it is read during this call only.
public func CFDataCreate(
    _ allocator: CFAllocator?,
    // Apple's signature has it so.
    _ bytes: UnsafePointer<UInt8>?,
    _ length: CFIndex
) -> CFData? {
    NSData(bytes: bytes, length: length)
}

/// Whether it is yes.
public func CFBooleanGetValue(_ boolean: CFBoolean) -> Bool { boolean.boolValue }

/// How many elements an array has.
public func CFArrayGetCount(_ array: CFArray?) -> CFIndex { array?.count ?? 0 }

/// How many entries a dictionary has.
public func CFDictionaryGetCount(_ dictionary: CFDictionary?) -> CFIndex { dictionary?.count ?? 0 }

/// Why something failed, if the error says so.
public func CFErrorCopyFailureReason(_ error: CFError) -> CFString? {
    error.localizedFailureReason.map { $0 as NSString }
}

/// What to do about an error, if it says so.
public func CFErrorCopyRecoverySuggestion(_ error: CFError) -> CFString? {
    error.localizedRecoverySuggestion.map { $0 as NSString }
}

/// The number of an error.
public func CFErrorGetCode(_ error: CFError) -> CFIndex { error.code }

/// The domain of an error.
public func CFErrorGetDomain(_ error: CFError) -> CFString { error.domain as NSString }

/// More about an error.
public func CFErrorCopyUserInfo(_ error: CFError) -> CFDictionary? {
    error.userInfo as NSDictionary
}

/// What an error says to people.
public func CFErrorCopyDescription(_ error: CFError) -> CFString {
    error.localizedDescription as NSString
}

extension NSMutableDictionary {
    /// Sets or removes a value, as key-value coding does on Apple's systems.
    public func setValue(_ value: Any?, forKey key: String) {
        if let value {
            self[key] = value
        } else {
            removeObject(forKey: key)
        }
    }
}
