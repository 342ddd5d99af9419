/// Why a security key can't do what it was asked to.
package enum KeyFault: Error, Hashable, Sendable {
    /// It was told to stop.
    case interrupted
    /// It was pulled out.
    case gone
    /// Another program has it.
    case busy
    /// Nobody touched it before its own time was over.
    case untouched
    /// It doesn't answer.
    case silent
    /// It knows none of the credentials.
    case stranger
    /// It has one of the credentials already.
    case enrolled
    /// What it answered proves nothing: the sentence says what is wrong with it.
    case unproven(String)
    /// It has no room.
    case full
    /// Anything else: one sentence for people.
    case failed(String)
}
