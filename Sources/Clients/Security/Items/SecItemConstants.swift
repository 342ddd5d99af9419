// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// Names and values are Apple's.
//
// SAFETY: NSString is not marked Sendable, but these constants are immutable.

// MARK: Classes and their names

nonisolated(unsafe) public let kSecClass: CFString = "class" as NSString
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp" as NSString
nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet" as NSString
nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert" as NSString
nonisolated(unsafe) public let kSecClassKey: CFString = "keys" as NSString
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt" as NSString

// MARK: Attributes

nonisolated(unsafe) public let kSecAttrAccessible: CFString = "pdmn" as NSString
nonisolated(unsafe) public let kSecAttrAccessControl: CFString = "accc" as NSString
nonisolated(unsafe) public let kSecAttrAccessGroup: CFString = "agrp" as NSString
nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = "sync" as NSString
nonisolated(unsafe) public let kSecAttrSynchronizableAny: CFString = "syna" as NSString
nonisolated(unsafe) public let kSecAttrCreationDate: CFString = "cdat" as NSString
nonisolated(unsafe) public let kSecAttrModificationDate: CFString = "mdat" as NSString
nonisolated(unsafe) public let kSecAttrDescription: CFString = "desc" as NSString
nonisolated(unsafe) public let kSecAttrComment: CFString = "icmt" as NSString
nonisolated(unsafe) public let kSecAttrCreator: CFString = "crtr" as NSString
nonisolated(unsafe) public let kSecAttrType: CFString = "type" as NSString
nonisolated(unsafe) public let kSecAttrLabel: CFString = "labl" as NSString
nonisolated(unsafe) public let kSecAttrIsInvisible: CFString = "invi" as NSString
nonisolated(unsafe) public let kSecAttrIsNegative: CFString = "nega" as NSString
nonisolated(unsafe) public let kSecAttrAccount: CFString = "acct" as NSString
nonisolated(unsafe) public let kSecAttrService: CFString = "svce" as NSString
nonisolated(unsafe) public let kSecAttrGeneric: CFString = "gena" as NSString
nonisolated(unsafe) public let kSecAttrSecurityDomain: CFString = "sdmn" as NSString
nonisolated(unsafe) public let kSecAttrServer: CFString = "srvr" as NSString
nonisolated(unsafe) public let kSecAttrProtocol: CFString = "ptcl" as NSString
nonisolated(unsafe) public let kSecAttrAuthenticationType: CFString = "atyp" as NSString
nonisolated(unsafe) public let kSecAttrPort: CFString = "port" as NSString
nonisolated(unsafe) public let kSecAttrPath: CFString = "path" as NSString
nonisolated(unsafe) public let kSecAttrCertificateType: CFString = "ctyp" as NSString
nonisolated(unsafe) public let kSecAttrCertificateEncoding: CFString = "cenc" as NSString
nonisolated(unsafe) public let kSecAttrSubject: CFString = "subj" as NSString
nonisolated(unsafe) public let kSecAttrIssuer: CFString = "issr" as NSString
nonisolated(unsafe) public let kSecAttrSerialNumber: CFString = "slnr" as NSString
nonisolated(unsafe) public let kSecAttrSubjectKeyID: CFString = "skid" as NSString
nonisolated(unsafe) public let kSecAttrPublicKeyHash: CFString = "pkhh" as NSString
nonisolated(unsafe) public let kSecAttrKeyClass: CFString = "kcls" as NSString
nonisolated(unsafe) public let kSecAttrApplicationLabel: CFString = "klbl" as NSString
nonisolated(unsafe) public let kSecAttrIsPermanent: CFString = "perm" as NSString
nonisolated(unsafe) public let kSecAttrIsSensitive: CFString = "sens" as NSString
nonisolated(unsafe) public let kSecAttrIsExtractable: CFString = "extr" as NSString
nonisolated(unsafe) public let kSecAttrApplicationTag: CFString = "atag" as NSString
nonisolated(unsafe) public let kSecAttrKeyType: CFString = "type" as NSString
nonisolated(unsafe) public let kSecAttrKeySizeInBits: CFString = "bsiz" as NSString
nonisolated(unsafe) public let kSecAttrEffectiveKeySize: CFString = "esiz" as NSString
nonisolated(unsafe) public let kSecAttrCanEncrypt: CFString = "encr" as NSString
nonisolated(unsafe) public let kSecAttrCanDecrypt: CFString = "decr" as NSString
nonisolated(unsafe) public let kSecAttrCanDerive: CFString = "drve" as NSString
nonisolated(unsafe) public let kSecAttrCanSign: CFString = "sign" as NSString
nonisolated(unsafe) public let kSecAttrCanVerify: CFString = "vrfy" as NSString
nonisolated(unsafe) public let kSecAttrCanWrap: CFString = "wrap" as NSString
nonisolated(unsafe) public let kSecAttrCanUnwrap: CFString = "unwp" as NSString
nonisolated(unsafe) public let kSecAttrSyncViewHint: CFString = "vwht" as NSString
nonisolated(unsafe) public let kSecAttrTokenID: CFString = "tkid" as NSString
nonisolated(unsafe) public let kSecAttrTokenIDSecureEnclave: CFString =
    "com.apple.setoken" as NSString
nonisolated(unsafe) public let kSecAttrAccessGroupToken: CFString = "com.apple.token" as NSString
nonisolated(unsafe) public let kSecAttrPersistentReference: CFString = "persistref" as NSString
nonisolated(unsafe) public let kSecAttrNoLegacy: CFString = "nleg" as NSString
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg" as NSString
nonisolated(unsafe) public let kSecPrivateKeyAttrs: CFString = "private" as NSString
nonisolated(unsafe) public let kSecPublicKeyAttrs: CFString = "public" as NSString

// MARK: When an item may be read

nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak" as NSString
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck" as NSString
nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk" as NSString
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString =
    "aku" as NSString
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString =
    "cku" as NSString
nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku" as NSString
nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString =
    "akpu" as NSString

// MARK: Kinds of keys

nonisolated(unsafe) public let kSecAttrKeyClassPublic: CFString = "0" as NSString
nonisolated(unsafe) public let kSecAttrKeyClassPrivate: CFString = "1" as NSString
nonisolated(unsafe) public let kSecAttrKeyClassSymmetric: CFString = "2" as NSString
nonisolated(unsafe) public let kSecAttrKeyTypeRSA: CFString = "42" as NSString
nonisolated(unsafe) public let kSecAttrKeyTypeDSA: CFString = "43" as NSString
nonisolated(unsafe) public let kSecAttrKeyTypeEC: CFString = "73" as NSString
nonisolated(unsafe) public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73" as NSString
nonisolated(unsafe) public let kSecAttrKeyTypeAES: CFString = "2147483649" as NSString

// MARK: What to match

nonisolated(unsafe) public let kSecMatchPolicy: CFString = "m_Policy" as NSString
nonisolated(unsafe) public let kSecMatchItemList: CFString = "m_ItemList" as NSString
nonisolated(unsafe) public let kSecMatchSearchList: CFString = "m_SearchList" as NSString
nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers" as NSString
nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString =
    "m_EmailAddressIfPresent" as NSString
nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains" as NSString
nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive" as NSString
nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly" as NSString
nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate" as NSString
nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit" as NSString
nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne" as NSString
nonisolated(unsafe) public let kSecMatchLimitAll: CFString = "m_LimitAll" as NSString

// MARK: What to return, and what is given

nonisolated(unsafe) public let kSecReturnData: CFString = "r_Data" as NSString
nonisolated(unsafe) public let kSecReturnAttributes: CFString = "r_Attributes" as NSString
nonisolated(unsafe) public let kSecReturnRef: CFString = "r_Ref" as NSString
nonisolated(unsafe) public let kSecReturnPersistentRef: CFString = "r_PersistentRef" as NSString
nonisolated(unsafe) public let kSecValueData: CFString = "v_Data" as NSString
nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref" as NSString
nonisolated(unsafe) public let kSecValuePersistentRef: CFString = "v_PersistentRef" as NSString
nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList" as NSString
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt" as NSString
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI" as NSString
nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI" as NSString
nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA" as NSString
nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF" as NSString
nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS" as NSString
nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx" as NSString
