import DBus

/// Lets one call of each user at a time into the keychain, in the order of arrival.
///
/// The keychain has one thread, and a call may spend long on key derivation there. So nobody waits
/// for more than one call of each other user, however many came before (L16).
@BusActor
final class KeychainTurns {
    /// The most calls of one user that wait.
    static let limit = 256

    /// The calls that wait, of each user who has one with the keychain.
    private var waiting: [UInt32: [CheckedContinuation<Void, Never>]] = [:]

    /// Returns when it is the call's turn, which ends with `end(of:)`.
    ///
    /// - Throws: LimitsExceeded when too many wait; NoReply when the caller has left meanwhile.
    func begin(of uid: UInt32) async throws(DBusError) {
        guard waiting[uid, default: []].count < Self.limit else {
            throw .exceeded(
                "this user waits for too many answers of the keychain: wait for some of them first"
            )
        }
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
