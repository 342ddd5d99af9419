// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// Macros of Apple's C headers; programs compare error codes with them.

/// The longest age of an unlock that can replace a prompt, in seconds.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

public let kLAErrorDomain: String = LAErrorDomain

public let kLAPolicyDeviceOwnerAuthenticationWithBiometrics: Int32 = 1
public let kLAPolicyDeviceOwnerAuthentication: Int32 = 2
public let kLAPolicyDeviceOwnerAuthenticationWithWatch: Int32 = 3
public let kLAPolicyDeviceOwnerAuthenticationWithCompanion: Int32 = 3
public let kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch: Int32 = 4
public let kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion: Int32 = 4
public let kLABiometryTypeNone: Int32 = 0
public let kLABiometryTypeTouchID: Int32 = 1
public let kLABiometryTypeFaceID: Int32 = 2
public let kLABiometryTypeOpticID: Int32 = 4
public let kLACredentialTypeApplicationPassword: Int32 = 0
public let kLACredentialApplicationPassword: Int32 = 0
public let kLACredentialTypeSmartCardPIN: Int32 = -3
public let kLACredentialSmartCardPIN: Int32 = -3
public let kLAAccessControlOperationCreateItem: Int32 = 0
public let kLAAccessControlOperationUseItem: Int32 = 1
public let kLAAccessControlOperationCreateKey: Int32 = 2
public let kLAAccessControlOperationUseKeySign: Int32 = 3
public let kLAAccessControlOperationUseKeyDecrypt: Int32 = 4
public let kLAAccessControlOperationUseKeyKeyExchange: Int32 = 5
public let kLACompanionTypeNone: Int32 = 0
public let kLACompanionTypeWatch: Int32 = 1
public let kLACompanionTypeMac: Int32 = 2
public let kLACompanionTypeVision: Int32 = 4
public let kLAErrorAuthenticationFailed: Int32 = -1
public let kLAErrorUserCancel: Int32 = -2
public let kLAErrorUserFallback: Int32 = -3
public let kLAErrorSystemCancel: Int32 = -4
public let kLAErrorPasscodeNotSet: Int32 = -5
public let kLAErrorTouchIDNotAvailable: Int32 = -6
public let kLAErrorTouchIDNotEnrolled: Int32 = -7
public let kLAErrorTouchIDLockout: Int32 = -8
public let kLAErrorBiometryNotAvailable: Int32 = -6
public let kLAErrorBiometryNotEnrolled: Int32 = -7
public let kLAErrorBiometryLockout: Int32 = -8
public let kLAErrorAppCancel: Int32 = -9
public let kLAErrorInvalidContext: Int32 = -10
public let kLAErrorWatchNotAvailable: Int32 = -11
public let kLAErrorCompanionNotAvailable: Int32 = -11
public let kLAErrorBiometryNotPaired: Int32 = -12
public let kLAErrorBiometryDisconnected: Int32 = -13
public let kLAErrorInvalidDimensions: Int32 = -14
public let kLAErrorNotInteractive: Int32 = -1004
