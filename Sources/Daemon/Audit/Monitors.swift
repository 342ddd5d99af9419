import DBus
import LocalAuthBus

/// The connections that are told how each evaluation ended.
@BusActor
final class Monitors {
    /// Connections that watch at the same time.
    static let limit = 64
    static let perUser = 8

    private var watching: [String: Peer] = [:]
    private let connection: Connection

    init(connection: Connection) {
        self.connection = connection
    }

    var count: Int { watching.count }

    /// Tells a connection from now on, until it leaves; a second time changes nothing.
    ///
    /// - Throws: AccessDenied for a sandboxed program, LimitsExceeded; neither for root.
    func add(_ peer: Peer) throws(DBusError) {
        guard watching[peer.name] == nil, !peer.hasLeft else { return }
        if peer.uid != 0 {
            guard !Confinement.mayHold(peer) else {
                throw .denied("a sandboxed program can't watch the evaluations of others")
            }
            // Root's own are its affair: they take nobody's place.
            let others = watching.values.count { $0.uid != 0 }
            let own = watching.values.count { $0.uid == peer.uid }
            guard others < Self.limit, own < Self.perUser else {
                throw .exceeded("too many connections watch evaluations")
            }
        }
        watching[peer.name] = peer
        _ = peer.onLeave { [weak self] in self?.watching[peer.name] = nil }
    }

    /// Root sees all, others what was asked about themselves.
    func tell(_ report: EvaluationReport) {
        let audience = watching.values.filter { $0.uid == 0 || $0.uid == report.uid }
        guard !audience.isEmpty else { return }
        let record = report.wire
        let signals = Authentication1Signals(connection, path: Authentication1.path)
        for peer in audience { signals.evaluated(record: record, to: peer.name) }
    }
}
