import DBus
import LocalAuthBus

/// The connections that receive the result of each evaluation.
@BusActor
final class Monitors {
    /// The most monitors of all users except root.
    static let limit = 64
    static let perUser = 8

    private var watching: [String: Peer] = [:]
    private let connection: Connection

    init(connection: Connection) {
        self.connection = connection
    }

    var count: Int { watching.count }

    /// Sends results to a connection until it leaves.
    ///
    /// A second call for a connection has no effect.
    ///
    /// - Throws: AccessDenied for a sandboxed program, LimitsExceeded for too many monitors. Root
    ///   is exempt from both.
    func add(_ peer: Peer) throws(DBusError) {
        guard watching[peer.name] == nil, !peer.hasLeft else { return }
        if peer.uid != 0 {
            guard !Confinement.mayHold(peer) else {
                throw .denied("a sandboxed program can't watch the evaluations of others")
            }
            // Root's monitors do not count, so that they displace no user.
            let others = watching.values.count { $0.uid != 0 }
            let own = watching.values.count { $0.uid == peer.uid }
            guard others < Self.limit, own < Self.perUser else {
                throw .exceeded("too many connections watch evaluations")
            }
        }
        watching[peer.name] = peer
        _ = peer.onLeave { [weak self] in self?.watching[peer.name] = nil }
    }

    /// Sends a result to root's monitors and to those of the evaluation's user.
    func tell(_ report: EvaluationReport) {
        let audience = watching.values.filter { $0.uid == 0 || $0.uid == report.uid }
        guard !audience.isEmpty else { return }
        let record = report.wire
        let signals = Authentication1Signals(connection, path: Authentication1.path)
        for peer in audience { signals.evaluated(record: record, to: peer.name) }
    }
}
