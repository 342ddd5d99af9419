// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// The names are Apple's, and so are the texts behind them.

// MARK: Protocols of internet passwords

/// The text `ftp`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolFTP: CFString = "ftp " as NSString
/// The text `ftpa`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolFTPAccount: CFString = "ftpa" as NSString
/// The text `http`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolHTTP: CFString = "http" as NSString
/// The text `irc`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolIRC: CFString = "irc " as NSString
/// The text `nntp`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolNNTP: CFString = "nntp" as NSString
/// The text `pop3`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolPOP3: CFString = "pop3" as NSString
/// The text `smtp`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolSMTP: CFString = "smtp" as NSString
/// The text `sox`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolSOCKS: CFString = "sox " as NSString
/// The text `imap`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolIMAP: CFString = "imap" as NSString
/// The text `ldap`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolLDAP: CFString = "ldap" as NSString
/// The text `atlk`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolAppleTalk: CFString = "atlk" as NSString
/// The text `afp`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolAFP: CFString = "afp " as NSString
/// The text `teln`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolTelnet: CFString = "teln" as NSString
/// The text `ssh`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolSSH: CFString = "ssh " as NSString
/// The text `ftps`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolFTPS: CFString = "ftps" as NSString
/// The text `htps`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolHTTPS: CFString = "htps" as NSString
/// The text `htpx`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolHTTPProxy: CFString = "htpx" as NSString
/// The text `htsx`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolHTTPSProxy: CFString = "htsx" as NSString
/// The text `ftpx`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolFTPProxy: CFString = "ftpx" as NSString
/// The text `smb`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolSMB: CFString = "smb " as NSString
/// The text `rtsp`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolRTSP: CFString = "rtsp" as NSString
/// The text `rtsx`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolRTSPProxy: CFString = "rtsx" as NSString
/// The text `daap`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolDAAP: CFString = "daap" as NSString
/// The text `eppc`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolEPPC: CFString = "eppc" as NSString
/// The text `ipp`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolIPP: CFString = "ipp " as NSString
/// The text `ntps`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolNNTPS: CFString = "ntps" as NSString
/// The text `ldps`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolLDAPS: CFString = "ldps" as NSString
/// The text `tels`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolTelnetS: CFString = "tels" as NSString
/// The text `imps`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolIMAPS: CFString = "imps" as NSString
/// The text `ircs`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolIRCS: CFString = "ircs" as NSString
/// The text `pops`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrProtocolPOP3S: CFString = "pops" as NSString

// MARK: Their ways to authenticate

/// The text `ntlm`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm" as NSString
/// The text `msna`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeMSN: CFString = "msna" as NSString
/// The text `dpaa`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeDPA: CFString = "dpaa" as NSString
/// The text `rpaa`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeRPA: CFString = "rpaa" as NSString
/// The text `http`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http" as NSString
/// The text `httd`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd" as NSString
/// The text `form`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTMLForm: CFString = "form" as NSString
/// The text `dflt`; constant, though NSString is not marked Sendable.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeDefault: CFString = "dflt" as NSString
