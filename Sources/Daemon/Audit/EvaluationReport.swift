import AuthEngine
import Contract
import DBus
import Glibc

/// The result of one evaluation, for the journal and for monitors.
struct EvaluationReport {
    let uid: UInt32
    let policy: Policy
    let session: String?
    /// The caller's unique name.
    let caller: String
    let callerUID: UInt32
    let pid: Int32
    let process: CallerProcess
    let requester: Requester?
    /// Misses and wrong passwords before the end.
    let attempts: Int
    let outcome: Outcome

    @BusActor
    init(_ evaluation: PendingEvaluation, _ outcome: Outcome) {
        let peer = evaluation.audience.peer
        uid = evaluation.request.uid
        policy = evaluation.request.policy
        session = evaluation.session
        caller = peer.name
        callerUID = peer.uid
        pid = peer.pid
        process = evaluation.process
        requester = evaluation.text.requester
        attempts = evaluation.attempts
        self.outcome = outcome
    }

    /// `Success`, or the error's name without its prefix.
    var outcomeName: String {
        guard case .refused(let refusal) = outcome else { return "Success" }
        return DBusError(refusal).outcome
    }

    var record: AuditRecord {
        let grant = grant
        return AuditRecord(
            .evaluationEnded,
            uid: uid,
            [
                .session: session, .caller: caller, .callerUID: "\(callerUID)",
                .callerPID: "\(pid)", .callerProgram: process.name,
                .policy: "\(policy.rawValue)", .outcome: outcomeName,
                .mechanism: grant?.mechanism.rawValue, .sensor: grant?.sensor,
                .attempts: "\(attempts)",
            ]
        )
        .asked(for: requester)
    }

    var wire: [String: Variant] {
        var record: [String: Variant] = [
            "time": .uint64(Self.microseconds), "uid": .uint32(uid),
            "app-name": .string(process.identity.name),
            "process": .string(process.name ?? ""), "pid": .uint32(UInt32(clamping: pid)),
            "policy": .uint32(policy.rawValue), "outcome": .string(outcomeName),
            "attempts": .uint32(UInt32(clamping: attempts)),
        ]
        record["session"] = session.map(Variant.string)
        record["mechanism"] = (grant?.mechanism.rawValue).map(Variant.string)
        record["sensor"] = (grant?.sensor).map(Variant.string)
        return record
    }

    private var grant: Grant? {
        if case .granted(let grant) = outcome { grant } else { nil }
    }

    /// The time of day, in microseconds since 1970.
    private static var microseconds: UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return UInt64(max(0, now.tv_sec)) * 1_000_000 + UInt64(now.tv_nsec / 1000)
    }
}

extension DBusError {
    var outcome: String { name.rawValue.split(separator: ".").last.map(String.init) ?? "" }
}
