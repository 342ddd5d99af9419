import DBus

/// Lets one call of each user at a time into the keychain, in the order of arrival.
///
/// The keychain has one thread, and a call may spend long on key derivation there. So nobody waits
/// for more than one call of each other user, however many came before (L16). How many wait is
/// bounded where calls come in (`MethodQuotas`).
@BusActor
final class KeychainTurns {
    /// The calls that wait, of each user who has one with the keychain.
    private var waiting: [UInt32: [CheckedContinuation<Void, Never>]] = [:]

    /// Returns when it is the call's turn, which ends with `end(of:)`.
    ///
    /// - Throws: NoReply when the caller has left meanwhile.
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

    /// Gives the turn to the user's next call.
    func end(of uid: UInt32) {
        guard waiting[uid]?.isEmpty == false else {
            waiting[uid] = nil
            return
        }
        waiting[uid]?.removeFirst().resume()
    }
}
