package import DBus

/// Bounds on the unanswered calls and the bytes of each connection and each user.
///
/// A user has as many connections as the bus gives, so what is bounded for a connection is bounded
/// for the user, too. A call counts until its work has ended, also when its caller has left.
@BusActor
package final class CallQuota {
    /// What a method makes the service hold until it is answered.
    package enum Kind: Sendable, Hashable {
        /// Nothing: it is answered in the turn of the loop in which it arrives.
        case immediate
        /// An answer that another process, or the disk, is asked for.
        case question
        /// The same, asked for once for all who wait for it.
        case shared
        /// An answer that a person may be asked for.
        case use
    }

    /// How many calls of one kind may be unanswered.
    package struct Limit: Sendable, Hashable {
        package let perConnection: Int
        package let perUser: Int

        package init(perConnection: Int, perUser: Int) {
            self.perConnection = perConnection
            self.perUser = perUser
        }
    }

    /// The kind of each method, by interface and member.
    ///
    /// A method that is not in it is a question.
    package typealias Table = [String: [String: Kind]]

    private struct Holding {
        var calls: [Kind: Int] = [:]
        var bytes = 0

        var isEmpty: Bool { bytes == 0 && calls.isEmpty }
    }

    /// The bounds on calls; a kind without any is not bounded.
    package var limits: [Kind: Limit]
    private let table: Table
    private let bytesPerUser: Int
    private let bytesOfAll: Int
    /// What is held for all users.
    private var held = 0
    private var holdings: [UInt32: Holding] = [:]
    /// Unanswered calls of each connection.
    private var waiting: [ObjectIdentifier: [Kind: Int]] = [:]

    /// A quota for all connections of a service.
    ///
    /// - Parameters:
    ///   - table: The kind of each method.
    ///   - limits: The bounds on calls.
    ///   - bytesPerUser: The bound on what all connections of a user make it hold.
    ///   - bytesOfAll: When it holds so much for all users, each may have an equal share and no
    ///     more; twice as much is the bound.
    package init(
        table: Table,
        limits: [Kind: Limit],
        bytesPerUser: Int,
        bytesOfAll: Int = .max / 2
    ) {
        self.table = table
        self.limits = limits
        self.bytesPerUser = bytesPerUser
        self.bytesOfAll = bytesOfAll
    }

    /// How many bytes are held for a user.
    package func bytes(of uid: UInt32) -> Int { holdings[uid]?.bytes ?? 0 }

    /// How many calls of a user are unanswered.
    package func calls(of uid: UInt32) -> Int {
        holdings[uid]?.calls.values.reduce(0, +) ?? 0
    }

    /// Holds `new` bytes for a user instead of `old`.
    ///
    /// - Throws: `LimitsExceeded`; then it holds what it held.
    package func hold(
        _ new: Int,
        insteadOf old: Int = 0,
        of uid: UInt32
    ) throws(DBusError) {
        guard new <= old || bytes(of: uid) - old + new <= bytesPerUser else {
            throw DBusError(
                .limitsExceeded,
                "The service holds \(bytesPerUser) bytes for this user already."
            )
        }
        guard new <= old || isFair(bytes(of: uid) - old + new, insteadOf: bytes(of: uid)) else {
            throw DBusError(
                .limitsExceeded,
                "The service holds much already, and no small part of it for this user."
            )
        }
        change(uid) { $0.bytes += new - old }
    }

    /// Whether a user may have so much, instead of what it has.
    private func isFair(_ bytes: Int, insteadOf own: Int) -> Bool {
        let all = held - own + bytes
        let share = bytesOfAll / (holdings.count + 1)
        return all <= bytesOfAll || bytes <= share && all <= 2 * bytesOfAll
    }

    /// Holds so many bytes less for a user.
    package func release(_ bytes: Int, of uid: UInt32) {
        change(uid) { $0.bytes -= bytes }
    }

    // MARK: For dispatch

    /// Admits a call to its method.
    ///
    /// A method that answers at once counts as a question if it answers later after all.
    func admit(
        _ member: String,
        of interface: String,
        from peer: Peer
    ) throws(DBusError) -> any CallTicket {
        let kind = table[interface]?[member] ?? .question
        try check(kind, peer)
        return Ticket(self, kind == .immediate ? .question : kind, peer)
    }

    /// Refuses a call that would be one too many.
    private func check(_ kind: Kind, _ peer: Peer) throws(DBusError) {
        guard let limit = limits[kind] else { return }
        guard waiting[ObjectIdentifier(peer)]?[kind] ?? 0 < limit.perConnection else {
            throw DBusError(.limitsExceeded, "Too many calls of this connection wait.")
        }
        guard holdings[peer.uid]?.calls[kind] ?? 0 < limit.perUser else {
            throw DBusError(.limitsExceeded, "Too many calls of this user wait.")
        }
    }

    private func begin(_ kind: Kind, _ peer: Peer, bytes: Int) throws(DBusError) {
        try check(kind, peer)
        try hold(bytes, of: peer.uid)
        waiting[ObjectIdentifier(peer), default: [:]][kind, default: 0] += 1
        change(peer.uid) { $0.calls[kind, default: 0] += 1 }
    }

    private func end(_ kind: Kind, _ peer: Peer, bytes: Int) {
        var ofConnection = waiting[ObjectIdentifier(peer)] ?? [:]
        ofConnection[kind] = Self.oneLess(ofConnection[kind])
        waiting[ObjectIdentifier(peer)] = ofConnection.isEmpty ? nil : ofConnection
        change(peer.uid) { holding in
            holding.calls[kind] = Self.oneLess(holding.calls[kind])
            holding.bytes -= bytes
        }
    }

    private static func oneLess(_ count: Int?) -> Int? {
        guard let count, count > 1 else { return nil }
        return count - 1
    }

    /// The place of a call, from its admission to its answer.
    private final class Ticket: CallTicket {
        private let quota: CallQuota
        private let kind: Kind
        private let peer: Peer
        private var bytes: Int?

        init(_ quota: CallQuota, _ kind: Kind, _ peer: Peer) {
            (self.quota, self.kind, self.peer) = (quota, kind, peer)
        }

        func begin(bytes: Int) throws(DBusError) {
            try quota.begin(kind, peer, bytes: bytes)
            self.bytes = bytes
        }

        func end() {
            guard let bytes else { return }
            self.bytes = nil
            quota.end(kind, peer, bytes: bytes)
        }
    }

    private func change(_ uid: UInt32, _ body: (inout Holding) -> Void) {
        var holding = holdings[uid] ?? Holding()
        held -= holding.bytes
        body(&holding)
        held += holding.bytes
        holdings[uid] = holding.isEmpty ? nil : holding
    }
}
