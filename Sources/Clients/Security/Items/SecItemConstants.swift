// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// The names are Apple's, and so are the texts behind them.

// MARK: Classes and their names

/// The text `class`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecClass: CFString = "class" as NSString
/// The text `genp`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp" as NSString
/// The text `inet`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet" as NSString
/// The text `cert`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert" as NSString
/// The text `keys`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecClassKey: CFString = "keys" as NSString
/// The text `idnt`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt" as NSString

// MARK: Attributes

/// The text `pdmn`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAccessible: CFString = "pdmn" as NSString
/// The text `accc`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAccessControl: CFString = "accc" as NSString
/// The text `agrp`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAccessGroup: CFString = "agrp" as NSString
/// The text `sync`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = "sync" as NSString
/// The text `syna`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrSynchronizableAny: CFString = "syna" as NSString
/// The text `cdat`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrCreationDate: CFString = "cdat" as NSString
/// The text `mdat`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrModificationDate: CFString = "mdat" as NSString
/// The text `desc`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrDescription: CFString = "desc" as NSString
/// The text `icmt`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrComment: CFString = "icmt" as NSString
/// The text `crtr`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrCreator: CFString = "crtr" as NSString
/// The text `type`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrType: CFString = "type" as NSString
/// The text `labl`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrLabel: CFString = "labl" as NSString
/// The text `invi`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrIsInvisible: CFString = "invi" as NSString
/// The text `nega`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrIsNegative: CFString = "nega" as NSString
/// The text `acct`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAccount: CFString = "acct" as NSString
/// The text `svce`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrService: CFString = "svce" as NSString
/// The text `gena`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrGeneric: CFString = "gena" as NSString
/// The text `sdmn`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrSecurityDomain: CFString = "sdmn" as NSString
/// The text `srvr`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrServer: CFString = "srvr" as NSString
/// The text `ptcl`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocol: CFString = "ptcl" as NSString
/// The text `atyp`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAuthenticationType: CFString = "atyp" as NSString
/// The text `port`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrPort: CFString = "port" as NSString
/// The text `path`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrPath: CFString = "path" as NSString
/// The text `ctyp`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrCertificateType: CFString = "ctyp" as NSString
/// The text `cenc`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrCertificateEncoding: CFString = "cenc" as NSString
/// The text `subj`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrSubject: CFString = "subj" as NSString
/// The text `issr`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrIssuer: CFString = "issr" as NSString
/// The text `slnr`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrSerialNumber: CFString = "slnr" as NSString
/// The text `skid`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrSubjectKeyID: CFString = "skid" as NSString
/// The text `pkhh`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrPublicKeyHash: CFString = "pkhh" as NSString
/// The text `kcls`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrKeyClass: CFString = "kcls" as NSString
/// The text `klbl`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrApplicationLabel: CFString = "klbl" as NSString
/// The text `perm`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrIsPermanent: CFString = "perm" as NSString
/// The text `sens`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrIsSensitive: CFString = "sens" as NSString
/// The text `extr`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrIsExtractable: CFString = "extr" as NSString
/// The text `atag`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrApplicationTag: CFString = "atag" as NSString
/// The text `type`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrKeyType: CFString = "type" as NSString
/// The text `bsiz`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrKeySizeInBits: CFString = "bsiz" as NSString
/// The text `esiz`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrEffectiveKeySize: CFString = "esiz" as NSString
/// The text `encr`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrCanEncrypt: CFString = "encr" as NSString
/// The text `decr`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrCanDecrypt: CFString = "decr" as NSString
/// The text `drve`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrCanDerive: CFString = "drve" as NSString
/// The text `sign`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrCanSign: CFString = "sign" as NSString
/// The text `vrfy`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrCanVerify: CFString = "vrfy" as NSString
/// The text `wrap`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrCanWrap: CFString = "wrap" as NSString
/// The text `unwp`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrCanUnwrap: CFString = "unwp" as NSString
/// The text `vwht`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrSyncViewHint: CFString = "vwht" as NSString
/// The text `tkid`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrTokenID: CFString = "tkid" as NSString
/// The text `com.apple.setoken`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrTokenIDSecureEnclave: CFString =
    "com.apple.setoken" as NSString
/// The text `com.apple.token`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAccessGroupToken: CFString = "com.apple.token" as NSString
/// The text `nleg`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrNoLegacy: CFString = "nleg" as NSString
/// The text `nleg`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg" as NSString
/// The text `private`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecPrivateKeyAttrs: CFString = "private" as NSString
/// The text `public`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecPublicKeyAttrs: CFString = "public" as NSString

// MARK: When an item may be read

/// The text `ak`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak" as NSString
/// The text `ck`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck" as NSString
/// The text `dk`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk" as NSString
/// The text `aku`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString =
    "aku" as NSString
/// The text `cku`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString =
    "cku" as NSString
/// The text `dku`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku" as NSString
/// The text `akpu`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString =
    "akpu" as NSString

// MARK: Kinds of keys

/// The text `0`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrKeyClassPublic: CFString = "0" as NSString
/// The text `1`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrKeyClassPrivate: CFString = "1" as NSString
/// The text `2`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrKeyClassSymmetric: CFString = "2" as NSString
/// The text `42`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrKeyTypeRSA: CFString = "42" as NSString
/// The text `43`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrKeyTypeDSA: CFString = "43" as NSString
/// The text `73`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrKeyTypeEC: CFString = "73" as NSString
/// The text `73`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73" as NSString
/// The text `2147483649`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrKeyTypeAES: CFString = "2147483649" as NSString

// MARK: What to match

/// The text `m_Policy`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecMatchPolicy: CFString = "m_Policy" as NSString
/// The text `m_ItemList`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecMatchItemList: CFString = "m_ItemList" as NSString
/// The text `m_SearchList`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecMatchSearchList: CFString = "m_SearchList" as NSString
/// The text `m_Issuers`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers" as NSString
/// The text `m_EmailAddressIfPresent`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString =
    "m_EmailAddressIfPresent" as NSString
/// The text `m_SubjectContains`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains" as NSString
/// The text `m_CaseInsensitive`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive" as NSString
/// The text `m_TrustedOnly`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly" as NSString
/// The text `m_ValidOnDate`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate" as NSString
/// The text `m_Limit`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit" as NSString
/// The text `m_LimitOne`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne" as NSString
/// The text `m_LimitAll`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecMatchLimitAll: CFString = "m_LimitAll" as NSString

// MARK: What to return, and what is given

/// The text `r_Data`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecReturnData: CFString = "r_Data" as NSString
/// The text `r_Attributes`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecReturnAttributes: CFString = "r_Attributes" as NSString
/// The text `r_Ref`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecReturnRef: CFString = "r_Ref" as NSString
/// The text `r_PersistentRef`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecReturnPersistentRef: CFString = "r_PersistentRef" as NSString
/// The text `v_Data`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecValueData: CFString = "v_Data" as NSString
/// The text `v_Ref`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref" as NSString
/// The text `v_PersistentRef`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecValuePersistentRef: CFString = "v_PersistentRef" as NSString
/// The text `u_ItemList`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList" as NSString
/// The text `u_OpPrompt`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt" as NSString
/// The text `u_NoAuthUI`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI" as NSString
/// The text `u_AuthUI`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI" as NSString
/// The text `u_AuthUIA`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA" as NSString
/// The text `u_AuthUIF`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF" as NSString
/// The text `u_AuthUIS`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS" as NSString
/// The text `u_AuthCtx`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx" as NSString
