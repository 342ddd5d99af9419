// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Status codes of the subsystems of Apple's framework; names and numbers are Apple's.

/// Invalid access credentials were encountered.
public let errSecInvalidAccessCredentials: OSStatus = -67_700
/// An invalid record was encountered.
public let errSecInvalidRecord: OSStatus = -67_701
/// An invalid ACL was encountered.
public let errSecInvalidACL: OSStatus = -67_702
/// An invalid sample value was encountered.
public let errSecInvalidSampleValue: OSStatus = -67_703
/// An incompatible version was encountered.
public let errSecIncompatibleVersion: OSStatus = -67_704
/// The privilege was not granted.
public let errSecPrivilegeNotGranted: OSStatus = -67_705
/// An invalid scope was encountered.
public let errSecInvalidScope: OSStatus = -67_706
/// The PVC is already configured.
public let errSecPVCAlreadyConfigured: OSStatus = -67_707
/// An invalid PVC was encountered.
public let errSecInvalidPVC: OSStatus = -67_708
/// The EMM load has failed.
public let errSecEMMLoadFailed: OSStatus = -67_709
/// The EMM unload has failed.
public let errSecEMMUnloadFailed: OSStatus = -67_710
/// The add-in load operation has failed.
public let errSecAddinLoadFailed: OSStatus = -67_711
/// An invalid key was encountered.
public let errSecInvalidKeyRef: OSStatus = -67_712
/// An invalid key hierarchy was encountered.
public let errSecInvalidKeyHierarchy: OSStatus = -67_713
/// The add-in unload operation has failed.
public let errSecAddinUnloadFailed: OSStatus = -67_714
/// A library reference was not found.
public let errSecLibraryReferenceNotFound: OSStatus = -67_715
/// An invalid add-in function table was encountered.
public let errSecInvalidAddinFunctionTable: OSStatus = -67_716
/// An invalid service mask was encountered.
public let errSecInvalidServiceMask: OSStatus = -67_717
/// A module was not loaded.
public let errSecModuleNotLoaded: OSStatus = -67_718
/// An invalid subservice ID was encountered.
public let errSecInvalidSubServiceID: OSStatus = -67_719
/// An attribute was not in the context.
public let errSecAttributeNotInContext: OSStatus = -67_720
/// A module failed to initialize.
public let errSecModuleManagerInitializeFailed: OSStatus = -67_721
/// A module was not found.
public let errSecModuleManagerNotFound: OSStatus = -67_722
/// An event notification callback was not found.
public let errSecEventNotificationCallbackNotFound: OSStatus = -67_723
/// An input length error was encountered.
public let errSecInputLengthError: OSStatus = -67_724
/// An output length error was encountered.
public let errSecOutputLengthError: OSStatus = -67_725
/// The privilege is not supported.
public let errSecPrivilegeNotSupported: OSStatus = -67_726
/// A device error was encountered.
public let errSecDeviceError: OSStatus = -67_727
/// The CSP handle was busy.
public let errSecAttachHandleBusy: OSStatus = -67_728
/// You are not logged in.
public let errSecNotLoggedIn: OSStatus = -67_729
/// An algorithm mismatch was encountered.
public let errSecAlgorithmMismatch: OSStatus = -67_730
/// The key usage is incorrect.
public let errSecKeyUsageIncorrect: OSStatus = -67_731
/// The key blob type is incorrect.
public let errSecKeyBlobTypeIncorrect: OSStatus = -67_732
/// The key header is inconsistent.
public let errSecKeyHeaderInconsistent: OSStatus = -67_733
/// The key header format is not supported.
public let errSecUnsupportedKeyFormat: OSStatus = -67_734
/// An unsupported key size was encountered.
public let errSecUnsupportedKeySize: OSStatus = -67_735
/// The key usage mask is not valid.
public let errSecInvalidKeyUsageMask: OSStatus = -67_736
/// The key usage mask is not supported.
public let errSecUnsupportedKeyUsageMask: OSStatus = -67_737
/// The key attribute mask is not valid.
public let errSecInvalidKeyAttributeMask: OSStatus = -67_738
/// The key attribute mask is not supported.
public let errSecUnsupportedKeyAttributeMask: OSStatus = -67_739
/// The key label is not valid.
public let errSecInvalidKeyLabel: OSStatus = -67_740
/// The key label is not supported.
public let errSecUnsupportedKeyLabel: OSStatus = -67_741
/// The key format is not valid.
public let errSecInvalidKeyFormat: OSStatus = -67_742
/// The vector of buffers is not supported.
public let errSecUnsupportedVectorOfBuffers: OSStatus = -67_743
/// The input vector is not valid.
public let errSecInvalidInputVector: OSStatus = -67_744
/// The output vector is not valid.
public let errSecInvalidOutputVector: OSStatus = -67_745
/// An invalid context was encountered.
public let errSecInvalidContext: OSStatus = -67_746
/// An invalid algorithm was encountered.
public let errSecInvalidAlgorithm: OSStatus = -67_747
/// A key attribute was not valid.
public let errSecInvalidAttributeKey: OSStatus = -67_748
/// A key attribute was missing.
public let errSecMissingAttributeKey: OSStatus = -67_749
/// An init vector attribute was not valid.
public let errSecInvalidAttributeInitVector: OSStatus = -67_750
/// An init vector attribute was missing.
public let errSecMissingAttributeInitVector: OSStatus = -67_751
/// A salt attribute was not valid.
public let errSecInvalidAttributeSalt: OSStatus = -67_752
/// A salt attribute was missing.
public let errSecMissingAttributeSalt: OSStatus = -67_753
/// A padding attribute was not valid.
public let errSecInvalidAttributePadding: OSStatus = -67_754
/// A padding attribute was missing.
public let errSecMissingAttributePadding: OSStatus = -67_755
/// A random number attribute was not valid.
public let errSecInvalidAttributeRandom: OSStatus = -67_756
/// A random number attribute was missing.
public let errSecMissingAttributeRandom: OSStatus = -67_757
/// A seed attribute was not valid.
public let errSecInvalidAttributeSeed: OSStatus = -67_758
/// A seed attribute was missing.
public let errSecMissingAttributeSeed: OSStatus = -67_759
/// A passphrase attribute was not valid.
public let errSecInvalidAttributePassphrase: OSStatus = -67_760
/// A passphrase attribute was missing.
public let errSecMissingAttributePassphrase: OSStatus = -67_761
/// A key length attribute was not valid.
public let errSecInvalidAttributeKeyLength: OSStatus = -67_762
/// A key length attribute was missing.
public let errSecMissingAttributeKeyLength: OSStatus = -67_763
/// A block size attribute was not valid.
public let errSecInvalidAttributeBlockSize: OSStatus = -67_764
/// A block size attribute was missing.
public let errSecMissingAttributeBlockSize: OSStatus = -67_765
/// An output size attribute was not valid.
public let errSecInvalidAttributeOutputSize: OSStatus = -67_766
/// An output size attribute was missing.
public let errSecMissingAttributeOutputSize: OSStatus = -67_767
/// The number of rounds attribute was not valid.
public let errSecInvalidAttributeRounds: OSStatus = -67_768
/// An unsupported algorithm was encountered.
public let errSecUnsupportedAlgorithm: OSStatus = -67_768
/// The number of rounds attribute was missing.
public let errSecMissingAttributeRounds: OSStatus = -67_769
/// An algorithm parameters attribute was not valid.
public let errSecInvalidAlgorithmParms: OSStatus = -67_770
/// An algorithm parameters attribute was missing.
public let errSecMissingAlgorithmParms: OSStatus = -67_771
/// A label attribute was not valid.
public let errSecInvalidAttributeLabel: OSStatus = -67_772
/// A label attribute was missing.
public let errSecMissingAttributeLabel: OSStatus = -67_773
/// A key type attribute was not valid.
public let errSecInvalidAttributeKeyType: OSStatus = -67_774
/// A key type attribute was missing.
public let errSecMissingAttributeKeyType: OSStatus = -67_775
/// A mode attribute was not valid.
public let errSecInvalidAttributeMode: OSStatus = -67_776
/// A mode attribute was missing.
public let errSecMissingAttributeMode: OSStatus = -67_777
/// An effective bits attribute was not valid.
public let errSecInvalidAttributeEffectiveBits: OSStatus = -67_778
/// An effective bits attribute was missing.
public let errSecMissingAttributeEffectiveBits: OSStatus = -67_779
/// A start date attribute was not valid.
public let errSecInvalidAttributeStartDate: OSStatus = -67_780
/// A start date attribute was missing.
public let errSecMissingAttributeStartDate: OSStatus = -67_781
/// An end date attribute was not valid.
public let errSecInvalidAttributeEndDate: OSStatus = -67_782
/// An end date attribute was missing.
public let errSecMissingAttributeEndDate: OSStatus = -67_783
/// A version attribute was not valid.
public let errSecInvalidAttributeVersion: OSStatus = -67_784
/// A version attribute was missing.
public let errSecMissingAttributeVersion: OSStatus = -67_785
/// A prime attribute was not valid.
public let errSecInvalidAttributePrime: OSStatus = -67_786
/// A prime attribute was missing.
public let errSecMissingAttributePrime: OSStatus = -67_787
/// A base attribute was not valid.
public let errSecInvalidAttributeBase: OSStatus = -67_788
/// A base attribute was missing.
public let errSecMissingAttributeBase: OSStatus = -67_789
/// A subprime attribute was not valid.
public let errSecInvalidAttributeSubprime: OSStatus = -67_790
/// A subprime attribute was missing.
public let errSecMissingAttributeSubprime: OSStatus = -67_791
/// An iteration count attribute was not valid.
public let errSecInvalidAttributeIterationCount: OSStatus = -67_792
/// An iteration count attribute was missing.
public let errSecMissingAttributeIterationCount: OSStatus = -67_793
/// A database handle attribute was not valid.
public let errSecInvalidAttributeDLDBHandle: OSStatus = -67_794
/// A database handle attribute was missing.
public let errSecMissingAttributeDLDBHandle: OSStatus = -67_795
/// An access credentials attribute was not valid.
public let errSecInvalidAttributeAccessCredentials: OSStatus = -67_796
/// An access credentials attribute was missing.
public let errSecMissingAttributeAccessCredentials: OSStatus = -67_797
/// A public key format attribute was not valid.
public let errSecInvalidAttributePublicKeyFormat: OSStatus = -67_798
/// A public key format attribute was missing.
public let errSecMissingAttributePublicKeyFormat: OSStatus = -67_799
/// A private key format attribute was not valid.
public let errSecInvalidAttributePrivateKeyFormat: OSStatus = -67_800
/// A private key format attribute was missing.
public let errSecMissingAttributePrivateKeyFormat: OSStatus = -67_801
/// A symmetric key format attribute was not valid.
public let errSecInvalidAttributeSymmetricKeyFormat: OSStatus = -67_802
/// A symmetric key format attribute was missing.
public let errSecMissingAttributeSymmetricKeyFormat: OSStatus = -67_803
/// A wrapped key format attribute was not valid.
public let errSecInvalidAttributeWrappedKeyFormat: OSStatus = -67_804
/// A wrapped key format attribute was missing.
public let errSecMissingAttributeWrappedKeyFormat: OSStatus = -67_805
/// A staged operation is in progress.
public let errSecStagedOperationInProgress: OSStatus = -67_806
/// A staged operation was not started.
public let errSecStagedOperationNotStarted: OSStatus = -67_807
/// A cryptographic verification failure has occurred.
public let errSecVerifyFailed: OSStatus = -67_808
/// The query size is unknown.
public let errSecQuerySizeUnknown: OSStatus = -67_809
/// A block size mismatch occurred.
public let errSecBlockSizeMismatch: OSStatus = -67_810
/// The public key was inconsistent.
public let errSecPublicKeyInconsistent: OSStatus = -67_811
/// A device verification failure has occurred.
public let errSecDeviceVerifyFailed: OSStatus = -67_812
/// An invalid login name was detected.
public let errSecInvalidLoginName: OSStatus = -67_813
/// The user is already logged in.
public let errSecAlreadyLoggedIn: OSStatus = -67_814
/// An invalid digest algorithm was detected.
public let errSecInvalidDigestAlgorithm: OSStatus = -67_815
/// An invalid CRL group was detected.
public let errSecInvalidCRLGroup: OSStatus = -67_816
/// The certificate cannot operate.
public let errSecCertificateCannotOperate: OSStatus = -67_817
/// An expired certificate was detected.
public let errSecCertificateExpired: OSStatus = -67_818
/// The certificate is not yet valid.
public let errSecCertificateNotValidYet: OSStatus = -67_819
/// The certificate was revoked.
public let errSecCertificateRevoked: OSStatus = -67_820
/// The certificate was suspended.
public let errSecCertificateSuspended: OSStatus = -67_821
/// Insufficient credentials were detected.
public let errSecInsufficientCredentials: OSStatus = -67_822
/// The action was not valid.
public let errSecInvalidAction: OSStatus = -67_823
/// The authority was not valid.
public let errSecInvalidAuthority: OSStatus = -67_824
/// A verify action has failed.
public let errSecVerifyActionFailed: OSStatus = -67_825
/// The certificate authority was not valid.
public let errSecInvalidCertAuthority: OSStatus = -67_826
/// The CRL authority was not valid.
public let errSecInvaldCRLAuthority: OSStatus = -67_827
/// The CRL encoding was not valid.
public let errSecInvalidCRLEncoding: OSStatus = -67_828
/// The CRL type was not valid.
public let errSecInvalidCRLType: OSStatus = -67_829
/// The CRL was not valid.
public let errSecInvalidCRL: OSStatus = -67_830
/// The form type was not valid.
public let errSecInvalidFormType: OSStatus = -67_831
/// The ID was not valid.
public let errSecInvalidID: OSStatus = -67_832
/// The identifier was not valid.
public let errSecInvalidIdentifier: OSStatus = -67_833
/// The index was not valid.
public let errSecInvalidIndex: OSStatus = -67_834
/// The policy identifiers are not valid.
public let errSecInvalidPolicyIdentifiers: OSStatus = -67_835
/// The time specified was not valid.
public let errSecInvalidTimeString: OSStatus = -67_836
/// The trust policy reason was not valid.
public let errSecInvalidReason: OSStatus = -67_837
/// The request inputs are not valid.
public let errSecInvalidRequestInputs: OSStatus = -67_838
/// The response vector was not valid.
public let errSecInvalidResponseVector: OSStatus = -67_839
/// The stop-on policy was not valid.
public let errSecInvalidStopOnPolicy: OSStatus = -67_840
/// The tuple was not valid.
public let errSecInvalidTuple: OSStatus = -67_841
/// Multiple values are not supported.
public let errSecMultipleValuesUnsupported: OSStatus = -67_842
/// The certificate was not trusted.
public let errSecNotTrusted: OSStatus = -67_843
/// No default authority was detected.
public let errSecNoDefaultAuthority: OSStatus = -67_844
/// The trust policy had a rejected form.
public let errSecRejectedForm: OSStatus = -67_845
/// The request was lost.
public let errSecRequestLost: OSStatus = -67_846
/// The request was rejected.
public let errSecRequestRejected: OSStatus = -67_847
/// The address type is not supported.
public let errSecUnsupportedAddressType: OSStatus = -67_848
/// The service is not supported.
public let errSecUnsupportedService: OSStatus = -67_849
/// The tuple group was not valid.
public let errSecInvalidTupleGroup: OSStatus = -67_850
/// The base ACLs are not valid.
public let errSecInvalidBaseACLs: OSStatus = -67_851
/// The tuple credentials are not valid.
public let errSecInvalidTupleCredendtials: OSStatus = -67_852
/// The encoding was not valid.
public let errSecInvalidEncoding: OSStatus = -67_853
/// The validity period was not valid.
public let errSecInvalidValidityPeriod: OSStatus = -67_854
/// The requestor was not valid.
public let errSecInvalidRequestor: OSStatus = -67_855
/// The request descriptor was not valid.
public let errSecRequestDescriptor: OSStatus = -67_856
/// The bundle information was not valid.
public let errSecInvalidBundleInfo: OSStatus = -67_857
/// The CRL index was not valid.
public let errSecInvalidCRLIndex: OSStatus = -67_858
/// No field values were detected.
public let errSecNoFieldValues: OSStatus = -67_859
/// The field format is not supported.
public let errSecUnsupportedFieldFormat: OSStatus = -67_860
/// The index information is not supported.
public let errSecUnsupportedIndexInfo: OSStatus = -67_861
/// The locality is not supported.
public let errSecUnsupportedLocality: OSStatus = -67_862
/// The number of attributes is not supported.
public let errSecUnsupportedNumAttributes: OSStatus = -67_863
/// The number of indexes is not supported.
public let errSecUnsupportedNumIndexes: OSStatus = -67_864
/// The number of record types is not supported.
public let errSecUnsupportedNumRecordTypes: OSStatus = -67_865
/// Too many fields were specified.
public let errSecFieldSpecifiedMultiple: OSStatus = -67_866
/// The field format was incompatible.
public let errSecIncompatibleFieldFormat: OSStatus = -67_867
/// The parsing module was not valid.
public let errSecInvalidParsingModule: OSStatus = -67_868
/// The database is locked.
public let errSecDatabaseLocked: OSStatus = -67_869
/// The data store is open.
public let errSecDatastoreIsOpen: OSStatus = -67_870
/// A missing value was detected.
public let errSecMissingValue: OSStatus = -67_871
/// The query limits are not supported.
public let errSecUnsupportedQueryLimits: OSStatus = -67_872
/// The number of selection predicates is not supported.
public let errSecUnsupportedNumSelectionPreds: OSStatus = -67_873
/// The operator is not supported.
public let errSecUnsupportedOperator: OSStatus = -67_874
/// The database location is not valid.
public let errSecInvalidDBLocation: OSStatus = -67_875
/// The access request is not valid.
public let errSecInvalidAccessRequest: OSStatus = -67_876
/// The index information is not valid.
public let errSecInvalidIndexInfo: OSStatus = -67_877
/// The new owner is not valid.
public let errSecInvalidNewOwner: OSStatus = -67_878
/// The modify mode is not valid.
public let errSecInvalidModifyMode: OSStatus = -67_879
/// A required certificate extension is missing.
public let errSecMissingRequiredExtension: OSStatus = -67_880
/// The extended key usage extension was not marked critical.
public let errSecExtendedKeyUsageNotCritical: OSStatus = -67_881
/// A timestamp was expected but was not found.
public let errSecTimestampMissing: OSStatus = -67_882
/// The timestamp was not valid.
public let errSecTimestampInvalid: OSStatus = -67_883
/// The timestamp was not trusted.
public let errSecTimestampNotTrusted: OSStatus = -67_884
/// The timestamp service is not available.
public let errSecTimestampServiceNotAvailable: OSStatus = -67_885
/// An unrecognized or unsupported Algorithm Identifier in timestamp.
public let errSecTimestampBadAlg: OSStatus = -67_886
/// The timestamp transaction is not permitted or supported.
public let errSecTimestampBadRequest: OSStatus = -67_887
/// The timestamp data submitted has the wrong format.
public let errSecTimestampBadDataFormat: OSStatus = -67_888
/// The time source for the Timestamp Authority is not available.
public let errSecTimestampTimeNotAvailable: OSStatus = -67_889
/// The requested policy is not supported by the Timestamp Authority.
public let errSecTimestampUnacceptedPolicy: OSStatus = -67_890
/// The requested extension is not supported by the Timestamp Authority.
public let errSecTimestampUnacceptedExtension: OSStatus = -67_891
/// The additional information requested is not available.
public let errSecTimestampAddInfoNotAvailable: OSStatus = -67_892
/// The timestamp request cannot be handled due to system failure.
public let errSecTimestampSystemFailure: OSStatus = -67_893
/// A signing time was expected but was not found.
public let errSecSigningTimeMissing: OSStatus = -67_894
/// A timestamp transaction was rejected.
public let errSecTimestampRejection: OSStatus = -67_895
/// A timestamp transaction is waiting.
public let errSecTimestampWaiting: OSStatus = -67_896
/// A timestamp authority revocation warning was issued.
public let errSecTimestampRevocationWarning: OSStatus = -67_897
/// A timestamp authority revocation notification was issued.
public let errSecTimestampRevocationNotification: OSStatus = -67_898
/// The requested policy is not allowed for this certificate.
public let errSecCertificatePolicyNotAllowed: OSStatus = -67_899
/// The requested name is not allowed for this certificate.
public let errSecCertificateNameNotAllowed: OSStatus = -67_900
/// The validity period in the certificate exceeds the maximum allowed.
public let errSecCertificateValidityPeriodTooLong: OSStatus = -67_901
/// The verified certificate is a CA rather than an end-entity.
public let errSecCertificateIsCA: OSStatus = -67_902
/// A certificate has an extension twice.
public let errSecCertificateDuplicateExtension: OSStatus = -67_903
/// A qualified certificate statement is missing.
public let errSecMissingQualifiedCertStatement: OSStatus = -67_904
