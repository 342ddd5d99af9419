// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// The outcome of a call: zero, or an error's number.
public typealias OSStatus = Int32

/// No error, as older code spells it.
public let noErr: OSStatus = 0

/// No error.
public let errSecSuccess: OSStatus = 0
/// Function or operation not implemented.
public let errSecUnimplemented: OSStatus = -4
/// The disk is full.
public let errSecDskFull: OSStatus = -34
/// I/O error.
public let errSecIO: OSStatus = -36
/// The file is already open with write permission.
public let errSecOpWr: OSStatus = -49
/// One or more parameters passed to a function were not valid.
public let errSecParam: OSStatus = -50
/// Write permissions error.
public let errSecWrPerm: OSStatus = -61
/// Failed to allocate memory.
public let errSecAllocate: OSStatus = -108
/// User canceled the operation.
public let errSecUserCanceled: OSStatus = -128
/// Bad parameter or invalid state for operation.
public let errSecBadReq: OSStatus = -909
/// An internal component experienced an error.
public let errSecInternalComponent: OSStatus = -2070
/// No keychain is available.
public let errSecNotAvailable: OSStatus = -25_291
/// This keychain cannot be modified.
public let errSecReadOnly: OSStatus = -25_292
/// The user name or passphrase you entered is not correct.
public let errSecAuthFailed: OSStatus = -25_293
/// The specified keychain could not be found.
public let errSecNoSuchKeychain: OSStatus = -25_294
/// The specified keychain is not a valid keychain file.
public let errSecInvalidKeychain: OSStatus = -25_295
/// The specified item already exists in the keychain.
public let errSecDuplicateItem: OSStatus = -25_299
/// The specified item could not be found in the keychain.
public let errSecItemNotFound: OSStatus = -25_300
/// There is not enough memory available to use the specified item.
public let errSecBufferTooSmall: OSStatus = -25_301
/// This item contains information which is too large or in a format that cannot be displayed.
public let errSecDataTooLarge: OSStatus = -25_302
/// The specified attribute does not exist.
public let errSecNoSuchAttr: OSStatus = -25_303
/// The specified item is no longer valid.
public let errSecInvalidItemRef: OSStatus = -25_304
/// The specified item does not appear to be a valid keychain item.
public let errSecNoSuchClass: OSStatus = -25_306
/// User interaction is not allowed.
public let errSecInteractionNotAllowed: OSStatus = -25_308
/// User interaction is required, but is currently not allowed.
public let errSecInteractionRequired: OSStatus = -25_315
/// Unable to decode the provided data.
public let errSecDecode: OSStatus = -26_275
/// A required entitlement isn't present.
public let errSecMissingEntitlement: OSStatus = -34_018
/// A cryptographic verification failure has occurred.
public let errSecVerifyFailed: OSStatus = -67_808
/// An invalid record was encountered.
public let errSecInvalidRecord: OSStatus = -67_701
/// An unsupported key size was encountered.
public let errSecUnsupportedKeySize: OSStatus = -67_735
/// The encoding was not valid.
public let errSecInvalidEncoding: OSStatus = -67_853
/// An unsupported algorithm was encountered.
public let errSecUnsupportedAlgorithm: OSStatus = -67_768

private let messages: [OSStatus: String] = [
    errSecSuccess: "No error.",
    errSecUnimplemented: "Function or operation not implemented.",
    errSecDskFull: "The disk is full.",
    errSecIO: "I/O error.",
    errSecOpWr: "The file is already open with write permission.",
    errSecParam: "One or more parameters passed to a function were not valid.",
    errSecWrPerm: "Write permissions error.",
    errSecAllocate: "Failed to allocate memory.",
    errSecUserCanceled: "User canceled the operation.",
    errSecBadReq: "Bad parameter or invalid state for operation.",
    errSecInternalComponent: "An internal component experienced an error.",
    errSecNotAvailable: "No keychain is available. You may need to restart your computer.",
    errSecReadOnly: "This keychain cannot be modified.",
    errSecAuthFailed: "The user name or passphrase you entered is not correct.",
    errSecNoSuchKeychain: "The specified keychain could not be found.",
    errSecInvalidKeychain: "The specified keychain is not a valid keychain file.",
    errSecDuplicateItem: "The specified item already exists in the keychain.",
    errSecItemNotFound: "The specified item could not be found in the keychain.",
    errSecBufferTooSmall: "There is not enough memory available to use the specified item.",
    errSecDataTooLarge:
        "This item contains information which is too large or in a format "
        + "that cannot be displayed.",
    errSecNoSuchAttr: "The specified attribute does not exist.",
    errSecInvalidItemRef:
        "The specified item is no longer valid. It may have been "
        + "deleted from the keychain.",
    errSecNoSuchClass: "The specified item does not appear to be a valid keychain item.",
    errSecInteractionNotAllowed: "User interaction is not allowed.",
    errSecInteractionRequired: "User interaction is required, but is currently not allowed.",
    errSecDecode: "Unable to decode the provided data.",
    errSecMissingEntitlement: "A required entitlement isn't present.",
    errSecVerifyFailed: "A cryptographic verification failure has occurred.",
    errSecInvalidRecord: "An invalid record was encountered.",
    errSecUnsupportedKeySize: "An unsupported key size was encountered.",
    errSecInvalidEncoding: "The encoding was not valid.",
    errSecUnsupportedAlgorithm: "An unsupported algorithm was encountered.",
]

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
    messages[status].map { $0 as NSString }
}
