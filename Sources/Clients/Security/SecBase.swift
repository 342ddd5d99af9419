// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// The outcome of a call: zero, or an error's number.
public typealias OSStatus = Int32

/// No error, as older code spells it.
public let noErr: OSStatus = 0

/// A sentence for people about an outcome; nil for a number without one.
///
/// Apple's signature; nothing is read or written there.
///
/// - Parameters:
///   - status: The outcome of a call.
///   - reserved: Nil.
/// - Returns: The sentence.
public func SecCopyErrorMessageString(
    _ status: OSStatus,
    _ reserved: UnsafeMutableRawPointer?
) -> CFString? {
    statusMessages[status].map { $0 as NSString }
}
