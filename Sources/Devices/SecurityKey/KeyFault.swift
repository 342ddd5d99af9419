/// The reasons for a failure of a security key.
package enum KeyFault: Error, Hashable, Sendable {
    case interrupted
    case gone
    case busy
    /// The user did not touch the key before its own time limit.
    case touchTimeout
    case silent
    /// The key has none of the credentials.
    case noCredential
    /// The key has one of the credentials already.
    case enrolled
    /// The key's answer does not prove its credential; a sentence says why.
    case invalidProof(String)
    case full
    /// Any other failure: a sentence for people.
    case failed(String)
}
