// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Names and numbers are Apple's.

/// No error.
public let errSecSuccess: OSStatus = 0
/// Function or operation not implemented.
public let errSecUnimplemented: OSStatus = -4
/// The disk is full.
public let errSecDiskFull: OSStatus = -34
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
/// An unknown Core Foundation error has occurred.
public let errSecCoreFoundationUnknown: OSStatus = -4960
/// The specified access control list is not in standard (simple) form.
public let errSecACLNotSimple: OSStatus = -25_240
/// The specified policy cannot be found.
public let errSecPolicyNotFound: OSStatus = -25_241
/// The specified trust setting is invalid.
public let errSecInvalidTrustSetting: OSStatus = -25_242
/// The specified item has no access control.
public let errSecNoAccessForItem: OSStatus = -25_243
/// Invalid attempt to change the owner of this item.
public let errSecInvalidOwnerEdit: OSStatus = -25_244
/// No trust results are available.
public let errSecTrustNotAvailable: OSStatus = -25_245
/// Import/Export format unsupported.
public let errSecUnsupportedFormat: OSStatus = -25_256
/// Unknown format in import.
public let errSecUnknownFormat: OSStatus = -25_257
/// Key material must be wrapped for export.
public let errSecKeyIsSensitive: OSStatus = -25_258
/// An attempt was made to import multiple private keys.
public let errSecMultiplePrivKeys: OSStatus = -25_259
/// Passphrase is required for import/export.
public let errSecPassphraseRequired: OSStatus = -25_260
/// The password reference was invalid.
public let errSecInvalidPasswordRef: OSStatus = -25_261
/// The Trust Settings Record was corrupted.
public let errSecInvalidTrustSettings: OSStatus = -25_262
/// No Trust Settings were found.
public let errSecNoTrustSettings: OSStatus = -25_263
/// MAC verification failed during PKCS12 import (wrong password?).
public let errSecPkcs12VerifyFailure: OSStatus = -25_264
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
/// A keychain with the same name already exists.
public let errSecDuplicateKeychain: OSStatus = -25_296
/// The specified callback function is already installed.
public let errSecDuplicateCallback: OSStatus = -25_297
/// The specified callback function is not valid.
public let errSecInvalidCallback: OSStatus = -25_298
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
/// Unable to search the current keychain.
public let errSecInvalidSearchRef: OSStatus = -25_305
/// The specified item does not appear to be a valid keychain item.
public let errSecNoSuchClass: OSStatus = -25_306
/// A default keychain could not be found.
public let errSecNoDefaultKeychain: OSStatus = -25_307
/// User interaction is not allowed.
public let errSecInteractionNotAllowed: OSStatus = -25_308
/// The specified attribute could not be modified.
public let errSecReadOnlyAttr: OSStatus = -25_309
/// This keychain was created by a different version of the system software and cannot be opened.
public let errSecWrongSecVersion: OSStatus = -25_310
/// This item specifies a key size which is too large or too small.
public let errSecKeySizeNotAllowed: OSStatus = -25_311
/// A required component (data storage module) could not be loaded.
public let errSecNoStorageModule: OSStatus = -25_312
/// A required component (certificate module) could not be loaded.
public let errSecNoCertificateModule: OSStatus = -25_313
/// A required component (policy module) could not be loaded.
public let errSecNoPolicyModule: OSStatus = -25_314
/// User interaction is required, but is currently not allowed.
public let errSecInteractionRequired: OSStatus = -25_315
/// The contents of this item cannot be retrieved.
public let errSecDataNotAvailable: OSStatus = -25_316
/// The contents of this item cannot be modified.
public let errSecDataNotModifiable: OSStatus = -25_317
/// One or more certificates required to validate this certificate cannot be found.
public let errSecCreateChainFailed: OSStatus = -25_318
/// The specified preferences domain is not valid.
public let errSecInvalidPrefsDomain: OSStatus = -25_319
/// In dark wake, no UI possible.
public let errSecInDarkWake: OSStatus = -25_320
/// A certificate was not signed by its proposed parent.
public let errSecNotSigner: OSStatus = -26_267
/// Unable to decode the provided data.
public let errSecDecode: OSStatus = -26_275
/// A required entitlement isn't present.
public let errSecMissingEntitlement: OSStatus = -34_018
/// Client is restricted and is not permitted to perform this operation.
public let errSecRestrictedAPI: OSStatus = -34_020
/// The required service is not available.
public let errSecServiceNotAvailable: OSStatus = -67_585
/// The client ID is not correct.
public let errSecInsufficientClientID: OSStatus = -67_586
/// A device reset has occurred.
public let errSecDeviceReset: OSStatus = -67_587
/// A device failure has occurred.
public let errSecDeviceFailed: OSStatus = -67_588
/// Adding an application ACL subject failed.
public let errSecAppleAddAppACLSubject: OSStatus = -67_589
/// The public key is incomplete.
public let errSecApplePublicKeyIncomplete: OSStatus = -67_590
/// A signature mismatch has occurred.
public let errSecAppleSignatureMismatch: OSStatus = -67_591
/// The specified key has an invalid start date.
public let errSecAppleInvalidKeyStartDate: OSStatus = -67_592
/// The specified key has an invalid end date.
public let errSecAppleInvalidKeyEndDate: OSStatus = -67_593
/// A conversion error has occurred.
public let errSecConversionError: OSStatus = -67_594
/// A SSLv2 rollback error has occurred.
public let errSecAppleSSLv2Rollback: OSStatus = -67_595
/// The quota was exceeded.
public let errSecQuotaExceeded: OSStatus = -67_596
/// The file is too big.
public let errSecFileTooBig: OSStatus = -67_597
/// The specified database has an invalid blob.
public let errSecInvalidDatabaseBlob: OSStatus = -67_598
/// The specified database has an invalid key blob.
public let errSecInvalidKeyBlob: OSStatus = -67_599
/// The specified database has an incompatible blob.
public let errSecIncompatibleDatabaseBlob: OSStatus = -67_600
/// The specified database has an incompatible key blob.
public let errSecIncompatibleKeyBlob: OSStatus = -67_601
/// A host name mismatch has occurred.
public let errSecHostNameMismatch: OSStatus = -67_602
/// There is an unknown critical extension flag.
public let errSecUnknownCriticalExtensionFlag: OSStatus = -67_603
/// No basic constraints were found.
public let errSecNoBasicConstraints: OSStatus = -67_604
/// No basic CA constraints were found.
public let errSecNoBasicConstraintsCA: OSStatus = -67_605
/// The authority key ID is not valid.
public let errSecInvalidAuthorityKeyID: OSStatus = -67_606
/// The subject key ID is not valid.
public let errSecInvalidSubjectKeyID: OSStatus = -67_607
/// The key usage is not valid for the specified policy.
public let errSecInvalidKeyUsageForPolicy: OSStatus = -67_608
/// The extended key usage is not valid.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67_609
/// The ID linkage is not valid.
public let errSecInvalidIDLinkage: OSStatus = -67_610
/// The path length constraint was exceeded.
public let errSecPathLengthConstraintExceeded: OSStatus = -67_611
/// The root or anchor certificate is not valid.
public let errSecInvalidRoot: OSStatus = -67_612
/// The CRL has expired.
public let errSecCRLExpired: OSStatus = -67_613
/// The CRL is not yet valid.
public let errSecCRLNotValidYet: OSStatus = -67_614
/// The CRL was not found.
public let errSecCRLNotFound: OSStatus = -67_615
/// The CRL server is down.
public let errSecCRLServerDown: OSStatus = -67_616
/// The CRL has a bad Uniform Resource Identifier.
public let errSecCRLBadURI: OSStatus = -67_617
/// An unknown certificate extension was encountered.
public let errSecUnknownCertExtension: OSStatus = -67_618
/// An unknown CRL extension was encountered.
public let errSecUnknownCRLExtension: OSStatus = -67_619
/// The CRL is not trusted.
public let errSecCRLNotTrusted: OSStatus = -67_620
/// The CRL policy failed.
public let errSecCRLPolicyFailed: OSStatus = -67_621
/// The issuing distribution point was not valid.
public let errSecIDPFailure: OSStatus = -67_622
/// An email address mismatch was encountered.
public let errSecSMIMEEmailAddressesNotFound: OSStatus = -67_623
/// The appropriate extended key usage for SMIME was not found.
public let errSecSMIMEBadExtendedKeyUsage: OSStatus = -67_624
/// The key usage is not compatible with SMIME.
public let errSecSMIMEBadKeyUsage: OSStatus = -67_625
/// The key usage extension is not marked as critical.
public let errSecSMIMEKeyUsageNotCritical: OSStatus = -67_626
/// No email address was found in the certificate.
public let errSecSMIMENoEmailAddress: OSStatus = -67_627
/// The subject alternative name extension is not marked as critical.
public let errSecSMIMESubjAltNameNotCritical: OSStatus = -67_628
/// The appropriate extended key usage for SSL was not found.
public let errSecSSLBadExtendedKeyUsage: OSStatus = -67_629
/// The OCSP response was incorrect or could not be parsed.
public let errSecOCSPBadResponse: OSStatus = -67_630
/// The OCSP request was incorrect or could not be parsed.
public let errSecOCSPBadRequest: OSStatus = -67_631
/// OCSP service is unavailable.
public let errSecOCSPUnavailable: OSStatus = -67_632
/// The OCSP server did not recognize this certificate.
public let errSecOCSPStatusUnrecognized: OSStatus = -67_633
/// An end-of-data was detected.
public let errSecEndOfData: OSStatus = -67_634
/// An incomplete certificate revocation check occurred.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67_635
/// A network failure occurred.
public let errSecNetworkFailure: OSStatus = -67_636
/// The OCSP response was not trusted to a root or anchor certificate.
public let errSecOCSPNotTrustedToAnchor: OSStatus = -67_637
/// The record was modified.
public let errSecRecordModified: OSStatus = -67_638
/// The OCSP response had an invalid signature.
public let errSecOCSPSignatureError: OSStatus = -67_639
/// The OCSP response had no signer.
public let errSecOCSPNoSigner: OSStatus = -67_640
/// The OCSP responder was given a malformed request.
public let errSecOCSPResponderMalformedReq: OSStatus = -67_641
/// The OCSP responder encountered an internal error.
public let errSecOCSPResponderInternalError: OSStatus = -67_642
/// The OCSP responder is busy, try again later.
public let errSecOCSPResponderTryLater: OSStatus = -67_643
/// The OCSP responder requires a signature.
public let errSecOCSPResponderSignatureRequired: OSStatus = -67_644
/// The OCSP responder rejected this request as unauthorized.
public let errSecOCSPResponderUnauthorized: OSStatus = -67_645
/// The OCSP response nonce did not match the request.
public let errSecOCSPResponseNonceMismatch: OSStatus = -67_646
/// Code signing encountered an incorrect certificate chain length.
public let errSecCodeSigningBadCertChainLength: OSStatus = -67_647
/// Code signing found no basic constraints.
public let errSecCodeSigningNoBasicConstraints: OSStatus = -67_648
/// Code signing encountered an incorrect path length constraint.
public let errSecCodeSigningBadPathLengthConstraint: OSStatus = -67_649
/// Code signing found no extended key usage.
public let errSecCodeSigningNoExtendedKeyUsage: OSStatus = -67_650
/// Code signing indicated use of a development-only certificate.
public let errSecCodeSigningDevelopment: OSStatus = -67_651
/// Resource signing has encountered an incorrect certificate chain length.
public let errSecResourceSignBadCertChainLength: OSStatus = -67_652
/// Resource signing has encountered an error in the extended key usage.
public let errSecResourceSignBadExtKeyUsage: OSStatus = -67_653
/// The trust setting for this policy was set to Deny.
public let errSecTrustSettingDeny: OSStatus = -67_654
/// An invalid certificate subject name was encountered.
public let errSecInvalidSubjectName: OSStatus = -67_655
/// An unknown qualified certificate statement was encountered.
public let errSecUnknownQualifiedCertStatement: OSStatus = -67_656
/// The request will be sent during the next connection.
public let errSecMobileMeRequestQueued: OSStatus = -67_657
/// The request was redirected.
public let errSecMobileMeRequestRedirected: OSStatus = -67_658
/// An error occurred on the server.
public let errSecMobileMeServerError: OSStatus = -67_659
/// The server is not available.
public let errSecMobileMeServerNotAvailable: OSStatus = -67_660
/// The request is there already.
public let errSecMobileMeServerAlreadyExists: OSStatus = -67_661
/// A service error occurred on the server.
public let errSecMobileMeServerServiceErr: OSStatus = -67_662
/// A request is already pending.
public let errSecMobileMeRequestAlreadyPending: OSStatus = -67_663
/// No request is pending.
public let errSecMobileMeNoRequestPending: OSStatus = -67_664
/// The certificate signing request could not be verified.
public let errSecMobileMeCSRVerifyFailure: OSStatus = -67_665
/// A consistency check failed.
public let errSecMobileMeFailedConsistencyCheck: OSStatus = -67_666
/// A function was called without initializing CSSM.
public let errSecNotInitialized: OSStatus = -67_667
/// The CSSM handle does not match with the service type.
public let errSecInvalidHandleUsage: OSStatus = -67_668
/// A reference to the calling module was not found in the list of authorized callers.
public let errSecPVCReferentNotFound: OSStatus = -67_669
/// A function address was not within the verified module.
public let errSecFunctionIntegrityFail: OSStatus = -67_670
/// An internal error has occurred.
public let errSecInternalError: OSStatus = -67_671
/// A memory error has occurred.
public let errSecMemoryError: OSStatus = -67_672
/// Invalid data was encountered.
public let errSecInvalidData: OSStatus = -67_673
/// A Module Directory Service error has occurred.
public let errSecMDSError: OSStatus = -67_674
/// An invalid pointer was encountered.
public let errSecInvalidPointer: OSStatus = -67_675
/// Self-check has failed.
public let errSecSelfCheckFailed: OSStatus = -67_676
/// A function has failed.
public let errSecFunctionFailed: OSStatus = -67_677
/// A module manifest verification failure has occurred.
public let errSecModuleManifestVerifyFailed: OSStatus = -67_678
/// An invalid GUID was encountered.
public let errSecInvalidGUID: OSStatus = -67_679
/// An invalid handle was encountered.
public let errSecInvalidHandle: OSStatus = -67_680
/// An invalid DB list was encountered.
public let errSecInvalidDBList: OSStatus = -67_681
/// An invalid passthrough ID was encountered.
public let errSecInvalidPassthroughID: OSStatus = -67_682
/// An invalid network address was encountered.
public let errSecInvalidNetworkAddress: OSStatus = -67_683
/// The certificate revocation list is already signed.
public let errSecCRLAlreadySigned: OSStatus = -67_684
/// An invalid number of fields were encountered.
public let errSecInvalidNumberOfFields: OSStatus = -67_685
/// A verification failure occurred.
public let errSecVerificationFailure: OSStatus = -67_686
/// An unknown tag was encountered.
public let errSecUnknownTag: OSStatus = -67_687
/// An invalid signature was encountered.
public let errSecInvalidSignature: OSStatus = -67_688
/// An invalid name was encountered.
public let errSecInvalidName: OSStatus = -67_689
/// An invalid certificate reference was encountered.
public let errSecInvalidCertificateRef: OSStatus = -67_690
/// An invalid certificate group was encountered.
public let errSecInvalidCertificateGroup: OSStatus = -67_691
/// The specified tag was not found.
public let errSecTagNotFound: OSStatus = -67_692
/// The specified query was not valid.
public let errSecInvalidQuery: OSStatus = -67_693
/// An invalid value was detected.
public let errSecInvalidValue: OSStatus = -67_694
/// A callback has failed.
public let errSecCallbackFailed: OSStatus = -67_695
/// An ACL delete operation has failed.
public let errSecACLDeleteFailed: OSStatus = -67_696
/// An ACL replace operation has failed.
public let errSecACLReplaceFailed: OSStatus = -67_697
/// An ACL add operation has failed.
public let errSecACLAddFailed: OSStatus = -67_698
/// An ACL change operation has failed.
public let errSecACLChangeFailed: OSStatus = -67_699
