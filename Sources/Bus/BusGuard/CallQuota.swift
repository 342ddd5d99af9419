package import DBus

/// Bounds on the unanswered calls and the bytes of each connection and each user.
///
/// A user can open many connections, so each bound for a connection has a bound for the user beside
/// it. A call counts until its work has ended, even if its caller has left.
@BusActor
package final class CallQuota {
    /// The source of a method's answer, which decides the bound on its calls.
    package enum Kind: Sendable, Hashable {
        /// The method is answered at once, in the turn of the loop in which the call arrives.
        case immediate
        /// The answer comes from another process or from the disk.
        case query
        /// As ``query``, but all waiting callers share a single query.
        case sharedQuery
        /// The answer may need a person.
        case interactive
    }

    /// The most calls of one kind that may be unanswered.
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
    /// Missing methods are of kind ``Kind/query``.
    package typealias Table = [String: [String: Kind]]

    private struct Holding {
        var calls: [Kind: Int] = [:]
        var bytes = 0

        var isEmpty: Bool { bytes == 0 && calls.isEmpty }
    }

    /// The bounds on calls.
    ///
    /// A kind without an entry is unbounded.
    package var limits: [Kind: Limit]
    private let table: Table
    private let bytesPerUser: Int
    private let bytesOfAll: Int
    /// Bytes held for all users.
    private var held = 0
    private var holdings: [UInt32: Holding] = [:]
    /// Unanswered calls of each connection.
    private var waiting: [ObjectIdentifier: [Kind: Int]] = [:]

    /// Creates a quota for all connections of a service.
    ///
    /// - Parameters:
    ///   - table: The kind of each method.
    ///   - limits: The bounds on calls.
    ///   - bytesPerUser: The most bytes held for all connections of a user.
    ///   - bytesOfAll: Beyond this many bytes for all users, each may have only an equal share.
    ///     Twice this value is the hard limit.
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

    package func bytes(of uid: UInt32) -> Int { holdings[uid]?.bytes ?? 0 }

    package func calls(of uid: UInt32) -> Int {
        holdings[uid]?.calls.values.reduce(0, +) ?? 0
    }

    /// Holds `new` bytes for a user instead of `old`.
    ///
    /// - Throws: `LimitsExceeded`; the held bytes are then unchanged.
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

    /// Returns whether a user may hold `bytes` instead of its `own`.
    private func isFair(_ bytes: Int, insteadOf own: Int) -> Bool {
        let all = held - own + bytes
        let share = bytesOfAll / (holdings.count + 1)
        return all <= bytesOfAll || bytes <= share && all <= 2 * bytesOfAll
    }

    package func release(_ bytes: Int, of uid: UInt32) {
        change(uid) { $0.bytes -= bytes }
    }

    // MARK: For dispatch

    /// Admits a call to its method.
    ///
    /// A call of an immediate method counts as a question if its answer comes later after all.
    func admit(
        _ member: String,
        of interface: String,
        from peer: Peer
    ) throws(DBusError) -> any CallTicket {
        let kind = table[interface]?[member] ?? .query
        try check(kind, peer)
        return Ticket(self, kind == .immediate ? .query : kind, peer)
    }

    /// Throws `LimitsExceeded` if a further call would exceed a limit.
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
