/// Who may pass: policies, attempts, lockout, contexts, prompts and their queues.
///
/// A value: it reads no clock, does no I/O and never throws or traps. An event that it doesn't
/// expect (for an evaluation that has ended, from an operation that doesn't run) changes nothing.
/// Whatever it does not grant is refused.
package struct AuthEngine: Hashable, Sendable {
    /// The administrator's numbers; the event `configured` brings others.
    package private(set) var settings: Settings
    /// What outlives the process, by uid: as strict as the last event made it, written or not.
    package internal(set) var records: [UInt32: UserRecord]
    /// The record of a user of whom nothing is known.
    let unknown: UserRecord
    /// From when on a user of whom nothing is known counts as having given the passcode.
    let since: Instant

    /// Those that have not been answered.
    var evaluations: [EvaluationID: Evaluation] = [:]
    /// In the order in which they registered.
    var agents: [Agent] = []
    var contexts: [ContextID: Context] = [:]
    /// The evaluation that has the prompt of each session.
    var prompts: [String: EvaluationID] = [:]
    /// Those that wait for it, first come first.
    var queues: [String: [EvaluationID]] = [:]
    var saves: [SaveID: PendingSave] = [:]
    /// Users whose record on the disk is behind: the last write of it failed.
    var unwritten: Set<UInt32> = []
    /// The one passcode of each user that is on its way through the verifier.
    var attempts: [UInt32: Attempt] = [:]
    /// The evaluations whose passcode waits until that one is done, first come first.
    var turns: [UInt32: [EvaluationID]] = [:]
    var lastOperation: UInt64 = 0
    var lastSave: UInt64 = 0
    var isStopping = false
    var isSuspended = false

    /// The moment of the step that is being taken.
    var now = Instant(nanoseconds: 0)
    /// What the step that is being taken has asked for so far.
    var effects: [Effect] = []

    /// An engine with what was kept from its last life.
    ///
    /// - Parameters:
    ///   - settings: the administrator's numbers.
    ///   - records: what was kept, by uid.
    ///   - unknown: the record of every other user; after a damage it requires a passcode first.
    ///   - since: when the time without a passcode begins for one who gave none yet: the login for
    ///     a session's service, the boot for the system's.
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

    /// Takes one event and says what to do about it, in order.
    ///
    /// What is due by then happens first: no match counts after its deadline.
    package mutating func step(_ event: Event, at now: Instant) -> [Effect] {
        self.now = max(self.now, now)
        // New numbers count at once, for what is due now as well.
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
        case .sensorReady, .sensorBusy, .sensorHinted, .sensorMismatched, .sensorMatched,
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

    /// The earliest moment at which something happens by itself; nil: nothing waits for time.
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

    /// Ends what is due.
    private mutating func expire() {
        endAll(.deadlinePassed) { [now] in $0.deadline <= now }
        endAll(.agentSilent) { [now] in $0.agentDeadline.map { $0 <= now } == true }
        stopOverdueBiometry()
        endDelays()
    }

    /// The evaluations that match, in the order of their numbers.
    func ids(where matches: (Evaluation) -> Bool) -> [EvaluationID] {
        evaluations.filter { matches($0.value) }.keys.sorted { $0.rawValue < $1.rawValue }
    }

    mutating func tell(_ id: EvaluationID, _ progress: Progress) {
        effects.append(.tell(id, progress))
    }
}
