import DBus

/// Admits one call of each user at a time to the keychain, in the order of arrival.
///
/// The keychain has one thread, and key derivation can take long there. With these turns, a call
/// waits for at most one call of each other user (L16). `MethodQuotas` bounds the number of waiting
/// calls.
@BusActor
final class KeychainQueue {
    /// The waiting calls of each user who has a call in the keychain.
    private var waiting: [UInt32: [CheckedContinuation<Void, Never>]] = [:]

    /// Waits for the call's turn.
    ///
    /// `end(of:)` ends the turn.
    ///
    /// - Throws: NoReply if the caller left meanwhile.
    func begin(of uid: UInt32) async throws(DBusError) {
        await withCheckedContinuation { continuation in
            guard waiting[uid] != nil else {
                waiting[uid] = []
                continuation.resume()
                return
            }
            waiting[uid]?.append(continuation)
        }
        guard Task.isCancelled else { return }
        end(of: uid)
        throw DBusError(.noReply, "The caller has left.")
    }

    func end(of uid: UInt32) {
        guard waiting[uid]?.isEmpty == false else {
            waiting[uid] = nil
            return
        }
        waiting[uid]?.removeFirst().resume()
    }
}
