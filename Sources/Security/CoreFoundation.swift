// swift-format-ignore-file: AlwaysUseLowerCamelCase

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
/// Optional, as Apple declares it.
public let kCFBooleanTrue: CFBoolean? = NSNumber(value: true)
/// No.
///
/// Optional, as Apple declares it.
public let kCFBooleanFalse: CFBoolean? = NSNumber(value: false)

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
