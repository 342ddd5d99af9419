// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// The status of a call: zero, or an error code.
public typealias OSStatus = Int32

/// Success, in the spelling of older code.
public let noErr: OSStatus = 0

/// Returns a sentence for the user about a status; nil for an unknown status.
///
/// - Parameters:
///   - status: The status of a call.
///   - reserved: Never used.
/// - Returns: The sentence.
public func SecCopyErrorMessageString(
    _ status: OSStatus,
    _ reserved: UnsafeMutableRawPointer?
) -> CFString? {
    statusMessages[status].map { $0 as NSString }
}
