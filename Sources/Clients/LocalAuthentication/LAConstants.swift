// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// What Apple's C headers define as macros; programs compare error codes with them.

/// The longest age of an unlock that is accepted in place of a prompt, in seconds.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

/// The domain of the errors.
public let kLAErrorDomain: String = LAErrorDomain

/// The value 1.
public let kLAPolicyDeviceOwnerAuthenticationWithBiometrics: Int32 = 1
/// The value 2.
public let kLAPolicyDeviceOwnerAuthentication: Int32 = 2
/// The value 3.
public let kLAPolicyDeviceOwnerAuthenticationWithWatch: Int32 = 3
/// The value 3.
public let kLAPolicyDeviceOwnerAuthenticationWithCompanion: Int32 = 3
/// The value 4.
public let kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch: Int32 = 4
/// The value 4.
public let kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion: Int32 = 4
/// The value 0.
public let kLABiometryTypeNone: Int32 = 0
/// The value 1.
public let kLABiometryTypeTouchID: Int32 = 1
/// The value 2.
public let kLABiometryTypeFaceID: Int32 = 2
/// The value 4.
public let kLABiometryTypeOpticID: Int32 = 4
/// The value 0.
public let kLACredentialTypeApplicationPassword: Int32 = 0
/// The value 0.
public let kLACredentialApplicationPassword: Int32 = 0
/// The value -3.
public let kLACredentialTypeSmartCardPIN: Int32 = -3
/// The value -3.
public let kLACredentialSmartCardPIN: Int32 = -3
/// The value 0.
public let kLAAccessControlOperationCreateItem: Int32 = 0
/// The value 1.
public let kLAAccessControlOperationUseItem: Int32 = 1
/// The value 2.
public let kLAAccessControlOperationCreateKey: Int32 = 2
/// The value 3.
public let kLAAccessControlOperationUseKeySign: Int32 = 3
/// The value 4.
public let kLAAccessControlOperationUseKeyDecrypt: Int32 = 4
/// The value 5.
public let kLAAccessControlOperationUseKeyKeyExchange: Int32 = 5
/// The value 0.
public let kLACompanionTypeNone: Int32 = 0
/// The value 1.
public let kLACompanionTypeWatch: Int32 = 1
/// The value 2.
public let kLACompanionTypeMac: Int32 = 2
/// The value 4.
public let kLACompanionTypeVision: Int32 = 4
/// The value -1.
public let kLAErrorAuthenticationFailed: Int32 = -1
/// The value -2.
public let kLAErrorUserCancel: Int32 = -2
/// The value -3.
public let kLAErrorUserFallback: Int32 = -3
/// The value -4.
public let kLAErrorSystemCancel: Int32 = -4
/// The value -5.
public let kLAErrorPasscodeNotSet: Int32 = -5
/// The value -6.
public let kLAErrorTouchIDNotAvailable: Int32 = -6
/// The value -7.
public let kLAErrorTouchIDNotEnrolled: Int32 = -7
/// The value -8.
public let kLAErrorTouchIDLockout: Int32 = -8
/// The value -6.
public let kLAErrorBiometryNotAvailable: Int32 = -6
/// The value -7.
public let kLAErrorBiometryNotEnrolled: Int32 = -7
/// The value -8.
public let kLAErrorBiometryLockout: Int32 = -8
/// The value -9.
public let kLAErrorAppCancel: Int32 = -9
/// The value -10.
public let kLAErrorInvalidContext: Int32 = -10
/// The value -11.
public let kLAErrorWatchNotAvailable: Int32 = -11
/// The value -11.
public let kLAErrorCompanionNotAvailable: Int32 = -11
/// The value -12.
public let kLAErrorBiometryNotPaired: Int32 = -12
/// The value -13.
public let kLAErrorBiometryDisconnected: Int32 = -13
/// The value -14.
public let kLAErrorInvalidDimensions: Int32 = -14
/// The value -1004.
public let kLAErrorNotInteractive: Int32 = -1004
