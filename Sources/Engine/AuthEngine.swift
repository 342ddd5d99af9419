/// Decides evaluations: policies, attempts, lockout, contexts, prompts and their queues.
///
/// The engine is a value: it reads no clock, does no I/O and never throws or traps. An unexpected
/// event (for an evaluation that has ended, or from an operation that does not run) changes no
/// state. Everything that the engine does not grant is refused.
package struct AuthEngine: Hashable, Sendable {
    /// The administrator's settings; the event `configured` replaces them.
    package private(set) var settings: Settings
    /// Records by uid, as strict as the last event made them, written or not.
    package internal(set) var records: [UInt32: UserRecord]
    /// The record of a user without a stored record.
    let unknown: UserRecord
    /// The time from which the password's age counts for a user without a stored password time.
    let since: Instant

    var evaluations: [EvaluationID: Evaluation] = [:]
    var agents: [Agent] = []
    var contexts: [ContextID: Context] = [:]
    /// The evaluation that holds each session's prompt.
    var promptHolders: [String: EvaluationID] = [:]
    /// Evaluations that wait for a session's prompt, in order of arrival.
    var queues: [String: [EvaluationID]] = [:]
    var saves: [SaveID: PendingSave] = [:]
    /// Users whose last write failed, so that the record on the disk is outdated.
    var unwritten: Set<UInt32> = []
    /// The password of each user that the verifier is checking or will check next; at most one a
    /// user.
    var attempts: [UInt32: Attempt] = [:]
    /// Evaluations whose password waits for that check to end, in order of arrival.
    var queuedPasswords: [UInt32: [EvaluationID]] = [:]
    var lastOperation: UInt64 = 0
    var lastSave: UInt64 = 0
    var isStopping = false
    var isSuspended = false

    var now = Instant(nanoseconds: 0)
    /// The effects of the current step so far.
    var effects: [Effect] = []

    /// Creates an engine from stored records.
    ///
    /// - Parameters:
    ///   - settings: The administrator's settings.
    ///   - records: Stored records by uid.
    ///   - unknown: The record of every other user. After damage to the store it requires a
    ///     password first.
    ///   - since: Start of the time without a password, for users without a stored password time.
    ///     A session's service passes the login, the system's service the boot.
    package init(
        settings: Settings = Settings(),
        records: [UInt32: UserRecord] = [:],
        unknown: UserRecord = UserRecord(),
        since: Instant = Instant(nanoseconds: 0)
    ) {
        self.settings = settings
        self.records = records
        self.unknown = unknown
        self.since = since
    }

    /// Handles an event and returns the effects to perform, in order.
    ///
    /// Expired deadlines are handled first: no match counts after its deadline.
    package mutating func step(_ event: Event, at now: Instant) -> [Effect] {
        self.now = max(self.now, now)
        // New settings also apply to deadlines that expire in this step.
        if case .configured(let settings) = event { self.settings = settings }
        expire()
        switch event {
        case .requested(let request): requested(request)
        case .lookedUp(let id, let facts): lookedUp(id, facts)
        case .lookUpFailed(let id): lookUpFailed(id)
        case .agentRegistered(let agent): registered(agent)
        case .agentGone(let agent): gone(agent)
        case .promptBegan(let id): promptBegan(id)
        case .promptFailed(let id): promptFailed(id)
        case .revalidationFailed(let id, let failure): revalidationFailed(id, failure)
        case .canceled(let id): canceled(id)
        case .fellBack(let id): fellBack(id)
        case .confirmed(let id): confirmed(id)
        case .sensorReady, .sensorBusy, .sensorHinted, .sensorMissed, .sensorMatched,
            .sensorEnded, .templateRemoved, .sensorFailed:
            sensorEvent(event)
        case .passcodeOffered(let id): passcodeOffered(id)
        case .passwordOffered(let id): passwordOffered(id)
        case .passcodeVerified(let id, let verdict): passcodeVerified(id, verdict)
        case .passwordTried(let id, let verdict): passwordTried(id, verdict)
        case .successesLast(let lifetime, let context, let client):
            successesLast(lifetime, in: context, of: client)
        case .invalidated(let context): invalidated(context)
        case .oneShotsInvalidated(let client): oneShotsInvalidated(client)
        case .released(let context): released(context)
        case .clientGone(let client): gone(client)
        case .passcodeRequired(let uid, let cause): passcodeRequired(uid: uid, cause: cause)
        case .unlocked(let uid, let byPasscode): unlocked(uid, byPasscode: byPasscode)
        case .loggedOut(let uid): loggedOut(uid)
        case .enrolmentChanged(let uid): enrolmentChanged(uid)
        case .saved(let save): saved(save)
        case .saveFailed(let save): saveFailed(save)
        case .interrupted(let session, let interruption): interrupted(session, interruption)
        case .sessionEnded(let session): dropSuccesses(in: session)
        case .suspending: suspending()
        case .resumed: isSuspended = false
        case .timePassed, .configured: break
        case .stopping: stopping()
        }
        defer { effects = [] }
        return effects
    }

    /// The earliest moment at which `step` must run again; nil if no timer is needed.
    package var nextDeadline: Instant? {
        var moments = evaluations.values.map(\.deadline)
        for evaluation in evaluations.values {
            if let until = evaluation.agentDeadline { moments.append(until) }
            if evaluation.prompt?.waitsForDelay == true,
                let end = delayEnd(of: evaluation.request.uid)
            {
                moments.append(end)
            }
        }
        return moments.min()
    }

    private mutating func expire() {
        endAll(.deadlinePassed) { [now] in $0.deadline <= now }
        endAll(.agentSilent) { [now] in $0.agentDeadline.map { $0 <= now } == true }
        stopOverdueBiometry()
        endDelays()
    }

    func ids(where matches: (Evaluation) -> Bool) -> [EvaluationID] {
        evaluations.filter { matches($0.value) }.keys.sorted { $0.rawValue < $1.rawValue }
    }

    mutating func tell(_ id: EvaluationID, _ progress: Progress) {
        effects.append(.tell(id, progress))
    }
}
